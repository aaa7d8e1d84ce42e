#include "analysis/paths/slice_nodes.h"

#include <algorithm>
#include <set>
#include <string>

#include "base/sort_rows.h"

namespace telltale {

void SliceNodes::add(const SlicePoint& at, const SliceCause& cause, unsigned roles) {
  const size_t number = stack_.number_of(at);
  if (is_settled(number, cause, roles)) return;
  if (number >= numbers_.size()) {
    numbers_.resize(number + 1);
    settled_.resize(number + 1);
  }
  if (numbers_[number] == 0) {
    const uint32_t line = stack_.step_of(at).line;
    nodes_.push_back(
        {.at = at,
         .distance = cause.distance,
         .line = line == 0 ? cause.line : line,
         .line_function = line == 0 ? cause.function : stack_.function_of(at.activation)});
    numbers_[number] = static_cast<uint32_t>(nodes_.size());
  }
  Node& node = nodes_[numbers_[number] - 1];
  node.distance = std::min(node.distance, cause.distance);
  add_reason(node, cause);
  follow(node, roles);
  if (node.reasons == kMostReasons)
    settled_[number] = uint64_t{node.distance} << 4U | 8U | node.roles;
}

void SliceNodes::add_reason(Node& node, const SliceCause& cause) {
  if (node.reasons == kMostReasons) return;
  const auto is_same = [&](const SliceCause& known) {
    return known.why == cause.why && known.name == cause.name && known.line == cause.line &&
           known.function == cause.function;
  };
  const auto end = node.causes.begin() + node.reasons;
  if (std::find_if(node.causes.begin(), end, is_same) != end) return;
  node.causes[node.reasons] = cause;
  ++node.reasons;
}

void SliceNodes::follow(Node& node, unsigned roles) {
  const auto more = static_cast<uint8_t>(roles & ~unsigned{node.roles});
  if (more == 0) return;
  node.roles |= more;
  pending_.emplace_back(node.at, more);
}

SliceCause SliceNodes::cause_of(const SlicePoint& at, Slice::Why why, std::string_view name) {
  const Node& node = node_at(at);
  return {.why = why,
          .distance = node.distance + 1,
          .name = name,
          .line = node.line,
          .function = node.line_function};
}

std::optional<std::pair<SlicePoint, uint8_t>> SliceNodes::next() {
  if (pending_.empty()) return std::nullopt;
  const auto first = pending_.front();
  pending_.pop_front();
  return first;
}

size_t SliceNodes::unfollowed(const SlicePoint& last) const {
  std::set<SlicePoint> points = {last};
  for (const auto& [at, roles] : pending_) points.insert(at);
  return points.size();
}

Slice::Step SliceNodes::step_of(const Node& node) {
  Slice::Step step{.frame = {},
                   .function = stack_.function_of(node.at.activation),
                   .block = stack_.block_of(node.at),
                   .step = node.at.step,
                   .distance = node.distance,
                   .reasons = {}};
  if (stack_.is_frame(node.at.activation)) step.frame = node.at.activation;
  for (size_t i = 0; i < node.reasons; ++i) {
    const SliceCause& cause = node.causes[i];
    step.reasons.push_back({.why = cause.why,
                            .name = std::string(cause.name),
                            .line = cause.line,
                            .function = cause.function});
  }
  return step;
}

std::vector<Slice::Step> SliceNodes::take() {
  std::ranges::sort(nodes_, {}, &Node::at);
  std::vector<Slice::Step> steps;
  for (const Node& node : nodes_) steps.push_back(step_of(node));
  sort_rows(steps, {}, &Slice::Step::distance);
  return steps;
}

}  // namespace telltale
