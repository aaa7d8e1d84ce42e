#pragma once

#include <cstdint>
#include <vector>

#include "analysis/paths/program_flow.h"

namespace telltale {

// Functions of which one may run in the place of another (`Call::runs_other_copy`): together they
// are one function of the source. Each of its activations is a chain of activations of copies. All
// but the last only choose: they pass a block that lets another copy run.
class FunctionCopies {
 public:
  explicit FunctionCopies(const ProgramFlow& flow);

  // The copies of the function, with itself.
  [[nodiscard]] const std::vector<uint32_t>& of(uint32_t function) const {
    return groups_[group_of_[function]].members;
  }
  // Whether nothing but these copies may call one of them.
  [[nodiscard]] bool have_no_callers(uint32_t function) const {
    return !groups_[group_of_[function]].has_callers;
  }
  // Whether an activation is such a chain. Not if one may let other copies run more than once.
  [[nodiscard]] bool are_chains(uint32_t function) const {
    return groups_[group_of_[function]].are_chains;
  }
  // By block: whether it lets another copy run, or can be reached from a block that does.
  [[nodiscard]] const std::vector<bool>& after_choice(uint32_t function) const {
    return after_[function];
  }
  // By block: whether an activation that only lets another copy run may pass it.
  [[nodiscard]] const std::vector<bool>& with_choice(uint32_t function) const {
    return with_[function];
  }

 private:
  struct Group {
    std::vector<uint32_t> members;
    bool has_callers = false;
    bool are_chains = true;
  };
  void join(uint32_t a, uint32_t b);
  void find_groups(const ProgramFlow& flow);
  void find_ways(const ProgramFlow& flow, uint32_t function);

  std::vector<uint32_t> group_of_;  // by function
  std::vector<Group> groups_;
  std::vector<std::vector<bool>> after_;
  std::vector<std::vector<bool>> with_;
};

}  // namespace telltale
