#include "codegen/cold_observers.h"

#include <llvm/Support/MathExtras.h>

#include <algorithm>
#include <vector>

#include "codegen/cold_functions.h"
#include "codegen/inline_counters.h"
#include "codegen/runtime_abi.h"

namespace telltale::instrument {
namespace {

// Do 32 bits hold the value and all that it is compared with?
bool has_narrow_pairs(const llvm::CallInst& call, const Mark& mark, bool is_signed) {
  constexpr unsigned kBits = 32;
  const llvm::Type* const type = call.getArgOperand(1)->getType();
  if (!type->isIntegerTy() || type->getIntegerBitWidth() > kBits) return false;
  return std::all_of(mark.operands.begin(), mark.operands.end(), [&](const Operand& one) {
    return !one.is_constant ||
           (is_signed ? llvm::isInt<kBits>(one.number)
                      : llvm::isUInt<kBits>(static_cast<std::uint64_t>(one.number)));
  });
}

}  // namespace

void ColdObservers::emit(llvm::IRBuilderBase& at, const llvm::CallInst& call, const Mark& mark,
                         llvm::Value* bank) {
  if (mark.scheme == Scheme::kScalarPairs) {
    if (!mark.sites.empty()) emit_pairs(at, call, mark, bank);
  } else if (only_counts(mark.scheme)) {
    emit_counts(at, call, mark, bank);
  } else {
    for (unsigned i = 0; i < mark.sites.size(); ++i) observations_.emit(at, call, mark, i);
  }
}

llvm::Value* ColdObservers::row_in_bank(llvm::IRBuilderBase& at, Scheme scheme, std::uint64_t row,
                                        llvm::Value* bank) {
  llvm::Value* const in_first = llvm::ConstantInt::get(tables_.i64(), row);
  const CounterTable& table = tables_.of(scheme);
  if (bank == nullptr || table.banks == 1) return in_first;
  return at.CreateAdd(at.CreateMul(bank, llvm::ConstantInt::get(tables_.i64(), table.rows)),
                      in_first);
}

void ColdObservers::emit_count(llvm::IRBuilderBase& at, const Mark& mark, unsigned slot,
                               llvm::Value* bank) {
  llvm::IntegerType* const i64 = tables_.i64();
  llvm::Value* const row = row_in_bank(at, mark.scheme, tables_.row_of(mark, 0), bank);
  llvm::Value* const index =
      at.CreateAdd(at.CreateMul(row, llvm::ConstantInt::get(i64, scheme_arity(mark.scheme))),
                   llvm::ConstantInt::get(i64, slot));
  emit_inline_increment(at, tables_,
                        at.CreateInBoundsGEP(i64, tables_.of(mark.scheme).counters, {index}));
}

void ColdObservers::emit_counts(llvm::IRBuilderBase& at, const llvm::CallInst& call,
                                const Mark& mark, llvm::Value* bank) {
  llvm::IntegerType* const i64 = tables_.i64();
  const bool counts_inline = can_count_inline(tables_);
  for (unsigned i = 0; i < mark.sites.size(); ++i) {
    const std::uint64_t row = tables_.row_of(mark, i);
    llvm::Value* const index =
        at.CreateAdd(observations_.emit_slot(at, call, mark, i),
                     at.CreateMul(row_in_bank(at, mark.scheme, row, bank),
                                  llvm::ConstantInt::get(i64, scheme_arity(mark.scheme))));
    if (counts_inline) {
      emit_inline_increment(at, tables_,
                            at.CreateInBoundsGEP(i64, tables_.of(mark.scheme).counters, {index}));
    } else {
      call_cold(at, count_function(mark.scheme), {index, llvm::ConstantInt::get(i64, row)});
    }
  }
}

bool ColdObservers::is_better_as_call(const llvm::CallInst& call, const Mark& mark) {
  const bool is_signed = site_of(tables_.unit(), mark, 0).kind == ValueKind::kSigned;
  const bool is_cheap = tallies_.is_enabled() && has_narrow_pairs(call, mark, is_signed);
  // Tallies compare many at once. Without them code is as fast inline, but if comparisons are many,
  // clang vectorises them, with room in the frame for all at once.
  const std::size_t most_inline = is_cheap ? 5 : 8;
  return mark.sites.size() > most_inline;
}

void ColdObservers::emit_pairs(llvm::IRBuilderBase& at, const llvm::CallInst& call,
                               const Mark& mark, llvm::Value* bank) {
  if (can_count_inline(tables_)) return emit_inline_pairs(at, call, mark, bank);
  llvm::Value* const value = operands_.emit_value(at, call, mark, tables_.i64());
  operands_.for_each_batch(
      at, call, mark, tables_.i64(),
      [&](unsigned first, unsigned count, llvm::ArrayRef<llvm::Value*> operands) {
        std::vector<llvm::Value*> arguments{tables_.pair_group(call, mark, first, count), value};
        arguments.insert(arguments.end(), operands.begin(), operands.end());
        call_cold(at, pairs_function(), arguments);
        end_observation(at);
      });
}

void ColdObservers::emit_inline_pairs(llvm::IRBuilderBase& at, const llvm::CallInst& call,
                                      const Mark& mark, llvm::Value* bank) {
  llvm::IntegerType* const i64 = tables_.i64();
  tables_.add_weak_operands(call, mark);
  const bool is_signed = site_of(tables_.unit(), mark, 0).kind == ValueKind::kSigned;
  const bool is_narrow = has_narrow_pairs(call, mark, is_signed);
  llvm::Type* const number = is_narrow ? at.getInt32Ty() : i64;
  llvm::Value* const value = operands_.emit_value(at, call, mark, number);
  const bool uses_tallies = tallies_.is_enabled();
  // Sampled code runs rarely: one function for all lengths is less code.
  const bool is_fast = !tables_.options().sample;
  const auto function_for = [&](unsigned sites) -> llvm::Function& {
    if (!uses_tallies) return comparisons_.function(is_signed, is_narrow);
    return tallies_.function({.is_signed = is_signed,
                              .is_narrow = is_narrow,
                              .is_short = is_fast && sites <= abi::kTallySites / 2});
  };
  // The leading arguments.
  const auto arguments_for = [&](unsigned first, unsigned count) -> std::vector<llvm::Value*> {
    const std::uint64_t row = tables_.row_of(mark, first);
    if (uses_tallies) return {tallies_.emit_block(at, row, count, bank), value};
    llvm::Value* const counters =
        at.CreateInBoundsGEP(i64, tables_.of(Scheme::kScalarPairs).counters,
                             {at.CreateMul(row_in_bank(at, mark.scheme, row, bank),
                                           llvm::ConstantInt::get(i64, abi::kPairCounters))});
    return {counters, value, llvm::ConstantInt::get(i64, count)};
  };
  const auto emit_values = [&](unsigned first, unsigned count,
                               llvm::ArrayRef<llvm::Value*> operands) {
    std::vector<llvm::Value*> arguments = arguments_for(first, count);
    llvm::Function& counts = function_for(count);
    const std::size_t vectors = counts.arg_size() - arguments.size();
    arguments.insert(arguments.end(), operands.begin(), operands.begin() + vectors);
    call_cold(at, counts, arguments);
    end_observation(at);
  };
  llvm::Type* const type = call.getArgOperand(1)->getType();
  llvm::Type* const stored = type->isPointerTy() ? i64 : type;
  for (const VariablesByAddress::Run& run : variables_.runs(call, mark)) {
    if (run.table == nullptr) {
      operands_.for_each_batch(at, call, mark, number, run.first, run.end, emit_values);
      continue;
    }
    const unsigned sites = run.end - run.first;
    const std::uint64_t stride =
        uses_tallies ? tallies_.block_stride()
                     : OperandPassing::kLanes * abi::kPairCounters * sizeof(std::uint64_t);
    call_cold(
        at, variables_.function(function_for(abi::kTallySites), stride, stored, number, is_signed),
        {arguments_for(run.first, sites)[0], value, llvm::ConstantInt::get(i64, sites), run.table});
    end_observation(at);
  }
}

llvm::Value* ColdObservers::emit_group_check(llvm::IRBuilderBase& at, const llvm::CallInst& call,
                                             const Mark& mark, llvm::Value* countdown) {
  llvm::Value* const value = operands_.emit_value(at, call, mark, tables_.i64());
  operands_.for_each_batch(
      at, call, mark, tables_.i64(),
      [&](unsigned first, unsigned count, llvm::ArrayRef<llvm::Value*> operands) {
        std::vector<llvm::Value*> arguments{countdown, tables_.pair_group(call, mark, first, count),
                                            value};
        arguments.insert(arguments.end(), operands.begin(), operands.end());
        countdown = call_cold(at, group_function(), arguments);
      });
  return countdown;
}

// void (counter's index in its scheme, row)
llvm::Function& ColdObservers::count_function(Scheme scheme) {
  llvm::Function*& made = count_functions_[static_cast<std::size_t>(scheme)];
  if (made != nullptr) return *made;
  llvm::Module& module = tables_.module();
  llvm::IRBuilder<> builder(module.getContext());
  llvm::IntegerType* const i64 = tables_.i64();
  made = make_cold_function(module, "bump." + llvm::Twine(scheme_name(scheme)),
                            llvm::FunctionType::get(builder.getVoidTy(), {i64, i64}, false));
  builder.SetInsertPoint(&made->getEntryBlock());
  builder.CreateCall(without_aliasing(runtime::telltale_sampler_count_v1(module)),
                     {tables_.make_group(scheme, 0, tables_.of(scheme).rows, false),
                      made->getArg(0), made->getArg(1)});
  builder.CreateRetVoid();
  return *made;
}

// void (group, value, operands ...)
llvm::Function& ColdObservers::pairs_function() {
  if (pairs_function_ != nullptr) return *pairs_function_;
  llvm::Module& module = tables_.module();
  llvm::IRBuilder<> builder(module.getContext());
  llvm::IntegerType* const i64 = tables_.i64();
  llvm::Function* const made = pairs_function_ = make_cold_function(
      module, "pairs",
      operands_.function_type(builder.getVoidTy(), {builder.getPtrTy(), i64}, i64));
  builder.SetInsertPoint(&made->getEntryBlock());
  llvm::Value* const operands = operands_.make_array(builder, *made, 2, i64);
  builder.CreateCall(without_aliasing(runtime::telltale_sampler_all_pairs_v1(module)),
                     {made->getArg(0), made->getArg(1), operands});
  builder.CreateRetVoid();
  return *made;
}

// i32 (countdown, group, value, operands ...)
llvm::Function& ColdObservers::group_function() {
  if (group_function_ != nullptr) return *group_function_;
  llvm::Module& module = tables_.module();
  llvm::IRBuilder<> builder(module.getContext());
  llvm::IntegerType* const i64 = tables_.i64();
  llvm::Type* const i32 = builder.getInt32Ty();
  llvm::Function* const made = group_function_ = make_cold_function(
      module, "group", operands_.function_type(i32, {i32, builder.getPtrTy(), i64}, i64));
  builder.SetInsertPoint(&made->getEntryBlock());
  llvm::Value* const operands = operands_.make_array(builder, *made, 3, i64);
  builder.CreateRet(
      builder.CreateCall(without_aliasing(runtime::telltale_sampler_pairs_v1(module)),
                         {made->getArg(0), made->getArg(1), made->getArg(2), operands}));
  return *made;
}

}  // namespace telltale::instrument
