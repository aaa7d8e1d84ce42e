#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/paths/flow_structure.h"
#include "analysis/paths/program_flow.h"

namespace telltale {

// Which blocks of a program may have run: those on ways that its flags and stacks do not exclude.
class PossibleBlocks {
 public:
  // All must outlive it. `structure` is of `flow`.
  PossibleBlocks(const ProgramFlow& flow, const FlowStructure& structure,
                 const ProgramEvidence& evidence);

  [[nodiscard]] const std::vector<bool>& of(uint32_t function) const { return reached_[function]; }
  // By block: how many of its calls, from the first on, may have returned in one of its passes.
  [[nodiscard]] const std::vector<uint32_t>& returned(uint32_t function) const {
    return returned_[function];
  }
  // The same of one activation, and what is certain of it.
  [[nodiscard]] std::vector<Ran> of_frame(const ProgramEvidence::Frame& frame) const;
  // Whether the frame's activation entered a block, in which it may be, once and no more.
  [[nodiscard]] bool passed_once(const ProgramEvidence::Frame& frame, uint32_t block) const;
  [[nodiscard]] const BlockEdges& edges(uint32_t function) const {
    return structure_.edges[function];
  }
  // Whether a frame may be in the block.
  [[nodiscard]] bool has_frame_in(uint32_t function, uint32_t block) const {
    return stopped_[function][block];
  }
  // Whether a call that was made has returned, unless a frame is in it or it became a jump.
  [[nodiscard]] bool calls_return() const { return calls_return_; }
  // Whether there are steps left for work that grows with the function. Bounds the time for any
  // input; blocks that are not examined stay "maybe".
  [[nodiscard]] bool may_look_at(uint32_t function) const;
  // Whether no code of the program calls the function, its other copies apart.
  [[nodiscard]] bool has_no_callers(uint32_t function) const {
    return structure_.copies.have_no_callers(function);
  }
  // Functions that have calls of it.
  [[nodiscard]] const std::vector<uint32_t>& callers(uint32_t function) const {
    return structure_.callers[function];
  }

 private:
  void find_stops();
  void solve_all();
  void solve();
  [[nodiscard]] bool may_have_resumed() const;
  void enter(uint32_t function);
  void visit(uint32_t function);
  bool pass_calls(uint32_t function, uint32_t block);
  [[nodiscard]] bool is_ruled_out(uint32_t function, uint32_t block) const;
  [[nodiscard]] bool is_stop(uint32_t function, uint32_t block, size_t call) const;
  [[nodiscard]] bool is_after_stop(uint32_t function, uint32_t block, size_t call) const;
  void exclude_other_ways(uint32_t function, std::vector<bool>& possible) const;
  void set_only_activation(const ProgramEvidence::Frame& frame);
  [[nodiscard]] bool may_be_single(uint32_t function) const;
  [[nodiscard]] bool is_after_choices(const ProgramEvidence::Frame& frame) const;
  [[nodiscard]] std::vector<bool> way_to(const ProgramEvidence::Frame& frame) const;
  void find_returned_start();
  void set_returned(const std::vector<ProgramEvidence::Frame>& ends);
  [[nodiscard]] bool has_own_flag(uint32_t function) const;
  [[nodiscard]] bool is_choosing(const ProgramEvidence::Frame& frame, uint32_t function) const;
  bool find_only_activation(const ProgramEvidence::Stack& stack, size_t at);
  [[nodiscard]] bool calls_once(const ProgramEvidence::Frame& caller, uint32_t callee) const;

  const ProgramFlow& flow_;
  const FlowStructure& structure_;
  const ProgramEvidence& evidence_;
  std::vector<std::vector<bool>> stopped_;  // by function and block: a frame may be in it
  std::vector<bool> has_frame_;             // by function
  // For a function of which a frame is the only activation, apart from activations that only let
  // another copy run: the blocks that any of these activations may have run.
  struct Only {
    std::vector<bool> possible;
    // The block and the number of the call that the frame is in, for the first time.
    std::optional<std::pair<uint32_t, size_t>> stop;
  };
  std::vector<std::optional<Only>> only_;  // by function
  mutable uint64_t steps_left_ = uint64_t{1} << 28;
  bool calls_return_ = false;
  // The solution.
  std::vector<std::vector<bool>> reached_;
  std::vector<std::vector<bool>> passed_;  // by function and block: control may leave it at its end
  std::vector<std::vector<uint32_t>> returned_;  // by function and block
  std::vector<bool> entered_;
  std::vector<bool> returns_;
  std::vector<uint32_t> pending_;
  std::vector<bool> is_pending_;
};

}  // namespace telltale
