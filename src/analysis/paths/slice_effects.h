#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analysis/paths/coverage.h"
#include "analysis/paths/program_flow.h"
#include "model/function_data.h"

namespace telltale {

// What a search looks for the definitions of: bytes [begin, end) of an object.
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

// A step that writes or calls, as far as it matters to most targets.
struct SliceAccess {
  enum class Kind : uint8_t {
    call,
    locals,  // of its activation; nothing else
    memory,  // what unknown pointers lead to; nothing else
    global,  // parts of the variable `variable`, which pointers lead to; nothing else
    private_global,
    several,
  };
  // What code without data flow may write during the call.
  enum class Opaque : uint8_t { nothing, shared, opaque_writes };
  uint32_t step = 0;
  Kind kind = Kind::call;
  Opaque opaque = Opaque::nothing;
  bool has_writes = false;  // of its own, beside what its callees write
  bool calls_back = false;  // it may call all that unknown code may call
  uint32_t variable = 0;
  const std::vector<uint32_t>* callees = nullptr;  // of a call: functions with data flow

  // Whether it is certain that the step itself does not write the target. REQUIRES: it is no call.
  [[nodiscard]] bool misses(const SliceTarget& target) const {
    switch (kind) {
      case Kind::locals:
        return target.kind != SliceTarget::Kind::local && target.kind != SliceTarget::Kind::memory;
      case Kind::memory:
        return target.kind != SliceTarget::Kind::memory && !target.is_shared;
      case Kind::global:
        if (target.kind == SliceTarget::Kind::memory) return false;
        [[fallthrough]];
      case Kind::private_global:
        return target.kind != SliceTarget::Kind::global || target.index != variable;
      default:
        return false;
    }
  }
};

// What calls may write, with all that they call in turn, in blocks that may have run.
class SliceEffects {
 public:
  SliceEffects(const ProgramFlow& flow, const std::vector<const FunctionData*>& data,
               const std::vector<std::vector<Ran>>& ran);

  // The steps of a block that write something or call, in order; of functions with data flow.
  [[nodiscard]] const std::vector<SliceAccess>& accesses(uint32_t function, uint32_t block) const {
    return accesses_[function][block];
  }
  // REQUIRES: the step is one of them.
  [[nodiscard]] const SliceAccess& access(uint32_t function, uint32_t block, uint32_t step) const {
    return *std::ranges::lower_bound(accesses_[function][block], step, {}, &SliceAccess::step);
  }
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
  // How the callees of a function see the target: a local of the caller is foreign to them.
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
  // What a call step may call. `is_opaque`: it may also call functions without known data flow.
  struct Reached {
    std::vector<uint32_t> callees;
    bool is_opaque = true;
  };
  [[nodiscard]] const Reached& reached(uint32_t function, uint32_t block,
                                       const FunctionData::Call& call) const;
  [[nodiscard]] uint32_t all_callable() const { return static_cast<uint32_t>(written_.size() - 1); }
  [[nodiscard]] bool may_write(const Written& written, const SliceTarget& target) const;
  void find_accesses(uint32_t function);
  void find_callees(uint32_t function);
  void add_own(uint32_t function);
  bool join(uint32_t function, uint32_t callee);

  const ProgramFlow& flow_;
  const std::vector<const FunctionData*>& data_;
  const std::vector<std::vector<Ran>>& ran_;
  std::vector<uint32_t> callable_;  // functions that unknown code may call
  std::vector<bool> is_callable_;
  // By function; the last element is for all callable functions together.
  std::vector<Written> written_;
  std::vector<std::vector<uint32_t>> callers_;
  // By function and block.
  std::vector<std::vector<std::vector<SliceAccess>>> accesses_;
  std::vector<std::vector<std::vector<Reached>>> calls_;  // and by number of the call
  bool is_limited_ = false;  // too many variables and functions: all may write everything
};

}  // namespace telltale
