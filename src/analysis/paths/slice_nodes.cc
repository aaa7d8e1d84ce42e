#include "analysis/paths/slice_nodes.h"

#include <algorithm>

#include "base/sort_rows.h"

namespace telltale {
namespace {

constexpr size_t kMostReasons = 4;  // of a step

}  // namespace

void SliceNodes::add(const SlicePoint& at, const SliceCause& cause, unsigned roles) {
  const auto [found, is_new] = nodes_.try_emplace(at);
  Node& node = found->second;
  if (is_new) {
    const uint32_t function = stack_.function_of(at.activation);
    node.step.function = function;
    if (stack_.is_frame(at.activation)) node.step.frame = at.activation;
    node.step.block = stack_.block_of(at);
    node.step.step = at.step;
    node.step.distance = cause.distance;
    const uint32_t line = stack_.step_of(at).line;
    node.line = line == 0 ? cause.line : line;
    node.line_function = line == 0 ? cause.function : function;
  }
  node.step.distance = std::min(node.step.distance, cause.distance);
  const Slice::Reason reason{
      .why = cause.why, .name = cause.name, .line = cause.line, .function = cause.function};
  std::vector<Slice::Reason>& reasons = node.step.reasons;
  if (reasons.size() < kMostReasons && std::ranges::find(reasons, reason) == reasons.end())
    reasons.push_back(reason);
  follow(at, roles);
}

void SliceNodes::follow(const SlicePoint& at, unsigned roles) {
  Node& node = nodes_.at(at);
  const auto more = static_cast<uint8_t>(roles & ~unsigned{node.roles});
  if (more == 0) return;
  node.roles |= more;
  pending_.emplace_back(at, more);
}

SliceCause SliceNodes::cause_of(const SlicePoint& at, Slice::Why why, std::string name) const {
  const Node& node = nodes_.at(at);
  return {.why = why,
          .distance = node.step.distance + 1,
          .name = std::move(name),
          .line = node.line,
          .function = node.line_function};
}

std::optional<std::pair<SlicePoint, uint8_t>> SliceNodes::next() {
  if (pending_.empty()) return std::nullopt;
  const auto first = pending_.front();
  pending_.pop_front();
  return first;
}

std::vector<Slice::Step> SliceNodes::take() {
  std::vector<Slice::Step> steps;
  for (auto& [at, node] : nodes_) steps.push_back(std::move(node.step));
  sort_rows(steps, {}, &Slice::Step::distance);
  return steps;
}

}  // namespace telltale
