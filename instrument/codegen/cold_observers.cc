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
llvm::CallingConv::ID quiet_convention(const llvm::Module& module) {
  const llvm::Triple triple(module.getTargetTriple());
  const bool known = triple.getArch() == llvm::Triple::x86_64 || triple.isAArch64();
  return known ? llvm::CallingConv::PreserveMost : llvm::CallingConv::C;
}

}  // namespace

llvm::CallInst* Counters::call_seldom(llvm::IRBuilderBase& at, llvm::Function& callee,
                                      llvm::ArrayRef<llvm::Value*> arguments) {
  llvm::CallInst* const call = at.CreateCall(&callee, arguments);
  call->setCallingConv(callee.getCallingConv());
  return call;
}

llvm::Function* Counters::make_seldom(const llvm::Twine& name, llvm::FunctionType* type) {
  llvm::Function* const function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage,
                                                          "telltale.sampler." + name, module_);
  function->setCallingConv(quiet_convention(module_));
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
llvm::Function& Counters::bump(Scheme scheme) {
  Table& table = tables_[static_cast<std::size_t>(scheme)];
  if (table.bump != nullptr) return *table.bump;
  llvm::IRBuilder<> builder(module_.getContext());
  table.bump =
      make_seldom("bump." + llvm::Twine(facts_of(scheme).name),
                  llvm::FunctionType::get(builder.getVoidTy(), {counter_, counter_}, false));
  builder.SetInsertPoint(&table.bump->getEntryBlock());
  auto* const type =
      llvm::FunctionType::get(builder.getVoidTy(), {builder.getPtrTy(), counter_, counter_}, false);
  builder.CreateCall(
      runtime("telltale_sampler_count_v1", type),
      {make_group(scheme, 0, table.rows, false), table.bump->getArg(0), table.bump->getArg(1)});
  builder.CreateRetVoid();
  return *table.bump;
}

// void (group, value, operands ...)
llvm::Function& Counters::pass_pairs() {
  if (pass_pairs_ != nullptr) return *pass_pairs_;
  llvm::IRBuilder<> builder(module_.getContext());
  llvm::Type* const pointer = builder.getPtrTy();
  pass_pairs_ =
      make_seldom("pairs", handed_type(builder.getVoidTy(), {pointer, counter_}, counter_));
  builder.SetInsertPoint(&pass_pairs_->getEntryBlock());
  llvm::Value* const operands = handed_over(builder, *pass_pairs_, 2, counter_);
  builder.CreateCall(
      runtime("telltale_sampler_all_pairs_v1",
              llvm::FunctionType::get(builder.getVoidTy(), {pointer, counter_, pointer}, false)),
      {pass_pairs_->getArg(0), pass_pairs_->getArg(1), operands});
  builder.CreateRetVoid();
  return *pass_pairs_;
}

// i32 (countdown, group, value, operands ...)
llvm::Function& Counters::pass_group() {
  if (pass_group_ != nullptr) return *pass_group_;
  llvm::IRBuilder<> builder(module_.getContext());
  llvm::Type* const pointer = builder.getPtrTy();
  llvm::Type* const word = builder.getInt32Ty();
  pass_group_ = make_seldom("group", handed_type(word, {word, pointer, counter_}, counter_));
  builder.SetInsertPoint(&pass_group_->getEntryBlock());
  llvm::Value* const operands = handed_over(builder, *pass_group_, 3, counter_);
  builder.CreateRet(builder.CreateCall(
      runtime("telltale_sampler_pairs_v1",
              llvm::FunctionType::get(word, {word, pointer, counter_, pointer}, false)),
      {pass_group_->getArg(0), pass_group_->getArg(1), pass_group_->getArg(2), operands}));
  return *pass_group_;
}

// bool (countdown)
llvm::Function& Counters::due() {
  if (due_ != nullptr) return *due_;
  llvm::IRBuilder<> builder(module_.getContext());
  llvm::Type* const pointer = builder.getPtrTy();
  due_ = make_seldom("due", llvm::FunctionType::get(builder.getInt1Ty(), {pointer}, false));
  builder.SetInsertPoint(&due_->getEntryBlock());
  const llvm::FunctionCallee ask = runtime(
      unit_.options.threads ? "telltale_sampler_region_due_r_v1" : "telltale_sampler_region_due_v1",
      llvm::FunctionType::get(builder.getInt32Ty(), {pointer}, false));
  llvm::Value* const answer = builder.CreateCall(ask, {due_->getArg(0)});
  builder.CreateRet(builder.CreateICmpNE(answer, builder.getInt32(0)));
  return *due_;
}

// i32 (turn)
llvm::Function& Counters::next_turn() {
  if (next_turn_ != nullptr) return *next_turn_;
  llvm::IRBuilder<> builder(module_.getContext());
  auto* const type = llvm::FunctionType::get(builder.getInt32Ty(), {builder.getPtrTy()}, false);
  next_turn_ = make_seldom("turn", type);
  builder.SetInsertPoint(&next_turn_->getEntryBlock());
  builder.CreateRet(
      builder.CreateCall(runtime("telltale_sampler_turn_v1", type), {next_turn_->getArg(0)}));
  return *next_turn_;
}

llvm::GlobalVariable* Counters::make_turn(const llvm::Function& function) {
  llvm::Type* const word = llvm::Type::getInt32Ty(module_.getContext());
  return turns_.emplace_back(
      variable(llvm::Constant::getNullValue(llvm::StructType::get(word, word)),
               "turn." + function.getName(), false));
}

// Side by side, so that the runtime finds them all.
llvm::GlobalVariable* Counters::join_turns() {
  auto* const type = llvm::ArrayType::get(turns_.front()->getValueType(), turns_.size());
  llvm::GlobalVariable* const joined =
      variable(llvm::ConstantAggregateZero::get(type), "turns", false);
  llvm::Type* const word = llvm::Type::getInt32Ty(module_.getContext());
  for (std::size_t i = 0; i < turns_.size(); ++i) {
    llvm::Constant* const at[] = {llvm::ConstantInt::get(word, 0), llvm::ConstantInt::get(word, i)};
    turns_[i]->replaceAllUsesWith(llvm::ConstantExpr::getInBoundsGetElementPtr(type, joined, at));
    turns_[i]->eraseFromParent();
  }
  return joined;
}

llvm::Value* Counters::ask_for_turn(llvm::IRBuilderBase& at, llvm::GlobalVariable* turn) {
  return call_seldom(at, next_turn(), {turn});
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

llvm::Value* Counters::ask_whether_due(llvm::IRBuilderBase& at, llvm::Value* countdown) {
  return call_seldom(at, due(), {countdown});
}

void Counters::observe_seldom(llvm::IRBuilderBase& at, const llvm::CallInst& call,
                              const Mark& mark) {
  switch (mark.scheme) {
    case Scheme::kScalarPairs: {
      if (mark.sites.empty() || observe_in_place(at, call, mark)) return;
      llvm::Value* const left = left_of_pairs(at, call, mark, counter_);
      hand_over(at, call, mark, counter_,
                [&](unsigned first, unsigned count, llvm::ArrayRef<llvm::Value*> operands) {
                  std::vector<llvm::Value*> arguments{group_table(call, mark, first, count), left};
                  arguments.insert(arguments.end(), operands.begin(), operands.end());
                  call_seldom(at, pass_pairs(), arguments);
                });
      return;
    }
    case Scheme::kCoverage:
    case Scheme::kBranches:
    case Scheme::kFunctionEntries:
    case Scheme::kReturns:
    case Scheme::kFloatKinds:
    case Scheme::kFunReentries:
      if (observe_in_place(at, call, mark)) return;
      for (unsigned i = 0; i < mark.sites.size(); ++i) {
        const auto row = static_cast<std::uint64_t>(unit_.sites[mark.sites[i]].row);
        llvm::Value* const slot =
            at.CreateAdd(slot_of(at, call, mark, i),
                         llvm::ConstantInt::get(counter_, row * facts_of(mark.scheme).arity));
        call_seldom(at, bump(mark.scheme), {slot, llvm::ConstantInt::get(counter_, row)});
      }
      return;
    default:
      for (unsigned i = 0; i < mark.sites.size(); ++i) observe(at, call, mark, i);
  }
}

}  // namespace telltale::instrument
