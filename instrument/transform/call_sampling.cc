#include "transform/call_sampling.h"

#include <llvm/IR/InstIterator.h>

#include <cstddef>
#include <optional>

#include "analysis/ir_marks.h"
#include "codegen/cold_functions.h"
#include "labels.h"
#include "transform/cloning.h"
#include "transform/entry_dispatch.h"
#include "transform/first_observations.h"
#include "transform/region_reach.h"

namespace telltale::instrument {
namespace {

void insert_call_check(llvm::Function& function, llvm::Function& sampled,
                       const TranslationUnit& unit, Codegen& codegen) {
  const std::size_t counter = codegen.countdowns.add_call_counter();
  const auto place = [&](llvm::IRBuilderBase& at) {
    return codegen.countdowns.call_counter(at, counter);
  };
  dispatch_calls(function, sampled, unit.options.predict_checks, place,
                 [&](llvm::IRBuilderBase& at) {
                   llvm::Value* const answer = codegen.countdowns.emit_call_check(at, place(at));
                   // 0: the call is skipped. Otherwise 1 + the index of a countdown.
                   constexpr std::uint64_t kSizeOfCountdown = 8;
                   llvm::Value* const number =
                       at.CreateZExt(at.CreateSub(answer, at.getInt32(1)), at.getInt64Ty());
                   return Dispatch{at.CreateICmpNE(answer, at.getInt32(0)),
                                   {at.CreateMul(number, at.getInt64(kSizeOfCountdown))}};
                 });
}

}  // namespace

bool can_sample_calls(llvm::Function& function) {
  return function.getName() != "main" && has_callable_signature(function) &&
         can_be_cloned(function, true) && label_tables(function).has_value();
}

llvm::Function* make_call_sampler(llvm::Function& function, const TranslationUnit& unit,
                                  Codegen& codegen, AcyclicFunctions& acyclic_functions) {
  llvm::ValueToValueMapTy clones;
  llvm::Function* const sampled =
      clone_function(function, ".asking", {llvm::Type::getInt64Ty(function.getContext())}, clones);
  sampled->removeFnAttr(llvm::Attribute::AlwaysInline);
  sampled->removeFnAttr(llvm::Attribute::InlineHint);
  sampled->addFnAttr(llvm::Attribute::NoInline);
  mark_as_rare(*sampled);
  acyclic_functions.add_clone(function, *sampled);
  if (codegen.first_executions.are_observed()) {
    FirstObservations::prepare(function, unit);
    demote_values(function);
    FirstObservations(function, unit, codegen, nullptr).emit();
  }
  for (llvm::CallInst* const call : marks_in(function, unit)) erase_mark(*call);
  std::optional<RegionReach> reach;
  if (codegen.first_executions.are_observed()) reach.emplace(function, unit);
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* const call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    if (call != nullptr && acyclic_functions.can_extend_region(*call))
      acyclic_functions.retarget_fast(*call,
                                      reach.has_value() && reach->is_passed(*call->getParent()));
  }
  insert_call_check(function, *sampled, unit, codegen);
  return sampled;
}

}  // namespace telltale::instrument
