#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/call_sink.h"
#include "model/events.h"
#include "model/function_map.h"

namespace telltale {

// Counts open calls by function in a table of its own.
class OpenCounter {
 public:
  template <typename Frame>
  uint32_t& of_frame(const Frame& frame) {
    return open_[frame.function];
  }
  [[nodiscard]] uint32_t of_function(FunctionId function) const {
    const uint32_t* count = open_.find(function);
    return count == nullptr ? 0 : *count;
  }

 private:
  FunctionMap<uint32_t> open_;
};

// The calls of one thread that are open, outermost first, and the rules by which an exit finds its
// call (docs/analysis/calls.md):
//   1. the innermost open call is of the function: it is closed;
//   2. an outer one is: the calls inside it are closed too, as unwound;
//   3. none is: the exit is an orphan, and nothing changes.
// `Frame` is anything with members `FunctionId function` and `Ticks entered`. `Counter` knows how
// many calls of a function are open, which makes rule 3 cheap: of_frame(frame) is the count to
// change, of_function(id) the count to ask. Amortised O(1) per event.
template <typename Frame = OpenCall, typename Counter = OpenCounter>
class OpenCalls {
 public:
  explicit OpenCalls(Counter counter = {}) : counter_(std::move(counter)) {}

  void enter(Frame frame) {
    ++counter_.of_frame(frame);
    frames_.push_back(std::move(frame));
  }

  // Calls close(Frame&, CloseKind, depth) for each call that ends, innermost first; `depth` is the
  // number of calls outside it. The frame is gone after close returns. False if the exit is an
  // orphan.
  template <typename Close>
  bool leave(FunctionId function, LeaveKind how, Close close) {
    if (frames_.empty() ||
        (frames_.back().function != function && counter_.of_function(function) == 0))
      return false;
    while (frames_.back().function != function) pop(CloseKind::unwound, close);
    pop(close_kind(how), close);
    return true;
  }

  // Closes what is left, as `how`.
  template <typename Close>
  void close_all(CloseKind how, Close close) {
    while (!frames_.empty()) pop(how, close);
  }

  // REQUIRES: no call is open.
  void assign(std::vector<Frame> frames) {
    frames_ = std::move(frames);
    for (const Frame& frame : frames_) ++counter_.of_frame(frame);
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
    --counter_.of_frame(frame);
    close(frame, how, frames_.size() - 1);
    frames_.pop_back();
  }

  std::vector<Frame> frames_;
  Counter counter_;
};

}  // namespace telltale
