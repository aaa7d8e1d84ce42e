// Observations in code that runs seldom: through functions of their own, of which the code around
// them need know nothing but that they touch nothing of its.
#include <llvm/IR/Attributes.h>
#include <llvm/TargetParser/Triple.h>

#include <vector>

#include "codegen/counters.h"
#include "transform/cloning.h"

namespace telltale::instrument {
namespace {

// As in runtime/sampler/unit.h.
constexpr std::int32_t kUnset = -0x40000000;
constexpr std::uint32_t kStages = 6;

// Where clang knows a convention that leaves the caller its registers.
llvm::CallingConv::ID cold_calling_convention(const llvm::Module& module) {
  const llvm::Triple triple(module.getTargetTriple());
  const bool known = triple.getArch() == llvm::Triple::x86_64 || triple.isAArch64();
  return known ? llvm::CallingConv::PreserveMost : llvm::CallingConv::C;
}

}  // namespace

llvm::CallInst* Counters::call_cold(llvm::IRBuilderBase& at, llvm::Function& callee,
                                    llvm::ArrayRef<llvm::Value*> arguments) {
  llvm::CallInst* const call = at.CreateCall(&callee, arguments);
  call->setCallingConv(callee.getCallingConv());
  return call;
}

llvm::Function* Counters::make_cold_function(const llvm::Twine& name, llvm::FunctionType* type) {
  llvm::Function* const function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage,
                                                          "telltale.sampler." + name, module_);
  function->setCallingConv(cold_calling_convention(module_));
  function->addFnAttr(llvm::Attribute::NoInline);
  function->addFnAttr(llvm::Attribute::Cold);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr(llvm::Attribute::WillReturn);
  function->setMemoryEffects(llvm::MemoryEffects::inaccessibleOrArgMemOnly());
  llvm::BasicBlock::Create(module_.getContext(), "", function);
  return function;
}

// To the code around a call the counters are as if outside the program, and what a loop holds in
// registers it may keep there. This has to be said of the runtime's functions, which LLVM does not
// see: what it sees it believes more than what it is told.
llvm::FunctionCallee Counters::runtime(llvm::StringRef name, llvm::FunctionType* type) {
  llvm::FunctionCallee found = module_.getOrInsertFunction(name, type);
  if (auto* const function = llvm::dyn_cast<llvm::Function>(found.getCallee())) {
    function->addFnAttr(llvm::Attribute::NoUnwind);
    function->addFnAttr(llvm::Attribute::WillReturn);
    function->setMemoryEffects(llvm::MemoryEffects::inaccessibleOrArgMemOnly());
  }
  return found;
}

// void (counter's index in its scheme, row)
llvm::Function& Counters::count_function(Scheme scheme) {
  Table& table = tables_[static_cast<std::size_t>(scheme)];
  if (table.count_function != nullptr) return *table.count_function;
  llvm::IRBuilder<> builder(module_.getContext());
  table.count_function =
      make_cold_function("bump." + llvm::Twine(scheme_info(scheme).name),
                         llvm::FunctionType::get(builder.getVoidTy(), {counter_, counter_}, false));
  builder.SetInsertPoint(&table.count_function->getEntryBlock());
  auto* const type =
      llvm::FunctionType::get(builder.getVoidTy(), {builder.getPtrTy(), counter_, counter_}, false);
  builder.CreateCall(runtime("telltale_sampler_count_v1", type),
                     {make_group_descriptor(scheme, 0, table.rows, false),
                      table.count_function->getArg(0), table.count_function->getArg(1)});
  builder.CreateRetVoid();
  return *table.count_function;
}

// void (group, value, operands ...)
llvm::Function& Counters::pairs_function() {
  if (pairs_function_ != nullptr) return *pairs_function_;
  llvm::IRBuilder<> builder(module_.getContext());
  llvm::Type* const pointer = builder.getPtrTy();
  pairs_function_ = make_cold_function(
      "pairs", observer_type(builder.getVoidTy(), {pointer, counter_}, counter_));
  builder.SetInsertPoint(&pairs_function_->getEntryBlock());
  llvm::Value* const operands = make_operand_array(builder, *pairs_function_, 2, counter_);
  builder.CreateCall(
      runtime("telltale_sampler_all_pairs_v1",
              llvm::FunctionType::get(builder.getVoidTy(), {pointer, counter_, pointer}, false)),
      {pairs_function_->getArg(0), pairs_function_->getArg(1), operands});
  builder.CreateRetVoid();
  return *pairs_function_;
}

// i32 (countdown, group, value, operands ...)
llvm::Function& Counters::group_function() {
  if (group_function_ != nullptr) return *group_function_;
  llvm::IRBuilder<> builder(module_.getContext());
  llvm::Type* const pointer = builder.getPtrTy();
  llvm::Type* const word = builder.getInt32Ty();
  group_function_ =
      make_cold_function("group", observer_type(word, {word, pointer, counter_}, counter_));
  builder.SetInsertPoint(&group_function_->getEntryBlock());
  llvm::Value* const operands = make_operand_array(builder, *group_function_, 3, counter_);
  builder.CreateRet(builder.CreateCall(
      runtime("telltale_sampler_pairs_v1",
              llvm::FunctionType::get(word, {word, pointer, counter_, pointer}, false)),
      {group_function_->getArg(0), group_function_->getArg(1), group_function_->getArg(2),
       operands}));
  return *group_function_;
}

// bool (countdown)
llvm::Function& Counters::sample_check_function() {
  if (sample_check_function_ != nullptr) return *sample_check_function_;
  llvm::IRBuilder<> builder(module_.getContext());
  llvm::Type* const pointer = builder.getPtrTy();
  sample_check_function_ =
      make_cold_function("due", llvm::FunctionType::get(builder.getInt1Ty(), {pointer}, false));
  builder.SetInsertPoint(&sample_check_function_->getEntryBlock());
  const llvm::FunctionCallee ask = runtime(
      unit_.options.threads ? "telltale_sampler_region_due_r_v1" : "telltale_sampler_region_due_v1",
      llvm::FunctionType::get(builder.getInt32Ty(), {pointer}, false));
  llvm::Value* const answer = builder.CreateCall(ask, {sample_check_function_->getArg(0)});
  builder.CreateRet(builder.CreateICmpNE(answer, builder.getInt32(0)));
  return *sample_check_function_;
}

// i32 (turn)
llvm::Function& Counters::call_check_function() {
  if (call_check_function_ != nullptr) return *call_check_function_;
  llvm::IRBuilder<> builder(module_.getContext());
  auto* const type = llvm::FunctionType::get(builder.getInt32Ty(), {builder.getPtrTy()}, false);
  call_check_function_ = make_cold_function("turn", type);
  builder.SetInsertPoint(&call_check_function_->getEntryBlock());
  builder.CreateRet(builder.CreateCall(runtime("telltale_sampler_turn_v1", type),
                                       {call_check_function_->getArg(0)}));
  return *call_check_function_;
}

llvm::GlobalVariable* Counters::make_call_counter(const llvm::Function& function) {
  llvm::Type* const word = llvm::Type::getInt32Ty(module_.getContext());
  return call_counters_.emplace_back(
      variable(llvm::Constant::getNullValue(llvm::StructType::get(word, word)),
               "turn." + function.getName(), false));
}

// Side by side, so that the runtime finds them all.
llvm::GlobalVariable* Counters::merge_call_counters() {
  auto* const type =
      llvm::ArrayType::get(call_counters_.front()->getValueType(), call_counters_.size());
  llvm::GlobalVariable* const joined =
      variable(llvm::ConstantAggregateZero::get(type), "turns", false);
  llvm::Type* const word = llvm::Type::getInt32Ty(module_.getContext());
  for (std::size_t i = 0; i < call_counters_.size(); ++i) {
    llvm::Constant* const at[] = {llvm::ConstantInt::get(word, 0), llvm::ConstantInt::get(word, i)};
    call_counters_[i]->replaceAllUsesWith(
        llvm::ConstantExpr::getInBoundsGetElementPtr(type, joined, at));
    call_counters_[i]->eraseFromParent();
  }
  return joined;
}

llvm::Value* Counters::emit_call_check(llvm::IRBuilderBase& at, llvm::GlobalVariable* turn) {
  return call_cold(at, call_check_function(), {turn});
}

llvm::Value* Counters::region_countdown(llvm::IRBuilderBase& at, llvm::Value* offset) {
  llvm::Type* const word = at.getInt32Ty();
  const bool threads = unit_.options.threads;
  if (region_countdown_ == nullptr && threads) {
    region_countdown_ = llvm::cast<llvm::GlobalVariable>(
        module_.getOrInsertGlobal("telltale_sampler_regions_r", word));
    region_countdown_->setThreadLocalMode(llvm::GlobalVariable::InitialExecTLSModel);
  } else if (region_countdown_ == nullptr) {
    // Each unit has its own, which code finds without the help of a table.
    std::vector<llvm::Constant*> countdowns;
    for (std::uint32_t stage = 0; stage < kStages; ++stage) {
      countdowns.push_back(llvm::ConstantStruct::getAnon(
          {llvm::ConstantInt::get(word, static_cast<std::uint32_t>(kUnset)),
           llvm::ConstantInt::get(word, stage)}));
    }
    region_countdown_ =
        variable(llvm::ConstantArray::get(llvm::ArrayType::get(countdowns[0]->getType(), kStages),
                                          countdowns),
                 "countdown", false);
  }
  if (threads) return at.CreateThreadLocalAddress(region_countdown_);
  if (offset == nullptr) return region_countdown_;
  return at.CreateInBoundsGEP(at.getInt8Ty(), region_countdown_, offset);
}

llvm::Value* Counters::emit_sample_check(llvm::IRBuilderBase& at, llvm::Value* countdown) {
  return call_cold(at, sample_check_function(), {countdown});
}

void Counters::emit_cold_observation(llvm::IRBuilderBase& at, const llvm::CallInst& call,
                                     const Mark& mark) {
  switch (mark.scheme) {
    case Scheme::kScalarPairs: {
      if (mark.sites.empty() || emit_inline_observation(at, call, mark)) return;
      llvm::Value* const left = left_operand(at, call, mark, counter_);
      pass_operands(at, call, mark, counter_,
                    [&](unsigned first, unsigned count, llvm::ArrayRef<llvm::Value*> operands) {
                      std::vector<llvm::Value*> arguments{
                          group_descriptor(call, mark, first, count), left};
                      arguments.insert(arguments.end(), operands.begin(), operands.end());
                      call_cold(at, pairs_function(), arguments);
                    });
      return;
    }
    case Scheme::kCoverage:
    case Scheme::kBranches:
    case Scheme::kFunctionEntries:
    case Scheme::kReturns:
    case Scheme::kFloatKinds:
    case Scheme::kFunReentries:
      if (emit_inline_observation(at, call, mark)) return;
      for (unsigned i = 0; i < mark.sites.size(); ++i) {
        const auto row = static_cast<std::uint64_t>(unit_.sites[mark.sites[i]].row);
        llvm::Value* const slot =
            at.CreateAdd(counter_slot(at, call, mark, i),
                         llvm::ConstantInt::get(counter_, row * scheme_info(mark.scheme).arity));
        call_cold(at, count_function(mark.scheme), {slot, llvm::ConstantInt::get(counter_, row)});
      }
      return;
    default:
      for (unsigned i = 0; i < mark.sites.size(); ++i) emit_observation(at, call, mark, i);
  }
}

}  // namespace telltale::instrument
