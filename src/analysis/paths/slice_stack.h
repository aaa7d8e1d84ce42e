#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
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
  // Of activations with data flow.
  [[nodiscard]] const FunctionData& data_of(uint32_t activation) const {
    return *data_[function_of(activation)];
  }
  SliceActivation& activation(uint32_t index);
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
  // A step in all activations that may have run it.
  std::vector<SlicePoint> points_of(uint32_t function, uint32_t block, uint32_t step);

  // REQUIRES: the step is a call.
  bool may_call(const SlicePoint& at, uint32_t callee) {
    return effects_.may_call(function_of(at.activation), block_of(at), *step_of(at).call, callee);
  }
  // The same, if it is not only that unknown code may call it.
  bool is_known_callee(const SlicePoint& at, uint32_t callee);

  // The variable that the result of a step is of; empty: unknown.
  std::string name_of(const SlicePoint& at);
  [[nodiscard]] static std::string name_of_value(const FunctionData& data, uint32_t value);

  // use(function, block, step, index of the step) for all that may have run.
  template <typename Use>
  void for_each_step(const Use& use) const {
    for (uint32_t f = 0; f < data_.size(); ++f) {
      if (data_[f] == nullptr) continue;
      for (uint32_t block = 0; block < data_[f]->blocks.size(); ++block) {
        if (!effects_.may_have_run(f, block)) continue;
        const auto& steps = data_[f]->blocks[block].steps;
        for (uint32_t i = 0; i < steps.size(); ++i) use(f, block, steps[i], i);
      }
    }
  }
  // The same for the calls of a function.
  template <typename Use>
  void for_each_call_of(uint32_t f, const Use& use) {
    for (const auto& [block, i] : calls_of(f)) use(f, block, data_[f]->blocks[block].steps[i], i);
  }

 private:
  // Blocks and steps; empty without data flow.
  const std::vector<std::pair<uint32_t, uint32_t>>& calls_of(uint32_t function);
  uint32_t rank_of_stop(uint32_t frame, uint32_t visit, const Step& step);

  const ProgramFlow& flow_;
  const Data& data_;
  const SliceEvidence& evidence_;
  SliceEffects effects_;
  std::vector<std::unique_ptr<SliceActivation>> activations_;             // once they are needed
  std::map<uint32_t, std::vector<SlicePoint>> stops_;                     // by frame
  std::map<uint32_t, std::vector<std::pair<uint32_t, uint32_t>>> calls_;  // by function
};

}  // namespace telltale
