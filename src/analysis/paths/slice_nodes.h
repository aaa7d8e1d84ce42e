#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/paths/slice.h"
#include "analysis/paths/slice_stack.h"

namespace telltale {

// What needs a step.
struct SliceCause {
  Slice::Why why = Slice::Why::defines;
  uint32_t distance = 0;
  std::string name = {};
  uint32_t line = 0;
  uint32_t function = 0;  // that the line is in
};
// The same of a step that may define what is needed.
inline SliceCause uncertain(SliceCause cause) {
  if (cause.why == Slice::Why::defines) cause.why = Slice::Why::may_define;
  return cause;
}

// The steps that are found, and what of them is still to be followed, the nearest first.
class SliceNodes {
 public:
  // What of a step is followed.
  enum Role : uint8_t {
    kControl = 1,  // what decides that it runs, and which function it calls
    kUses = 2,     // what it computes from; of a call: its arguments
    kResult = 4,   // of a call: what its callee returns
  };

  explicit SliceNodes(SliceStack& stack) : stack_(stack) {}

  void add(const SlicePoint& at, const SliceCause& cause, unsigned roles);
  // A step that is there, as the reason of others.
  [[nodiscard]] SliceCause cause_of(const SlicePoint& at, Slice::Why why,
                                    std::string name = {}) const;
  // Follows more of a step that is there.
  void follow(const SlicePoint& at, unsigned roles);
  // The next step, with roles that were not followed yet; nothing at the end.
  std::optional<std::pair<SlicePoint, uint8_t>> next();
  // All of them, the nearest first.
  [[nodiscard]] std::vector<Slice::Step> take();

 private:
  struct Node {
    Slice::Step step;
    uint8_t roles = 0;
    // Its own, or that of what needs it.
    uint32_t line = 0;
    uint32_t line_function = 0;
  };

  SliceStack& stack_;
  std::map<SlicePoint, Node> nodes_;
  std::deque<std::pair<SlicePoint, uint8_t>> pending_;
};

}  // namespace telltale
