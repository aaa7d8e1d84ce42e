#include "codegen/countdowns.h"

#include <vector>

#include "codegen/cold_functions.h"
#include "codegen/runtime_abi.h"

namespace telltale::instrument {

// bool (countdown)
llvm::Function& Countdowns::sample_check_function() {
  if (sample_check_function_ != nullptr) return *sample_check_function_;
  llvm::Module& module = tables_.module();
  llvm::IRBuilder<> builder(module.getContext());
  sample_check_function_ = make_cold_function(
      module, "due", llvm::FunctionType::get(builder.getInt1Ty(), {builder.getPtrTy()}, false));
  builder.SetInsertPoint(&sample_check_function_->getEntryBlock());
  const llvm::FunctionCallee is_due =
      without_aliasing(tables_.options().threads ? runtime::telltale_sampler_region_due_r_v2(module)
                                                 : runtime::telltale_sampler_region_due_v1(module));
  llvm::Value* const result = builder.CreateCall(is_due, {sample_check_function_->getArg(0)});
  builder.CreateRet(builder.CreateICmpNE(result, builder.getInt32(0)));
  return *sample_check_function_;
}

// i32 (call counter)
llvm::Function& Countdowns::call_check_function() {
  if (call_check_function_ != nullptr) return *call_check_function_;
  llvm::Module& module = tables_.module();
  llvm::IRBuilder<> builder(module.getContext());
  call_check_function_ = make_cold_function(
      module, "turn", llvm::FunctionType::get(builder.getInt32Ty(), {builder.getPtrTy()}, false));
  builder.SetInsertPoint(&call_check_function_->getEntryBlock());
  const llvm::FunctionCallee turn =
      without_aliasing(tables_.options().threads ? runtime::telltale_sampler_turn_r_v1(module)
                                                 : runtime::telltale_sampler_turn_v1(module));
  builder.CreateRet(builder.CreateCall(turn, {call_check_function_->getArg(0)}));
  return *call_check_function_;
}

llvm::Value* Countdowns::region_countdown(llvm::IRBuilderBase& at, llvm::Value* offset) {
  llvm::Type* const i32 = at.getInt32Ty();
  const bool threads = tables_.options().threads;
  if (region_countdown_ == nullptr && threads) {
    region_countdown_ = runtime::telltale_sampler_regions_r(tables_.module());
  } else if (region_countdown_ == nullptr) {
    // Each unit has its own, at an address that code reaches without the global offset table.
    std::vector<llvm::Constant*> countdowns;
    for (std::uint32_t stage = 0; stage <= abi::kNeverStage; ++stage) {
      const layout::RegionCountdown countdown = {
          .left = llvm::ConstantInt::get(i32, static_cast<std::uint32_t>(abi::kUnset)),
          .stage = llvm::ConstantInt::get(i32, stage)};
      countdowns.push_back(countdown.constant(at.getContext()));
    }
    auto* const type = llvm::ArrayType::get(countdowns[0]->getType(), countdowns.size());
    region_countdown_ =
        tables_.make_variable(llvm::ConstantArray::get(type, countdowns), "countdown", false);
  }
  llvm::Value* const first = threads ? at.CreateThreadLocalAddress(region_countdown_)
                                     : static_cast<llvm::Value*>(region_countdown_);
  if (offset == nullptr) return first;
  return at.CreateInBoundsGEP(at.getInt8Ty(), first, offset);
}

llvm::Value* Countdowns::emit_sample_check(llvm::IRBuilderBase& at, llvm::Value* countdown) {
  return call_cold(at, sample_check_function(), {countdown});
}

llvm::Value* Countdowns::emit_may_leave(llvm::IRBuilderBase& at, llvm::Value* offset) {
  llvm::Value* const stage = at.CreateConstInBoundsGEP1_64(
      at.getInt8Ty(), region_countdown(at, offset), offsetof(abi::RegionCountdown, stage));
  return at.CreateICmpEQ(at.CreateLoad(at.getInt32Ty(), stage), at.getInt32(abi::kMayLeaveStage));
}

bool Countdowns::can_count_calls() const {
  const llvm::Module& module = tables_.module();
  return !tables_.options().threads || module.getPICLevel() == llvm::PICLevel::NotPIC ||
         module.getPIELevel() != llvm::PIELevel::Default;
}

llvm::GlobalVariable* Countdowns::make_call_counters(std::size_t count) {
  const layout::CallCounter counter;
  llvm::Constant* const zero = counter.constant(tables_.module().getContext());
  llvm::GlobalVariable* const counters = tables_.make_variable(
      llvm::ConstantAggregateZero::get(llvm::ArrayType::get(zero->getType(), count)), "turns",
      false);
  if (tables_.options().threads) {
    counters->setThreadLocalMode(llvm::GlobalVariable::InitialExecTLSModel);
    // LLVM takes the local model for internal variables, but an object that was compiled without
    // -fPIC may become a library, too. Units with the same name may share their counters.
    counters->setLinkage(llvm::GlobalValue::WeakODRLinkage);
    counters->setName("telltale.sampler.turns." + signature_hex(tables_.unit()) + "." +
                      llvm::Twine(count));
    counters->setDSOLocal(false);
  }
  return counters;
}

llvm::Value* Countdowns::call_counter(llvm::IRBuilderBase& at, std::size_t index) {
  if (call_counters_ == nullptr) call_counters_ = make_call_counters(0);
  llvm::Value* const first = tables_.options().threads ? at.CreateThreadLocalAddress(call_counters_)
                                                       : static_cast<llvm::Value*>(call_counters_);
  if (index == 0) return first;
  return at.CreateInBoundsGEP(at.getInt8Ty(), first,
                              {at.getInt64(index * sizeof(abi::CallCounter))});
}

llvm::Value* Countdowns::emit_call_check(llvm::IRBuilderBase& at, llvm::Value* counter) {
  return call_cold(at, call_check_function(), {counter});
}

llvm::Constant* Countdowns::unit_countdowns() const {
  return tables_.options().threads ? nullptr : region_countdown_;
}

llvm::GlobalVariable* Countdowns::define_call_counters() {
  if (call_counters_ == nullptr) return nullptr;
  llvm::GlobalVariable* const defined = make_call_counters(call_counter_count_);
  if (!tables_.options().threads) defined->takeName(call_counters_);
  call_counters_->replaceAllUsesWith(defined);
  call_counters_->eraseFromParent();
  return call_counters_ = defined;
}

}  // namespace telltale::instrument
