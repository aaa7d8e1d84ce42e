#include "codegen/observation_emitter.h"

#include <llvm/IR/Intrinsics.h>

#include <array>

#include "codegen/cold_functions.h"
#include "codegen/inline_counters.h"
#include "codegen/runtime_abi.h"
#include "codegen/thread_slots.h"

namespace telltale::instrument {
namespace {

// Classes of floating-point numbers as llvm.is.fpclass names them, in the order of the counters.
constexpr std::array<unsigned, 9> kFloatClasses = {
    llvm::fcNegInf,  llvm::fcNegNormal,    llvm::fcNegSubnormal, llvm::fcNegZero, llvm::fcNan,
    llvm::fcPosZero, llvm::fcPosSubnormal, llvm::fcPosNormal,    llvm::fcPosInf};

}  // namespace

void ObservationEmitter::emit(llvm::IRBuilderBase& at, const llvm::CallInst& call, const Mark& mark,
                              unsigned index) {
  if (!mark.uncounted_sites.empty()) return emit_window_begin(at, call, mark);
  llvm::IntegerType* const i64 = tables_.i64();
  const Site& site = site_of(tables_.unit(), mark, index);
  const CounterTable& table = tables_.of(mark.scheme);
  const auto row = static_cast<unsigned>(site.row);
  emit_timestamps(at, table, llvm::ConstantInt::get(i64, row));
  if (mark.scheme == Scheme::kYields) return emit_yield(at, mark);
  if (mark.scheme == Scheme::kBounds) return emit_bounds_update(at, call, site);
  const unsigned arity = scheme_arity(mark.scheme);
  if (mark.scheme == Scheme::kScalarPairs && emit_unsigned_pair(at, call, mark, index)) return;
  llvm::Value* const slot = emit_slot(at, call, mark, index);
  if (tables_.options().annotate_sites) return emit_annotation(at, slot, mark, row);
  llvm::Value* const counter_index =
      at.CreateAdd(slot, llvm::ConstantInt::get(i64, std::uint64_t{row} * arity));
  llvm::Value* const counter = at.CreateInBoundsGEP(i64, table.counters, {counter_index});
  if (mark.scheme == Scheme::kScalarPairs) tables_.add_weak_operands(call, mark);
  if (has_thread_slots(tables_, mark.scheme)) {
    llvm::Value* const thread = emit_thread_slot(at, tables_);
    emit_inline_increment(at, tables_,
                          emit_in_thread_slot(at, tables_, mark.scheme, counter, thread), thread);
    return;
  }
  emit_increment(at, counter);
  // A traced access has its address.
  const bool has_address = mark.scheme == Scheme::kData && call.getType()->isVoidTy();
  emit_trace(at, counter, has_address ? call.getArgOperand(1) : nullptr);
}

llvm::Value* ObservationEmitter::emit_slot(llvm::IRBuilderBase& at, const llvm::CallInst& call,
                                           const Mark& mark, unsigned index) {
  llvm::IntegerType* const i64 = tables_.i64();
  switch (mark.scheme) {
    case Scheme::kBranches:
      return at.CreateZExt(at.CreateFreeze(call.getArgOperand(1)), i64);
    case Scheme::kReturns:
      return emit_return_slot(at, call,
                              site_of(tables_.unit(), mark, index).kind == ValueKind::kSigned);
    case Scheme::kScalarPairs:
      return emit_pair_slot(at, call, mark, index);
    case Scheme::kFloatKinds:
      return emit_float_slot(at, call);
    case Scheme::kFunReentries:
      return at.CreateZExt(at.CreateICmpNE(call.getArgOperand(1), llvm::ConstantInt::get(i64, 1)),
                           i64);
    case Scheme::kGObjectUnref: {
      const llvm::FunctionCallee kind = runtime::telltale_sampler_object_kind(tables_.module());
      return at.CreateCall(kind, {call.getArgOperand(1)});
    }
    default:
      return llvm::ConstantInt::get(i64, 0);
  }
}

// 0 if less, 1 if equal, 2 if greater.
llvm::Value* ObservationEmitter::emit_pair_slot(llvm::IRBuilderBase& at, const llvm::CallInst& call,
                                                const Mark& mark, unsigned index) {
  llvm::IntegerType* const i64 = tables_.i64();
  const bool is_signed = site_of(tables_.unit(), mark, index).kind == ValueKind::kSigned;
  llvm::Value* left = operands_.emit_settled(at, call.getArgOperand(1));
  llvm::Value* const right = operands_.emit_operand(at, call, mark, index);
  if (left->getType() != right->getType()) left = at.CreateIntCast(left, i64, is_signed);
  llvm::Value* const greater =
      is_signed ? at.CreateICmpSGT(left, right) : at.CreateICmpUGT(left, right);
  llvm::Value* const not_less =
      is_signed ? at.CreateICmpSGE(left, right) : at.CreateICmpUGE(left, right);
  return at.CreateAdd(at.CreateZExt(greater, i64), at.CreateZExt(not_less, i64));
}

// Two instructions shorter than what LLVM makes of emit_pair_slot(). Signed comparisons have no
// such form.
bool ObservationEmitter::emit_unsigned_pair(llvm::IRBuilderBase& at, const llvm::CallInst& call,
                                            const Mark& mark, unsigned index) {
  const Site& site = site_of(tables_.unit(), mark, index);
  const llvm::Type* const type = call.getArgOperand(1)->getType();
  const bool is_word = type->isPointerTy() || type->isIntegerTy(64) || type->isIntegerTy(32);
  const bool has_slots = has_thread_slots(tables_, mark.scheme);
  if (!can_count_inline(tables_) || (tables_.options().threads && !has_slots) ||
      tables_.options().annotate_sites || site.kind == ValueKind::kSigned || !is_word ||
      mark.operands[index].is_constant)
    return false;
  tables_.add_weak_operands(call, mark);
  // The counter of equal ones.
  const std::uint64_t offset =
      (static_cast<std::uint64_t>(site.row) * abi::kPairCounters + 1) * sizeof(std::uint64_t);
  if (offset > INT32_MAX) return false;
  const bool is_narrow = type->isIntegerTy(32);
  llvm::Value* const left = operands_.emit_settled(at, call.getArgOperand(1));
  llvm::Value* const right = operands_.emit_operand(at, call, mark, index);
  if (has_slots) {
    llvm::Value* const thread = emit_thread_slot(at, tables_);
    llvm::Value* const counters =
        emit_in_thread_slot(at, tables_, mark.scheme, tables_.of(mark.scheme).counters, thread);
    call_asm_without_aliasing(
        at, tables_.i64(),
        is_narrow ? "xorl ${0:k}, ${0:k}\ncmpl $2, $1\nseta ${0:b}\nsbbq $$0, $0\n"
                    "testl ${5:k}, ${5:k}\njne 1f\nlock\n1: incq ${4:c}($3,$0,8)"
                  : "xorl ${0:k}, ${0:k}\ncmpq $2, $1\nseta ${0:b}\nsbbq $$0, $0\n"
                    "testl ${5:k}, ${5:k}\njne 1f\nlock\n1: incq ${4:c}($3,$0,8)",
        "=&r,r,r,r,i,r,~{dirflag},~{fpsr},~{flags}",
        {left, right, counters, llvm::ConstantInt::get(tables_.i64(), offset), thread});
    return true;
  }
  call_asm_without_aliasing(at, tables_.i64(),
                            is_narrow ? "xorl ${0:k}, ${0:k}\ncmpl $2, $1\nseta ${0:b}\n"
                                        "sbbq $$0, $0\nincq ${4:c}($3,$0,8)"
                                      : "xorl ${0:k}, ${0:k}\ncmpq $2, $1\nseta ${0:b}\n"
                                        "sbbq $$0, $0\nincq ${4:c}($3,$0,8)",
                            "=&r,r,r,r,i,~{dirflag},~{fpsr},~{flags}",
                            {left, right, tables_.of(mark.scheme).counters,
                             llvm::ConstantInt::get(tables_.i64(), offset)});
  return true;
}

// 0 if below 0, 1 if 0, 2 if above.
llvm::Value* ObservationEmitter::emit_return_slot(llvm::IRBuilderBase& at,
                                                  const llvm::CallInst& call, bool is_signed) {
  llvm::IntegerType* const i64 = tables_.i64();
  llvm::Value* const value = operands_.emit_settled(at, call.getArgOperand(1));
  llvm::Value* const zero = llvm::Constant::getNullValue(value->getType());
  if (!is_signed) {
    return at.CreateAdd(llvm::ConstantInt::get(i64, 1),
                        at.CreateZExt(at.CreateICmpNE(value, zero), i64));
  }
  return at.CreateAdd(at.CreateZExt(at.CreateICmpSGT(value, zero), i64),
                      at.CreateZExt(at.CreateICmpSGE(value, zero), i64));
}

// The number of classes from the value's own to the end that follow the first: a sum of tests, each
// for one class fewer.
llvm::Value* ObservationEmitter::emit_float_slot(llvm::IRBuilderBase& at,
                                                 const llvm::CallInst& call) {
  llvm::IntegerType* const i64 = tables_.i64();
  llvm::Value* const value = at.CreateFreeze(call.getArgOperand(1));
  llvm::Value* sum = llvm::ConstantInt::get(i64, 0);
  unsigned classes = 0;
  for (std::size_t i = kFloatClasses.size() - 1; i > 0; --i) {
    classes |= kFloatClasses[i];
    llvm::Value* const is = at.CreateIntrinsic(llvm::Intrinsic::is_fpclass, {value->getType()},
                                               {value, at.getInt32(classes)});
    sum = at.CreateAdd(sum, at.CreateZExt(is, i64));
  }
  return sum;
}

void ObservationEmitter::emit_increment(llvm::IRBuilderBase& at, llvm::Value* address) {
  llvm::IntegerType* const i64 = tables_.i64();
  llvm::Value* const one = llvm::ConstantInt::get(i64, 1);
  if (tables_.options().threads) {
    at.CreateAtomicRMW(llvm::AtomicRMWInst::Add, address, one, llvm::MaybeAlign(8),
                       llvm::AtomicOrdering::Monotonic);
    return;
  }
  at.CreateStore(at.CreateAdd(at.CreateLoad(i64, address), one), address);
}

void ObservationEmitter::emit_trace(llvm::IRBuilderBase& at, llvm::Value* counter,
                                    llvm::Value* extra) {
  if (!tables_.options().trace_sites) return;
  if (extra == nullptr) extra = llvm::ConstantInt::get(tables_.i64(), 0);
  at.CreateCall(runtime::telltale_sampler_trace_v1(tables_.module()), {counter, extra});
}

void ObservationEmitter::emit_timestamps(llvm::IRBuilderBase& at, const CounterTable& table,
                                         llvm::Value* row) {
  if (table.first == nullptr && table.last == nullptr) return;
  llvm::IntegerType* const i64 = tables_.i64();
  llvm::Value* const now = at.CreateCall(runtime::telltale_sampler_tick(tables_.module()));
  if (table.last != nullptr) {
    llvm::StoreInst* const store =
        at.CreateStore(now, at.CreateInBoundsGEP(i64, table.last, {row}));
    if (tables_.options().threads) {
      store->setAtomic(llvm::AtomicOrdering::Monotonic);
      store->setAlignment(llvm::Align(8));
    }
  }
  if (table.first == nullptr) return;
  at.CreateAtomicCmpXchg(at.CreateInBoundsGEP(i64, table.first, {row}),
                         llvm::ConstantInt::get(i64, 0), now, llvm::MaybeAlign(8),
                         llvm::AtomicOrdering::Monotonic, llvm::AtomicOrdering::Monotonic);
}

// Stores slot + row in a volatile variable of the function.
void ObservationEmitter::emit_annotation(llvm::IRBuilderBase& at, llvm::Value* slot,
                                         const Mark& mark, unsigned row) {
  llvm::Function* const function = at.GetInsertBlock()->getParent();
  llvm::AllocaInst*& variable = annotations_[{function, mark.scheme}];
  if (variable == nullptr) {
    llvm::IRBuilder<> entry(&function->getEntryBlock(), function->getEntryBlock().begin());
    variable = entry.CreateAlloca(
        at.getInt32Ty(), nullptr,
        llvm::Twine("cbi_") + scheme_name(mark.scheme) + "_" + function->getName() + "_dummy");
  }
  at.CreateStore(at.CreateAdd(at.CreateTrunc(slot, at.getInt32Ty()), at.getInt32(row)), variable,
                 /*isVolatile=*/true);
}

void ObservationEmitter::emit_bounds_update(llvm::IRBuilderBase& at, const llvm::CallInst& call,
                                            const Site& site) {
  llvm::IntegerType* const i64 = tables_.i64();
  const CounterTable& table = tables_.of(Scheme::kBounds);
  const std::uint64_t minimum = 2 * static_cast<std::uint64_t>(site.row);
  llvm::Value* value = operands_.emit_settled(at, call.getArgOperand(1));
  const bool is_signed = site.kind == ValueKind::kSigned;
  if (value->getType()->isPointerTy()) {
    value = at.CreatePtrToInt(value, i64);
  } else {
    value = is_signed ? at.CreateSExt(value, i64) : at.CreateZExt(value, i64);
  }
  emit_trace(at, at.CreateConstInBoundsGEP1_64(i64, table.counters, minimum), value);
  for (const bool is_minimum : {true, false}) {
    llvm::Value* const bound =
        at.CreateConstInBoundsGEP1_64(i64, table.counters, minimum + (is_minimum ? 0 : 1));
    if (tables_.options().threads) {
      using llvm::AtomicRMWInst;
      const auto operation = is_minimum ? (is_signed ? AtomicRMWInst::Min : AtomicRMWInst::UMin)
                                        : (is_signed ? AtomicRMWInst::Max : AtomicRMWInst::UMax);
      at.CreateAtomicRMW(operation, bound, value, llvm::MaybeAlign(8),
                         llvm::AtomicOrdering::Monotonic);
      continue;
    }
    llvm::Value* const old = at.CreateLoad(i64, bound);
    const auto predicate = is_minimum
                               ? (is_signed ? llvm::CmpInst::ICMP_SLT : llvm::CmpInst::ICMP_ULT)
                               : (is_signed ? llvm::CmpInst::ICMP_SGT : llvm::CmpInst::ICMP_UGT);
    at.CreateStore(at.CreateSelect(at.CreateICmp(predicate, value, old), value, old), bound);
  }
}

void ObservationEmitter::emit_yield(llvm::IRBuilderBase& at, const Mark& mark) {
  at.CreateCall(runtime::telltale_sampler_yield_v1(tables_.module()),
                {tables_.counter_at(mark, 0)});
}

void ObservationEmitter::emit_window_begin(llvm::IRBuilderBase& at, const llvm::CallInst& call,
                                           const Mark& mark) {
  llvm::Module& module = tables_.module();
  at.CreateCall(mark.scheme == Scheme::kCompareSwap
                    ? runtime::telltale_sampler_swap_begin_v1(module)
                    : runtime::telltale_sampler_atoms_begin_v1(module),
                {call.getArgOperand(1), tables_.access_descriptor(mark)});
}

}  // namespace telltale::instrument
