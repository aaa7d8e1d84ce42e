#include "analysis/paths/slice_stack.h"

namespace telltale {

SliceStack::SliceStack(const ProgramFlow& flow, const Data& data, const SliceEvidence& evidence)
    : flow_(flow), data_(data), evidence_(evidence), effects_(flow, data, evidence.ran) {
  activations_.resize(evidence.frames.size() + flow.functions.size());
  first_visits_.resize(activations_.size());
  frames_of_.resize(flow.functions.size());
  for (uint32_t frame = 0; frame < evidence.frames.size(); ++frame)
    frames_of_[evidence.frames[frame].function].push_back(frame);
}

void SliceStack::add_activation(uint32_t index) {
  const uint32_t function = function_of(index);
  const ProgramFlow::Function& flow = flow_.functions[function];
  auto& added = activations_[index];
  added = is_frame(index) ? std::make_unique<SliceActivation>(flow, evidence_.frames[index])
                          : std::make_unique<SliceActivation>(flow, evidence_.ran[function]);
  first_visits_[index] = first_points_.size();
  for (uint32_t visit = 0; visit < added->visits(); ++visit) {
    first_points_.push_back(points_);
    if (data_[function] != nullptr)
      points_ += data_[function]->blocks[added->block(visit)].steps.size();
  }
}

const std::vector<std::pair<uint32_t, uint32_t>>& SliceStack::calls_of(uint32_t function) {
  const auto [known, is_new] = calls_.try_emplace(function);
  if (!is_new || data_[function] == nullptr) return known->second;
  for (uint32_t block = 0; block < data_[function]->blocks.size(); ++block) {
    if (!effects_.may_have_run(function, block)) continue;
    const auto& steps = data_[function]->blocks[block].steps;
    for (uint32_t i = 0; i < steps.size(); ++i)
      if (steps[i].call) known->second.emplace_back(block, i);
  }
  return known->second;
}

const std::vector<SlicePoint>& SliceStack::stops_of(uint32_t frame) {
  const auto [known, is_new] = stops_.try_emplace(frame);
  std::vector<SlicePoint>& best = known->second;
  if (!is_new) return best;
  const bool is_block_known = !evidence_.frames[frame].ways.empty();
  uint32_t best_rank = 0;  // of all blocks
  for (const uint32_t visit : activation(frame).stops()) {
    const auto& steps = steps_of(frame, visit);
    uint32_t rank = is_block_known ? 0 : best_rank;
    std::vector<SlicePoint> of_visit;
    for (uint32_t i = 0; i < steps.size(); ++i) {
      const uint32_t its = rank_of_stop(frame, visit, steps[i]);
      if (its < rank) continue;
      if (its > rank) of_visit.clear();
      rank = its;
      of_visit.push_back({frame, visit, i});
    }
    if (!is_block_known && rank > best_rank) best.clear();
    best_rank = std::max(best_rank, rank);
    best.insert(best.end(), of_visit.begin(), of_visit.end());
  }
  return best;
}

// How well a step fits what is known of the stop. Copies of memory can be calls of a library, too.
uint32_t SliceStack::rank_of_stop(uint32_t frame, uint32_t visit, const Step& step) {
  const SliceEvidence::Frame& told = evidence_.frames[frame];
  const bool has_line = told.line != 0 && step.line == told.line;
  if (!told.is_in_call) return has_line ? 1 : 0;
  const bool is_call = step.call || step.kind == FunctionData::Kind::effect;
  const bool leads = step.call && frame != 0 && told.called_directly &&
                     effects_.may_call(told.function, activation(frame).block(visit), *step.call,
                                       function_of(frame - 1));
  return (leads ? 4 : 0) + (has_line ? 2 : 0) + (is_call ? 1 : 0);
}

bool SliceStack::is_known_callee(const SlicePoint& at, uint32_t callee) {
  const auto& known = effects_.callees(function_of(at.activation), block_of(at), *step_of(at).call);
  return std::ranges::find(known, callee) != known.end();
}

std::string_view SliceStack::name_of(const SlicePoint& at) {
  const Step& step = step_of(at);
  return step.value ? name_of_value(data_of(at.activation), *step.value) : std::string_view();
}

std::string_view SliceStack::name_of_value(const FunctionData& data, uint32_t value) {
  const auto found = data.names.find(value);
  return found == data.names.end() ? std::string_view() : found->second;
}

}  // namespace telltale
