#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/call_sink.h"
#include "model/events.h"
#include "model/function_map.h"

namespace telltale {

// The open calls of one thread, outermost first, and the rules that match exits to calls
// (docs/analysis/calls.md):
//   1. the innermost open call has the function: it is closed;
//   2. an outer one has it: the calls inside it are closed too, as unwound;
//   3. none has it: the exit is an orphan, and nothing changes.
// `Frame` is any type with members `FunctionId function` and `Ticks entered`. Amortised O(1) per
// event.
template <typename Frame = OpenCall>
class OpenCalls {
 public:
  void enter(Frame frame) {
    ++open_[frame.function];
    frames_.push_back(std::move(frame));
  }

  // Calls close(Frame&, CloseKind, depth) for each call that ends, innermost first; `depth` is the
  // number of calls outside it. During close the frame is not open any more; afterwards it is gone.
  // False if the exit is an orphan.
  template <typename Close>
  bool leave(FunctionId function, LeaveKind how, Close close) {
    if (frames_.empty()) return false;
    if (frames_.back().function != function && !is_open(function)) return false;
    while (frames_.back().function != function) pop(CloseKind::unwound, close);
    pop(close_kind(how), close);
    return true;
  }

  // Closes all open calls, as `how`.
  template <typename Close>
  void close_all(CloseKind how, Close close) {
    while (!frames_.empty()) pop(how, close);
  }

  // REQUIRES: no call is open.
  void assign(std::vector<Frame> frames) {
    frames_ = std::move(frames);
    for (const Frame& frame : frames_) ++open_[frame.function];
  }

  [[nodiscard]] bool is_open(FunctionId function) const {
    const uint32_t* count = open_.find(function);
    return count != nullptr && *count != 0;
  }
  [[nodiscard]] const std::vector<Frame>& frames() const { return frames_; }
  [[nodiscard]] std::vector<Frame>& frames() { return frames_; }

 private:
  static CloseKind close_kind(LeaveKind how) {
    if (how == LeaveKind::normal) return CloseKind::returned;
    return how == LeaveKind::tail ? CloseKind::tail : CloseKind::unwound;
  }
  template <typename Close>
  void pop(CloseKind how, Close& close) {
    Frame& frame = frames_.back();
    --open_[frame.function];
    close(frame, how, frames_.size() - 1);
    frames_.pop_back();
  }

  std::vector<Frame> frames_;
  FunctionMap<uint32_t> open_;
};

}  // namespace telltale
