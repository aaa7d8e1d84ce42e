#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/paths/coverage.h"
#include "analysis/paths/program_flow.h"
#include "model/function_data.h"

namespace telltale {

// What a search for definitions looks for.
struct SliceTarget {
  enum class Kind : uint8_t {
    parameter,  // of the activation: `index` is its number
    local,      // `index` is an object of the function
    global,     // `index` is a variable of the program
    memory,     // anything that pointers lead to
    foreign,    // another activation's local that pointers lead to
  };
  Kind kind = Kind::memory;
  bool is_shared = true;  // pointers lead to it
  uint32_t index = 0;
  uint64_t begin = 0;
  uint64_t end = FunctionData::kEnd;
  auto operator<=>(const SliceTarget&) const = default;
};

enum class Writes : uint8_t { no, maybe, all };

SliceTarget target_of(const FunctionData& data, const FunctionData::Part& part);
// Whether a step itself writes a target of its activation.
Writes writes_of(const FunctionData& data, const FunctionData::Step& step,
                 const SliceTarget& target);

// What calls may write, with all that they call in turn, in blocks that may have run.
class SliceEffects {
 public:
  SliceEffects(const ProgramFlow& flow, const std::vector<const FunctionData*>& data,
               const std::vector<std::vector<Ran>>& ran);

  // Functions with data flow that a call may call.
  [[nodiscard]] const std::vector<uint32_t>& callees(uint32_t function, uint32_t block,
                                                     const FunctionData::Call& call) const;
  // Functions with data flow that it may call, too, because it is not known what it calls, or that
  // its callee may call back.
  [[nodiscard]] const std::vector<uint32_t>& called_back(uint32_t function, uint32_t block,
                                                         const FunctionData::Call& call) const;
  // All of these.
  [[nodiscard]] const std::vector<uint32_t>& callable() const { return callable_; }
  [[nodiscard]] bool is_callable(uint32_t function) const { return is_callable_[function]; }
  // Whether the call may lead to activations of `callee`.
  [[nodiscard]] bool may_call(uint32_t function, uint32_t block, const FunctionData::Call& call,
                              uint32_t callee) const;
  // Functions with calls that may lead to activations of `function`, in order.
  [[nodiscard]] std::vector<uint32_t> callers(uint32_t function) const;
  // Whether the call may lead to code without data flow.
  [[nodiscard]] bool is_opaque(uint32_t function, uint32_t block,
                               const FunctionData::Call& call) const;
  // Whether that code may write the target of the calling activation.
  [[nodiscard]] bool opaque_writes(uint32_t function, uint32_t block,
                                   const FunctionData::Call& call, const SliceTarget& target) const;
  // Whether an activation of the function, or what it calls, may write a target that is no local
  // of it.
  [[nodiscard]] bool may_write(uint32_t function, const SliceTarget& target) const {
    return may_write(written_[function], target);
  }
  // The same of all functions that code without data flow may call.
  [[nodiscard]] bool may_callable_write(const SliceTarget& target) const {
    return may_write(written_.back(), target);
  }
  // What a local of the caller is to its callees.
  static SliceTarget for_callee(const SliceTarget& target);
  [[nodiscard]] bool may_have_run(uint32_t function, uint32_t block) const {
    return ran_[function][block] != Ran::no;
  }

 private:
  struct Written {
    std::vector<uint64_t> globals;  // a bit for each variable
    bool memory = false;            // through unknown pointers
    bool shared = false;            // globals that pointers lead to
  };
  [[nodiscard]] uint32_t all_callable() const { return static_cast<uint32_t>(written_.size() - 1); }
  [[nodiscard]] bool may_write(const Written& written, const SliceTarget& target) const;
  void find_callees(uint32_t function);
  void add_own(uint32_t function);
  bool join(uint32_t function, uint32_t callee);

  const ProgramFlow& flow_;
  const std::vector<const FunctionData*>& data_;
  const std::vector<std::vector<Ran>>& ran_;
  std::vector<uint32_t> callable_;  // functions that unknown code may call
  std::vector<bool> is_callable_;
  // By function; the last are all callable ones together.
  std::vector<Written> written_;
  std::vector<std::vector<uint32_t>> callers_;
  // By function: callees of each call step, in the order of blocks and calls.
  std::vector<std::map<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>>> callees_;
  bool is_limited_ = false;  // too many variables and functions: all may write everything
};

}  // namespace telltale
