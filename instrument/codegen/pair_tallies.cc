#include "codegen/pair_tallies.h"

#include <vector>

#include "codegen/cold_functions.h"
#include "codegen/inline_counters.h"
#include "codegen/runtime_abi.h"

namespace telltale::instrument {
namespace {

using llvm::BasicBlock;
using llvm::CmpInst;

// An assignment's tallies are flushed after so many observations, the most that a byte holds.
constexpr unsigned kMaxTally = 255;
constexpr unsigned kLanes = OperandPassing::kLanes;

// Emits the body: a loop over sixteen sites at a time if the numbers are i32, otherwise over each
// site, then a check whether the tallies have to be flushed.
class TallyEmitter {
 public:
  TallyEmitter(llvm::Function& function, CounterTables& tables, llvm::Type* number, bool is_signed)
      : function_(function),
        table_(tables.of(Scheme::kScalarPairs)),
        number_(number),
        i64_(tables.i64()),
        i8_(llvm::Type::getInt8Ty(function.getContext())),
        less_(is_signed ? CmpInst::ICMP_SLT : CmpInst::ICMP_ULT),
        greater_(is_signed ? CmpInst::ICMP_SGT : CmpInst::ICMP_UGT),
        builder_(function.getContext()) {}

  // If `guard` is not null, this byte is 1 while the function uses the tallies. A signal handler
  // that interrupts it then calls `exact`, which counts in the counters. If the handler does not
  // return, the byte stays 1, and all later observations are counted so.
  void emit_guard(llvm::GlobalVariable* guard, llvm::Function& exact) {
    guard_ = guard;
    BasicBlock* const interrupts = make_block();
    BasicBlock* const entry = make_block();
    builder_.SetInsertPoint(&function_.getEntryBlock());
    llvm::Value* const before = call_asm_without_aliasing(
        builder_, builder_.getInt32Ty(), "movzbl ($1), $0\nmovb $$1, ($1)",
        "=&r,r,~{dirflag},~{fpsr},~{flags}", {guard_});
    builder_.CreateCondBr(builder_.CreateICmpNE(before, builder_.getInt32(0)), interrupts, entry);
    builder_.SetInsertPoint(interrupts);
    std::vector<llvm::Value*> arguments{builder_.CreateInBoundsGEP(
        i64_, table_.counters, {builder_.CreateMul(row(), builder_.getInt64(abi::kPairCounters))})};
    for (unsigned i = 1; i < function_.arg_size(); ++i) arguments.push_back(function_.getArg(i));
    call_cold(builder_, exact, arguments);
    builder_.CreateRetVoid();
    builder_.SetInsertPoint(entry);
  }

  // `make_flush` returns the flush function; it is made here, so that it follows this one.
  template <typename MakeFlush>
  void emit(OperandPassing& passing, bool is_narrow, const MakeFlush& make_flush) {
    if (guard_ == nullptr) builder_.SetInsertPoint(&function_.getEntryBlock());
    BasicBlock* const entry = builder_.GetInsertBlock();
    BasicBlock* const loop = make_block();
    BasicBlock* const end = make_block();
    llvm::Value* const operands = passing.make_array(builder_, function_, 3, number_);
    llvm::Value* const tallies = builder_.CreateGEP(i8_, table_.tallies, {row()});
    llvm::Value* const left = is_narrow ? builder_.CreateVectorSplat(kLanes, value())
                                        : static_cast<llvm::Value*>(value());
    builder_.CreateBr(loop);
    builder_.SetInsertPoint(loop);
    llvm::PHINode* const index = builder_.CreatePHI(i64_, 2);
    index->addIncoming(builder_.getInt64(0), entry);
    llvm::Value* const operand = builder_.CreateGEP(number_, operands, {index});
    llvm::Value* const tally = builder_.CreateGEP(i8_, tallies, {index});
    if (is_narrow) {
      emit_vector_tally(index, left, operand, tally);
    } else {
      emit_scalar_tally(left, operand, tally);
    }
    llvm::Value* const following =
        builder_.CreateAdd(index, builder_.getInt64(is_narrow ? kLanes : 1));
    index->addIncoming(following, loop);
    builder_.CreateCondBr(builder_.CreateICmpULT(following, count()), loop, end);
    builder_.SetInsertPoint(end);
    emit_flush_check(tallies, make_flush);
  }

 private:
  [[nodiscard]] llvm::Argument* row() const { return function_.getArg(0); }
  [[nodiscard]] llvm::Argument* value() const { return function_.getArg(1); }
  [[nodiscard]] llvm::Argument* count() const { return function_.getArg(2); }
  BasicBlock* make_block() { return BasicBlock::Create(function_.getContext(), "", &function_); }

  // The same row in the `slot`th of the four tables.
  llvm::Value* in_table(llvm::Value* tally, unsigned slot) {
    return builder_.CreateConstGEP1_64(i8_, tally, slot * table_.all_rows());
  }

  void emit_vector_tally(llvm::Value* index, llvm::Value* lefts, llvm::Value* operands,
                         llvm::Value* tallies) {
    auto* const lanes = llvm::FixedVectorType::get(number_, kLanes);
    auto* const bytes = llvm::FixedVectorType::get(i8_, kLanes);
    llvm::Value* const rights = builder_.CreateAlignedLoad(lanes, operands, llvm::Align(4));
    // Lanes beyond the last site are masked.
    std::vector<std::uint8_t> numbers;
    for (unsigned i = 0; i < kLanes; ++i) numbers.push_back(static_cast<std::uint8_t>(i));
    llvm::Value* const rest = builder_.CreateBinaryIntrinsic(
        llvm::Intrinsic::umin, builder_.CreateSub(count(), index), builder_.getInt64(kLanes));
    llvm::Value* const mask =
        builder_.CreateICmpSLT(llvm::ConstantDataVector::get(function_.getContext(), numbers),
                               builder_.CreateVectorSplat(kLanes, builder_.CreateTrunc(rest, i8_)));
    unsigned slot = 0;
    for (const CmpInst::Predicate predicate : {less_, CmpInst::ICMP_EQ, greater_}) {
      // True is -1.
      llvm::Value* const increments = builder_.CreateSExt(
          builder_.CreateAnd(builder_.CreateICmp(predicate, lefts, builder_.CreateFreeze(rights)),
                             mask),
          bytes);
      call_asm_without_aliasing(builder_, builder_.getVoidTy(),
                                "movdqu ($0), %xmm15\npsubb $1, %xmm15\nmovdqu %xmm15, ($0)",
                                "r,x,~{xmm15},~{dirflag},~{fpsr},~{flags}",
                                {in_table(tallies, slot++), increments});
    }
  }

  void emit_scalar_tally(llvm::Value* left, llvm::Value* operand, llvm::Value* tally) {
    llvm::Value* const right = builder_.CreateLoad(number_, operand);
    llvm::Value* address = in_table(tally, 0);
    for (const CmpInst::Predicate predicate :
         {greater_, CmpInst::getNonStrictPredicate(greater_)}) {
      address = builder_.CreateSelect(builder_.CreateICmp(predicate, left, right),
                                      builder_.CreateConstGEP1_64(i8_, address, table_.all_rows()),
                                      address);
    }
    call_asm_without_aliasing(builder_, builder_.getVoidTy(), "incb ($0)",
                              "r,~{dirflag},~{fpsr},~{flags}", {address});
  }

  // The fourth table counts the observations of the assignment at its first row.
  template <typename MakeFlush>
  void emit_flush_check(llvm::Value* tallies, const MakeFlush& make_flush) {
    BasicBlock* const full = make_block();
    BasicBlock* const done = make_block();
    llvm::Value* const observations = call_asm_without_aliasing(
        builder_, builder_.getInt32Ty(), "incb ($1)\nmovzbl ($1), $0",
        "=r,r,~{dirflag},~{fpsr},~{flags}", {in_table(tallies, abi::kPairCounters)});
    builder_.CreateCondBr(builder_.CreateICmpEQ(observations, builder_.getInt32(kMaxTally)), full,
                          done);
    builder_.SetInsertPoint(full);
    call_cold(builder_, make_flush(), {row(), count()});
    builder_.CreateBr(done);
    builder_.SetInsertPoint(done);
    if (guard_ != nullptr) {
      call_asm_without_aliasing(builder_, builder_.getVoidTy(), "movb $$0, ($0)",
                                "r,~{dirflag},~{fpsr},~{flags}", {guard_});
    }
    builder_.CreateRetVoid();
  }

  llvm::Function& function_;
  const CounterTable& table_;
  llvm::GlobalVariable* guard_ = nullptr;
  llvm::Type* number_;
  llvm::Type* i64_;
  llvm::Type* i8_;
  CmpInst::Predicate less_;
  CmpInst::Predicate greater_;
  llvm::IRBuilder<> builder_;
};

}  // namespace

bool PairTallies::is_enabled() {
  return can_count_inline(tables_) && !tables_.options().threads && operands_.has_vectors();
}

// void (row of the first site, number of sites)
llvm::Function& PairTallies::flush_function() {
  if (flush_function_ != nullptr) return *flush_function_;
  llvm::Module& module = tables_.module();
  llvm::IRBuilder<> builder(module.getContext());
  llvm::Type* const i64 = tables_.i64();
  flush_function_ = make_cold_function(
      module, "add_up", llvm::FunctionType::get(builder.getVoidTy(), {i64, i64}, false));
  builder.SetInsertPoint(&flush_function_->getEntryBlock());
  const CounterTable& table = tables_.of(Scheme::kScalarPairs);
  builder.CreateCall(without_aliasing(runtime::telltale_sampler_add_up_v1(module)),
                     {table.counters, table.tallies, builder.getInt64(table.all_rows()),
                      flush_function_->getArg(0), flush_function_->getArg(1)});
  builder.CreateRetVoid();
  return *flush_function_;
}

llvm::Function& PairTallies::function(bool is_signed, bool is_narrow) {
  llvm::Function*& made = functions_[(is_signed ? 1 : 0) + (is_narrow ? 2 : 0)];
  if (made != nullptr) return *made;
  llvm::LLVMContext& context = tables_.module().getContext();
  llvm::Type* const i64 = tables_.i64();
  CounterTable& table = tables_.of(Scheme::kScalarPairs);
  if (table.tallies == nullptr) {
    // Vector code may read and write back a few bytes beyond the last table.
    auto* const type = llvm::ArrayType::get(llvm::Type::getInt8Ty(context),
                                            (abi::kPairCounters + 1) * table.all_rows() + kLanes);
    table.tallies = tables_.make_variable(llvm::ConstantAggregateZero::get(type), "tallies", false);
  }
  llvm::Type* const number = is_narrow ? llvm::Type::getInt32Ty(context) : i64;
  made = make_cold_function(
      tables_.module(), "tally",
      operands_.function_type(llvm::Type::getVoidTy(context), {i64, number, i64}, number));
  TallyEmitter emitter(*made, tables_, number, is_signed);
  if (!tables_.options().sample) {
    if (guard_ == nullptr) {
      guard_ = tables_.make_variable(llvm::ConstantInt::get(llvm::Type::getInt8Ty(context), 0),
                                     "tallying", false);
    }
    emitter.emit_guard(guard_, comparisons_.function(is_signed, is_narrow));
  }
  emitter.emit(operands_, is_narrow, [this]() -> llvm::Function& { return flush_function(); });
  return *made;
}

}  // namespace telltale::instrument
