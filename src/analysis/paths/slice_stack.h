#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "analysis/paths/slice.h"
#include "analysis/paths/slice_activation.h"
#include "analysis/paths/slice_effects.h"

namespace telltale {

// A step of a visit, or the place before it.
struct SlicePoint {
  uint32_t activation = 0;  // a frame of the stack, or the other calls of a function
  uint32_t visit = 0;
  uint32_t step = 0;
  static constexpr uint32_t kEnd = UINT32_MAX;  // after all steps

  auto operator<=>(const SlicePoint&) const = default;
};

// The activations that a slice goes through: the frames of the stack, the innermost first, and one
// for all other calls of each function. Arguments must live as long as this.
class SliceStack {
 public:
  using Step = FunctionData::Step;
  using Data = std::vector<const FunctionData*>;

  SliceStack(const ProgramFlow& flow, const Data& data, const SliceEvidence& evidence);

  [[nodiscard]] const ProgramFlow& flow() const { return flow_; }
  [[nodiscard]] const SliceEvidence& evidence() const { return evidence_; }
  [[nodiscard]] const SliceEffects& effects() const { return effects_; }
  [[nodiscard]] const Data& data() const { return data_; }

  [[nodiscard]] bool is_frame(uint32_t activation) const {
    return activation < evidence_.frames.size();
  }
  // The other calls of a function.
  [[nodiscard]] uint32_t others(uint32_t function) const {
    return static_cast<uint32_t>(evidence_.frames.size()) + function;
  }
  [[nodiscard]] uint32_t function_of(uint32_t activation) const {
    return is_frame(activation) ? evidence_.frames[activation].function
                                : activation - static_cast<uint32_t>(evidence_.frames.size());
  }
  [[nodiscard]] bool has_data(uint32_t activation) const {
    return data_[function_of(activation)] != nullptr;
  }
  // REQUIRES: has_data().
  [[nodiscard]] const FunctionData& data_of(uint32_t activation) const {
    return *data_[function_of(activation)];
  }
  SliceActivation& activation(uint32_t index) {
    if (activations_[index] == nullptr) add_activation(index);
    return *activations_[index];
  }
  // Numbers of visits and steps of all activations: small, in the order in which they are needed.
  size_t number_of_visit(uint32_t index, uint32_t visit) {
    activation(index);
    return first_visits_[index] + visit;
  }
  size_t number_of(const SlicePoint& at) {
    return first_points_[number_of_visit(at.activation, at.visit)] + at.step;
  }
  const std::vector<Step>& steps_of(uint32_t index, uint32_t visit) {
    return data_of(index).blocks[activation(index).block(visit)].steps;
  }
  const Step& step_of(const SlicePoint& at) { return steps_of(at.activation, at.visit)[at.step]; }
  uint32_t block_of(const SlicePoint& at) { return activation(at.activation).block(at.visit); }
  // Whether the visit ends with a choice.
  bool is_branch(uint32_t index, uint32_t visit) {
    const uint32_t block = activation(index).block(visit);
    return flow_.functions[function_of(index)].blocks[block].successors.size() > 1;
  }

  // The steps that a frame stopped at: calls that may have led to the frame before it, or
  // instructions at the line. If none fits, all steps of the block. If the block is not known,
  // blocks in which some step fits.
  const std::vector<SlicePoint>& stops_of(uint32_t frame);
  // use(point) for a step in all activations that may have run it.
  template <typename Use>
  void for_each_point(uint32_t function, uint32_t block, uint32_t step, const Use& use) {
    use(SlicePoint{others(function), block, step});
    for (const uint32_t frame : frames_of_[function])
      for (const uint32_t visit : activation(frame).visits_of(block))
        use(SlicePoint{frame, visit, step});
  }

  // REQUIRES: the step is a call.
  bool may_call(const SlicePoint& at, uint32_t callee) {
    return effects_.may_call(function_of(at.activation), block_of(at), *step_of(at).call, callee);
  }
  // The same, if it is not only that unknown code may call it.
  bool is_known_callee(const SlicePoint& at, uint32_t callee);

  // The variable that the result of a step is of; empty: unknown.
  std::string_view name_of(const SlicePoint& at);
  [[nodiscard]] static std::string_view name_of_value(const FunctionData& data, uint32_t value);

  // use(function, block, access) for all that may have run.
  template <typename Use>
  void for_each_access(const Use& use) const {
    for (uint32_t f = 0; f < data_.size(); ++f) {
      if (data_[f] == nullptr) continue;
      for (uint32_t block = 0; block < data_[f]->blocks.size(); ++block) {
        if (!effects_.may_have_run(f, block)) continue;
        for (const SliceAccess& access : effects_.accesses(f, block)) use(f, block, access);
      }
    }
  }
  // The same for the calls of a function.
  template <typename Use>
  void for_each_call_of(uint32_t f, const Use& use) {
    for (const auto& [block, i] : calls_of(f)) use(f, block, data_[f]->blocks[block].steps[i], i);
  }

 private:
  void add_activation(uint32_t index);
  // Blocks and steps; empty without data flow.
  const std::vector<std::pair<uint32_t, uint32_t>>& calls_of(uint32_t function);
  uint32_t rank_of_stop(uint32_t frame, uint32_t visit, const Step& step);

  const ProgramFlow& flow_;
  const Data& data_;
  const SliceEvidence& evidence_;
  SliceEffects effects_;
  std::vector<std::unique_ptr<SliceActivation>> activations_;  // once they are needed
  std::vector<size_t> first_visits_;                           // by activation
  std::vector<size_t> first_points_;                           // by number of the visit
  size_t points_ = 0;
  std::vector<std::vector<uint32_t>> frames_of_;                          // by function
  std::map<uint32_t, std::vector<SlicePoint>> stops_;                     // by frame
  std::map<uint32_t, std::vector<std::pair<uint32_t, uint32_t>>> calls_;  // by function
};

}  // namespace telltale
