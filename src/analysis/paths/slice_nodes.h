#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/paths/slice.h"
#include "analysis/paths/slice_stack.h"

namespace telltale {

// What needs a step.
struct SliceCause {
  Slice::Why why = Slice::Why::defines;
  uint32_t distance = 0;
  std::string_view name = {};  // of the data, which must outlive it
  uint32_t line = 0;
  uint32_t function = 0;  // that the line is in
  bool operator==(const SliceCause&) const = default;
};
// The same of a step that may define what is needed.
inline SliceCause uncertain(SliceCause cause) {
  if (cause.why == Slice::Why::defines) cause.why = Slice::Why::may_define;
  return cause;
}

// The steps that are found, and what of them is still to be followed, the nearest first.
class SliceNodes {
 public:
  // Which dependences of a step are followed; a set is the sum of its members.
  enum Role : uint8_t {
    kControl = 1,  // what decides that it runs, and which function it calls
    kUses = 2,     // what it computes from; of a call: its arguments
    kResult = 4,   // of a call: what its callee returns
  };

  explicit SliceNodes(SliceStack& stack) : stack_(stack) {}

  void add(const SlicePoint& at, const SliceCause& cause, unsigned roles);
  // A step that is there, as the reason of others.
  [[nodiscard]] SliceCause cause_of(const SlicePoint& at, Slice::Why why,
                                    std::string_view name = {});
  // Follows more of a step that is there.
  void follow(const SlicePoint& at, unsigned roles) { follow(node_at(at), roles); }
  // The next step, with roles that were not followed yet; nothing at the end.
  std::optional<std::pair<SlicePoint, uint8_t>> next();
  // How many steps are still to be followed, and `last`.
  [[nodiscard]] size_t unfollowed(const SlicePoint& last) const;
  // All of them, the nearest first.
  std::vector<Slice::Step> take();

 private:
  static constexpr size_t kMostReasons = 4;  // of a step

  struct Node {
    SlicePoint at;
    uint32_t distance = 0;
    // Its own, or that of what needs it.
    uint32_t line = 0;
    uint32_t line_function = 0;
    uint8_t roles = 0;
    uint8_t reasons = 0;
    std::array<SliceCause, kMostReasons> causes = {};  // as many as `reasons`
  };

  Node& node_at(const SlicePoint& at) { return nodes_[numbers_[stack_.number_of(at)] - 1]; }
  // Whether another cause adds nothing to the step.
  [[nodiscard]] bool is_settled(size_t number, const SliceCause& cause, unsigned roles) const {
    if (number >= settled_.size() || settled_[number] == 0) return false;
    return (settled_[number] & 7U & roles) == roles && settled_[number] >> 4U <= cause.distance;
  }
  void follow(Node& node, unsigned roles);
  void add_reason(Node& node, const SliceCause& cause);
  [[nodiscard]] Slice::Step step_of(const Node& node);

  SliceStack& stack_;
  std::deque<Node> nodes_;
  // By number of the step: its distance, shifted left by 4, and its roles, once it has all reasons;
  // 0 before that.
  std::vector<uint64_t> settled_;
  std::vector<uint32_t> numbers_;  // by number of the step: its place in nodes_, plus 1; 0: none
  std::deque<std::pair<SlicePoint, uint8_t>> pending_;
};

}  // namespace telltale
