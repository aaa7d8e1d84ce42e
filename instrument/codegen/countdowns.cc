#include "codegen/countdowns.h"

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
      without_aliasing(tables_.options().threads ? runtime::telltale_sampler_region_due_r_v1(module)
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
  builder.CreateRet(builder.CreateCall(without_aliasing(runtime::telltale_sampler_turn_v1(module)),
                                       {call_check_function_->getArg(0)}));
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
  if (threads) return at.CreateThreadLocalAddress(region_countdown_);
  if (offset == nullptr) return region_countdown_;
  return at.CreateInBoundsGEP(at.getInt8Ty(), region_countdown_, offset);
}

llvm::Value* Countdowns::emit_sample_check(llvm::IRBuilderBase& at, llvm::Value* countdown) {
  return call_cold(at, sample_check_function(), {countdown});
}

llvm::GlobalVariable* Countdowns::make_call_counter(const llvm::Function& function) {
  const layout::CallCounter counter;
  return call_counters_.emplace_back(tables_.make_variable(
      counter.constant(tables_.module().getContext()), "turn." + function.getName(), false));
}

llvm::Value* Countdowns::emit_call_check(llvm::IRBuilderBase& at, llvm::GlobalVariable* counter) {
  return call_cold(at, call_check_function(), {counter});
}

llvm::Constant* Countdowns::unit_countdowns() const {
  return tables_.options().threads ? nullptr : region_countdown_;
}

llvm::Constant* Countdowns::merge_call_counters() {
  if (call_counters_.empty()) return nullptr;
  auto* const type =
      llvm::ArrayType::get(call_counters_.front()->getValueType(), call_counters_.size());
  llvm::GlobalVariable* const merged =
      tables_.make_variable(llvm::ConstantAggregateZero::get(type), "turns", false);
  llvm::Type* const i32 = llvm::Type::getInt32Ty(tables_.module().getContext());
  for (std::size_t i = 0; i < call_counters_.size(); ++i) {
    llvm::Constant* const indices[] = {llvm::ConstantInt::get(i32, 0),
                                       llvm::ConstantInt::get(i32, i)};
    call_counters_[i]->replaceAllUsesWith(
        llvm::ConstantExpr::getInBoundsGetElementPtr(type, merged, indices));
    call_counters_[i]->eraseFromParent();
  }
  return merged;
}

}  // namespace telltale::instrument
