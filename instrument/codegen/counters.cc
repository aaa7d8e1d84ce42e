#include "codegen/counters.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <algorithm>
#include <vector>

namespace telltale::instrument {
namespace {

// What follows agrees with runtime/sampler/unit.h, which says what the fields are.
constexpr std::uint32_t kUnitVersion = 6;

// Classes of floating numbers in the order of the counters, as llvm.is.fpclass names them.
constexpr std::array<unsigned, 9> kFloatClasses = {
    llvm::fcNegInf,  llvm::fcNegNormal,    llvm::fcNegSubnormal, llvm::fcNegZero, llvm::fcNan,
    llvm::fcPosZero, llvm::fcPosSubnormal, llvm::fcPosNormal,    llvm::fcPosInf};

const Site& site_of(const TranslationUnit& unit, const Mark& mark, unsigned index) {
  return unit.sites[mark.sites[index]];
}

// The argument that holds the address of an operand.
unsigned argument_of(const Mark& mark, unsigned index) {
  unsigned argument = 2;
  for (unsigned i = 0; i < index; ++i) argument += mark.operands[i].is_constant ? 0 : 1;
  return argument;
}

// A variable that no code of this unit uses: it may not exist.
bool is_weak(const llvm::Value* variable) {
  const auto* const global = llvm::dyn_cast<llvm::GlobalVariable>(variable);
  return global != nullptr && global->hasExternalWeakLinkage();
}

}  // namespace

const Mark* mark_of(const llvm::Instruction& instruction, const TranslationUnit& unit) {
  const auto* const call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  if (call == nullptr || call->arg_empty()) return nullptr;
  const auto* const callee =
      llvm::dyn_cast<llvm::Function>(call->getCalledOperand()->stripPointerCasts());
  if (callee == nullptr || !callee->getName().starts_with(kMarkPrefix)) return nullptr;
  const auto* const number = llvm::dyn_cast<llvm::ConstantInt>(call->getArgOperand(0));
  if (number == nullptr || number->getZExtValue() >= unit.marks.size()) return nullptr;
  return &unit.marks[number->getZExtValue()];
}

Counters::Counters(llvm::Module& module, const TranslationUnit& unit,
                   const std::array<unsigned, kSchemes>& rows)
    : module_(module), unit_(unit), counter_(llvm::Type::getInt64Ty(module.getContext())) {
  for (std::size_t i = 0; i < kSchemes; ++i) {
    if (unit.options.schemes[i]) tables_[i] = make_table(static_cast<Scheme>(i), rows[i]);
  }
}

llvm::GlobalVariable* Counters::variable(llvm::Constant* value, const llvm::Twine& name,
                                         bool constant) {
  return new llvm::GlobalVariable(module_, value->getType(), constant,
                                  llvm::GlobalValue::InternalLinkage, value,
                                  "telltale.sampler." + name);
}

// Bounds start with the largest number as the least and the other way round. Numbers are kept in 64
// bits.
llvm::Constant* Counters::initial_bounds(unsigned rows, llvm::GlobalVariable*& kinds) {
  std::vector<std::uint64_t> bounds(std::size_t{2} * rows);
  std::vector<std::uint8_t> kind(rows);
  for (const Site& site : unit_.sites) {
    if (site.scheme != Scheme::kBounds || site.row < 0) continue;
    const auto row = static_cast<std::size_t>(site.row);
    const unsigned shift = 64 - site.bits;
    if (site.kind == ValueKind::kSigned) {
      bounds[2 * row] = static_cast<std::uint64_t>(INT64_MAX) >> shift;
      bounds[2 * row + 1] = static_cast<std::uint64_t>(INT64_MIN >> shift);
    } else {
      bounds[2 * row] = UINT64_MAX >> shift;
    }
    kind[row] = static_cast<std::uint8_t>(site.kind);
  }
  kinds = variable(llvm::ConstantDataArray::get(module_.getContext(), kind), "kinds", true);
  return llvm::ConstantDataArray::get(module_.getContext(), bounds);
}

Counters::Table Counters::make_table(Scheme scheme, unsigned rows) {
  Table table;
  table.rows = rows;
  if (rows == 0) return table;
  const SchemeInfo& facts = scheme_info(scheme);
  const auto zeros = [&](std::uint64_t count) {
    return llvm::ConstantAggregateZero::get(llvm::ArrayType::get(counter_, count));
  };
  llvm::Constant* const start = scheme == Scheme::kBounds
                                    ? initial_bounds(rows, table.kinds)
                                    : zeros(std::uint64_t{rows} * facts.arity);
  table.counters = variable(start, llvm::Twine(facts.name) + ".counters", false);
  if (unit_.options.timestamp_first)
    table.first = variable(zeros(rows), llvm::Twine(facts.name) + ".first", false);
  if (unit_.options.timestamp_last)
    table.last = variable(zeros(rows), llvm::Twine(facts.name) + ".last", false);
  return table;
}

void Counters::emit_trace(llvm::IRBuilderBase& at, llvm::Value* place, llvm::Value* extra) {
  if (!unit_.options.trace_sites) return;
  if (extra == nullptr) extra = llvm::ConstantInt::get(counter_, 0);
  at.CreateCall(module_.getOrInsertFunction("telltale_sampler_trace_v1", at.getVoidTy(),
                                            at.getPtrTy(), counter_),
                {place, extra});
}

void Counters::emit_increment(llvm::IRBuilderBase& at, llvm::Value* place) {
  llvm::Value* const one = llvm::ConstantInt::get(counter_, 1);
  if (unit_.options.threads) {
    at.CreateAtomicRMW(llvm::AtomicRMWInst::Add, place, one, llvm::MaybeAlign(8),
                       llvm::AtomicOrdering::Monotonic);
    return;
  }
  at.CreateStore(at.CreateAdd(at.CreateLoad(counter_, place), one), place);
}

// Stands in for a variable that the program does not have.
llvm::GlobalVariable* Counters::null_operand() {
  if (null_operand_ == nullptr)
    null_operand_ = variable(llvm::ConstantInt::get(counter_, 0), "nowhere", false);
  return null_operand_;
}

// What a pair's value is compared with, of the type of the value; a constant in 64 bits.
llvm::Value* Counters::operand_value(llvm::IRBuilderBase& at, const llvm::CallInst& call,
                                     const Mark& mark, unsigned index) {
  llvm::Type* const type = call.getArgOperand(1)->getType();
  const Operand& operand = mark.operands[index];
  if (operand.is_constant) {
    if (type->isPointerTy()) return llvm::Constant::getNullValue(type);
    return llvm::ConstantInt::get(counter_, static_cast<std::uint64_t>(operand.number));
  }
  // A truth value is a byte in memory. What was never set may be anything, but only one thing at a
  // time.
  llvm::Type* const stored = type->isIntegerTy(1) ? at.getInt8Ty() : type;
  llvm::Value* place = call.getArgOperand(argument_of(mark, index));
  if (is_weak(place)) place = at.CreateSelect(at.CreateIsNotNull(place), place, null_operand());
  llvm::Value* const value = at.CreateFreeze(at.CreateLoad(stored, place));
  return stored == type ? value : at.CreateICmpNE(value, at.getInt8(0));
}

// 0 if less, 1 if equal, 2 if greater.
llvm::Value* Counters::pair_slot(llvm::IRBuilderBase& at, const llvm::CallInst& call,
                                 const Mark& mark, unsigned index) {
  const bool is_signed = site_of(unit_, mark, index).kind == ValueKind::kSigned;
  llvm::Value* left = at.CreateFreeze(call.getArgOperand(1));
  llvm::Value* const right = operand_value(at, call, mark, index);
  if (left->getType() != right->getType()) left = at.CreateIntCast(left, counter_, is_signed);
  llvm::Value* const greater =
      is_signed ? at.CreateICmpSGT(left, right) : at.CreateICmpUGT(left, right);
  llvm::Value* const not_less =
      is_signed ? at.CreateICmpSGE(left, right) : at.CreateICmpUGE(left, right);
  return at.CreateAdd(at.CreateZExt(greater, counter_), at.CreateZExt(not_less, counter_));
}

// A Group of runtime/sampler/unit.h.
llvm::Constant* Counters::make_group_descriptor(Scheme scheme, unsigned row, unsigned sites,
                                                bool is_signed) {
  llvm::LLVMContext& context = module_.getContext();
  llvm::Type* const word = llvm::Type::getInt32Ty(context);
  llvm::Constant* const null = llvm::Constant::getNullValue(llvm::PointerType::getUnqual(context));
  const Table& table = tables_[static_cast<std::size_t>(scheme)];
  const std::uint32_t flags = (is_signed ? 1U : 0U) | (unit_.options.threads ? 2U : 0U);
  const auto or_null = [&](llvm::Constant* one) { return one != nullptr ? one : null; };
  return variable(
      llvm::ConstantStruct::getAnon(
          context, {table.counters, or_null(table.first), or_null(table.last),
                    llvm::ConstantInt::get(word, row), llvm::ConstantInt::get(word, sites),
                    llvm::ConstantInt::get(word, flags), llvm::ConstantInt::get(word, 0)}),
      "group", true);
}

// What the runtime is to know of sites that compare with what the program may lack.
void Counters::add_weak_operands(const llvm::CallInst& call, const Mark& mark) {
  if (!visited_marks_.insert(&mark).second) return;
  for (unsigned i = 0, argument = 2; i < mark.sites.size(); ++i) {
    if (mark.operands[i].is_constant) continue;
    llvm::Value* const place = call.getArgOperand(argument++);
    if (is_weak(place))
      weak_operands_[static_cast<unsigned>(site_of(unit_, mark, i).row)] =
          llvm::cast<llvm::Constant>(place);
  }
}

llvm::Constant* Counters::weak_operand_table() {
  llvm::LLVMContext& context = module_.getContext();
  llvm::Type* const word = llvm::Type::getInt32Ty(context);
  const auto& schemes = unit_.options.schemes;
  const auto index = std::count(
      schemes.begin(), schemes.begin() + static_cast<std::ptrdiff_t>(Scheme::kScalarPairs), true);
  std::vector<llvm::Constant*> entries;
  for (const auto& [row, operand] : weak_operands_) {
    entries.push_back(llvm::ConstantStruct::getAnon(
        context, {operand, llvm::ConstantInt::get(word, static_cast<std::uint64_t>(index)),
                  llvm::ConstantInt::get(word, row)}));
  }
  return variable(llvm::ConstantArray::get(
                      llvm::ArrayType::get(entries[0]->getType(), entries.size()), entries),
                  "borrowings", true);
}

llvm::Constant* Counters::group_descriptor(const llvm::CallInst& call, const Mark& mark,
                                           unsigned first, unsigned count) {
  llvm::Constant*& known = group_descriptors_[{&mark, first}];
  if (known != nullptr) return known;
  add_weak_operands(call, mark);
  const Site& site = site_of(unit_, mark, first);
  known = make_group_descriptor(mark.scheme, static_cast<unsigned>(site.row), count,
                                site.kind == ValueKind::kSigned);
  return known;
}

llvm::Value* Counters::left_operand(llvm::IRBuilderBase& at, const llvm::CallInst& call,
                                    const Mark& mark, llvm::Type* number) {
  const bool is_signed = site_of(unit_, mark, 0).kind == ValueKind::kSigned;
  llvm::Value* const value = at.CreateFreeze(call.getArgOperand(1));
  return value->getType()->isPointerTy() ? at.CreatePtrToInt(value, number)
                                         : at.CreateIntCast(value, number, is_signed);
}

llvm::Value* Counters::emit_group_observation(llvm::IRBuilderBase& at, const llvm::CallInst& call,
                                              const Mark& mark, llvm::Value* countdown) {
  llvm::Value* const left = left_operand(at, call, mark, counter_);
  pass_operands(at, call, mark, counter_,
                [&](unsigned first, unsigned count, llvm::ArrayRef<llvm::Value*> operands) {
                  std::vector<llvm::Value*> arguments{
                      countdown, group_descriptor(call, mark, first, count), left};
                  arguments.insert(arguments.end(), operands.begin(), operands.end());
                  countdown = call_cold(at, group_function(), arguments);
                });
  return countdown;
}

// The counter that this observation belongs to.
llvm::Value* Counters::counter_slot(llvm::IRBuilderBase& at, const llvm::CallInst& call,
                                    const Mark& mark, unsigned index) {
  llvm::Value* const none = llvm::ConstantInt::get(counter_, 0);
  switch (mark.scheme) {
    case Scheme::kBranches:
      return at.CreateZExt(at.CreateFreeze(call.getArgOperand(1)), counter_);
    case Scheme::kReturns: {
      llvm::Value* const value = at.CreateFreeze(call.getArgOperand(1));
      llvm::Value* const zero = llvm::Constant::getNullValue(value->getType());
      if (site_of(unit_, mark, index).kind != ValueKind::kSigned) {
        return at.CreateAdd(llvm::ConstantInt::get(counter_, 1),
                            at.CreateZExt(at.CreateICmpNE(value, zero), counter_));
      }
      return at.CreateAdd(at.CreateZExt(at.CreateICmpSGT(value, zero), counter_),
                          at.CreateZExt(at.CreateICmpSGE(value, zero), counter_));
    }
    case Scheme::kScalarPairs:
      return pair_slot(at, call, mark, index);
    case Scheme::kFloatKinds: {
      llvm::Value* const value = at.CreateFreeze(call.getArgOperand(1));
      llvm::Value* sum = none;
      unsigned rest = 0;
      for (std::size_t i = kFloatClasses.size() - 1; i > 0; --i) {
        rest |= kFloatClasses[i];
        llvm::Value* const is = at.CreateIntrinsic(llvm::Intrinsic::is_fpclass, {value->getType()},
                                                   {value, at.getInt32(rest)});
        sum = at.CreateAdd(sum, at.CreateZExt(is, counter_));
      }
      return sum;
    }
    case Scheme::kFunReentries:
      return at.CreateZExt(
          at.CreateICmpNE(call.getArgOperand(1), llvm::ConstantInt::get(counter_, 1)), counter_);
    case Scheme::kGObjectUnref: {
      const llvm::FunctionCallee look =
          module_.getOrInsertFunction("telltale_sampler_object_kind", counter_, at.getPtrTy());
      return at.CreateCall(look, {call.getArgOperand(1)});
    }
    default:
      return none;
  }
}

void Counters::emit_bounds_update(llvm::IRBuilderBase& at, const llvm::CallInst& call,
                                  const Site& site) {
  const Table& table = tables_[static_cast<std::size_t>(Scheme::kBounds)];
  llvm::Value* value = at.CreateFreeze(call.getArgOperand(1));
  const bool is_signed = site.kind == ValueKind::kSigned;
  if (value->getType()->isPointerTy()) {
    value = at.CreatePtrToInt(value, counter_);
  } else {
    value = is_signed ? at.CreateSExt(value, counter_) : at.CreateZExt(value, counter_);
  }
  emit_trace(at,
             at.CreateConstInBoundsGEP1_64(counter_, table.counters,
                                           2 * static_cast<std::uint64_t>(site.row)),
             value);
  for (const bool is_least : {true, false}) {
    llvm::Value* const place = at.CreateConstInBoundsGEP1_64(
        counter_, table.counters, 2 * static_cast<std::uint64_t>(site.row) + (is_least ? 0 : 1));
    if (unit_.options.threads) {
      using llvm::AtomicRMWInst;
      const auto operation = is_least ? (is_signed ? AtomicRMWInst::Min : AtomicRMWInst::UMin)
                                      : (is_signed ? AtomicRMWInst::Max : AtomicRMWInst::UMax);
      at.CreateAtomicRMW(operation, place, value, llvm::MaybeAlign(8),
                         llvm::AtomicOrdering::Monotonic);
      continue;
    }
    llvm::Value* const old = at.CreateLoad(counter_, place);
    const auto predicate = is_least
                               ? (is_signed ? llvm::CmpInst::ICMP_SLT : llvm::CmpInst::ICMP_ULT)
                               : (is_signed ? llvm::CmpInst::ICMP_SGT : llvm::CmpInst::ICMP_UGT);
    at.CreateStore(at.CreateSelect(at.CreateICmp(predicate, value, old), value, old), place);
  }
}

// Numbers all observations of the process; the first and the last of each site are kept.
void Counters::emit_timestamps(llvm::IRBuilderBase& at, const Table& table, llvm::Value* row) {
  if (table.first == nullptr && table.last == nullptr) return;
  const llvm::FunctionCallee tick = module_.getOrInsertFunction("telltale_sampler_tick", counter_);
  llvm::Value* const now = at.CreateCall(tick);
  if (table.last != nullptr) {
    llvm::StoreInst* const store =
        at.CreateStore(now, at.CreateInBoundsGEP(counter_, table.last, {row}));
    if (unit_.options.threads) {
      store->setAtomic(llvm::AtomicOrdering::Monotonic);
      store->setAlignment(llvm::Align(8));
    }
  }
  if (table.first == nullptr) return;
  at.CreateAtomicCmpXchg(at.CreateInBoundsGEP(counter_, table.first, {row}),
                         llvm::ConstantInt::get(counter_, 0), now, llvm::MaybeAlign(8),
                         llvm::AtomicOrdering::Monotonic, llvm::AtomicOrdering::Monotonic);
}

// Instead of counting: which of its counters it would be, and the site's row, are added up in a
// variable of the function.
void Counters::emit_annotation(llvm::IRBuilderBase& at, llvm::Value* slot, const Mark& mark,
                               unsigned row) {
  llvm::Function* const function = at.GetInsertBlock()->getParent();
  llvm::AllocaInst*& place = annotations_[{function, mark.scheme}];
  if (place == nullptr) {
    llvm::IRBuilder<> entry(&function->getEntryBlock(), function->getEntryBlock().begin());
    place = entry.CreateAlloca(
        at.getInt32Ty(), nullptr,
        llvm::Twine("cbi_") + scheme_info(mark.scheme).name + "_" + function->getName() + "_dummy");
  }
  at.CreateStore(at.CreateAdd(at.CreateTrunc(slot, at.getInt32Ty()), at.getInt32(row)), place,
                 /*isVolatile=*/true);
}

llvm::Constant* Counters::counter_at(const Mark& mark, unsigned slot) {
  const Table& table = tables_[static_cast<std::size_t>(mark.scheme)];
  const auto row = static_cast<std::uint64_t>(site_of(unit_, mark, 0).row);
  return llvm::ConstantExpr::getInBoundsGetElementPtr(
      counter_, table.counters,
      llvm::ConstantInt::get(counter_, row * scheme_info(mark.scheme).arity + slot));
}

llvm::Constant* Counters::access_descriptor(const Mark& mark) {
  llvm::Constant*& known = access_descriptors_[&mark];
  if (known != nullptr) return known;
  const Table& table = tables_[static_cast<std::size_t>(mark.scheme)];
  llvm::Constant* const row =
      llvm::ConstantInt::get(counter_, static_cast<std::uint64_t>(site_of(unit_, mark, 0).row));
  const auto stamps = [&](llvm::GlobalVariable* one) -> llvm::Constant* {
    if (one == nullptr)
      return llvm::Constant::getNullValue(llvm::PointerType::getUnqual(module_.getContext()));
    return llvm::ConstantExpr::getInBoundsGetElementPtr(counter_, one, row);
  };
  llvm::Constant* const window =
      llvm::ConstantInt::get(counter_, mark.scheme == Scheme::kAtomsRw ? 1 : 0);
  known = variable(
      llvm::ConstantStruct::getAnon(module_.getContext(), {counter_at(mark, 0), stamps(table.first),
                                                           stamps(table.last), window}),
      "access", true);
  return known;
}

// A pass that was counted as one without yielding is one with.
void Counters::emit_yield(llvm::IRBuilderBase& at, const Mark& mark) {
  at.CreateCall(
      module_.getOrInsertFunction("telltale_sampler_yield_v1", at.getVoidTy(), at.getPtrTy()),
      {counter_at(mark, 0)});
}

void Counters::emit_window_begin(llvm::IRBuilderBase& at, const llvm::CallInst& call,
                                 const Mark& mark) {
  const bool is_swap = mark.scheme == Scheme::kCompareSwap;
  at.CreateCall(module_.getOrInsertFunction(
                    is_swap ? "telltale_sampler_swap_begin_v1" : "telltale_sampler_atoms_begin_v1",
                    at.getVoidTy(), at.getInt32Ty(), at.getPtrTy()),
                {call.getArgOperand(1), access_descriptor(mark)});
}

void Counters::emit_observation(llvm::IRBuilderBase& at, const llvm::CallInst& call,
                                const Mark& mark, unsigned index) {
  if (!mark.uncounted_sites.empty()) return emit_window_begin(at, call, mark);
  const Site& site = site_of(unit_, mark, index);
  const Table& table = tables_[static_cast<std::size_t>(mark.scheme)];
  const auto row = static_cast<unsigned>(site.row);
  emit_timestamps(at, table, llvm::ConstantInt::get(counter_, row));
  if (mark.scheme == Scheme::kYields) return emit_yield(at, mark);
  if (mark.scheme == Scheme::kBounds) return emit_bounds_update(at, call, site);
  const unsigned arity = scheme_info(mark.scheme).arity;
  llvm::Value* const which = counter_slot(at, call, mark, index);
  if (unit_.options.annotate_sites) return emit_annotation(at, which, mark, row);
  llvm::Value* const slot =
      at.CreateAdd(which, llvm::ConstantInt::get(counter_, std::uint64_t{row} * arity));
  llvm::Value* const place = at.CreateInBoundsGEP(counter_, table.counters, {slot});
  if (mark.scheme == Scheme::kScalarPairs) add_weak_operands(call, mark);
  emit_increment(at, place);
  // A traced access comes with its address.
  const bool has_address = mark.scheme == Scheme::kData && call.getType()->isVoidTy();
  emit_trace(at, place, has_address ? call.getArgOperand(1) : nullptr);
}

llvm::Constant* Counters::scheme_table() {
  llvm::LLVMContext& context = module_.getContext();
  llvm::Type* const pointer = llvm::PointerType::getUnqual(context);
  llvm::Type* const word = llvm::Type::getInt32Ty(context);
  auto* const entry = llvm::StructType::get(
      context, {pointer, pointer, pointer, pointer, pointer, pointer, word, word});
  const auto or_null = [&](llvm::GlobalVariable* variable_or_null) -> llvm::Constant* {
    if (variable_or_null != nullptr) return variable_or_null;
    return llvm::Constant::getNullValue(pointer);
  };
  std::vector<llvm::Constant*> entries;
  for (std::size_t i = 0; i < kSchemes; ++i) {
    if (!unit_.options.schemes[i]) continue;
    const Table& table = tables_[i];
    const SchemeInfo& facts = scheme_info(static_cast<Scheme>(i));
    llvm::Constant* const name =
        variable(llvm::ConstantDataArray::getString(context, facts.name), "name", true);
    entries.push_back(llvm::ConstantStruct::get(
        entry,
        {name, or_null(table.counters), or_null(table.first), or_null(table.last),
         or_null(table.kinds), or_null(table.tallies), llvm::ConstantInt::get(word, table.rows),
         llvm::ConstantInt::get(word, facts.arity)}));
  }
  return variable(llvm::ConstantArray::get(llvm::ArrayType::get(entry, entries.size()), entries),
                  "schemes", false);
}

void Counters::emit_registration() {
  llvm::LLVMContext& context = module_.getContext();
  llvm::Type* const pointer = llvm::PointerType::getUnqual(context);
  llvm::Type* const word = llvm::Type::getInt32Ty(context);
  std::uint32_t schemes = 0;
  for (const bool on : unit_.options.schemes) schemes += on ? 1 : 0;
  llvm::Constant* const null = llvm::Constant::getNullValue(pointer);
  llvm::Constant* const signature =
      llvm::ConstantDataArray::get(context, llvm::ArrayRef<std::uint8_t>(unit_.signature));
  const Options& options = unit_.options;
  const std::uint32_t flags =
      (options.sample ? 1U : 0U) | (options.threads ? 2U : 0U) | (options.trace_sites ? 4U : 0U);
  llvm::Constant* const number[] = {
      llvm::ConstantInt::get(word, kUnitVersion), llvm::ConstantInt::get(word, schemes),
      llvm::ConstantInt::get(word, static_cast<std::uint32_t>(options.random)),
      llvm::ConstantInt::get(word, flags)};
  llvm::Constant* const description = llvm::ConstantStruct::getAnon(
      context, {number[0], number[1], number[2], number[3], scheme_table(), null, null, signature,
                options.threads || region_countdown_ == nullptr ? null : region_countdown_,
                call_counters_.empty() ? null : merge_call_counters(),
                weak_operands_.empty() ? null : weak_operand_table(),
                llvm::ConstantInt::get(word, call_counters_.size()),
                llvm::ConstantInt::get(word, weak_operands_.size())});
  llvm::GlobalVariable* const unit_variable = variable(description, "unit", false);
  const auto make = [&](const char* runtime_name, const char* name) {
    auto* const type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), false);
    llvm::Function* const function =
        llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module_);
    function->addFnAttr(llvm::Attribute::NoUnwind);
    llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", function));
    builder.CreateCall(
        module_.getOrInsertFunction(runtime_name, llvm::Type::getVoidTy(context), pointer),
        {unit_variable});
    builder.CreateRetVoid();
    return function;
  };
  // Before all other constructors, after all other destructors.
  constexpr int kFirst = 1;
  llvm::appendToGlobalCtors(
      module_, make("telltale_sampler_register_v1", "telltale.sampler.register"), kFirst);
  llvm::appendToGlobalDtors(
      module_, make("telltale_sampler_unregister_v1", "telltale.sampler.unregister"), kFirst);
}

}  // namespace telltale::instrument
