#include "codegen/pair_comparisons.h"

#include <vector>

#include "codegen/cold_functions.h"
#include "codegen/inline_counters.h"
#include "codegen/runtime_abi.h"
#include "codegen/thread_slots.h"

namespace telltale::instrument {
namespace {

using llvm::BasicBlock;

// Emits the body: a loop over four sites at a time if the numbers are i32, and one over the rest.
class ComparisonEmitter {
 public:
  ComparisonEmitter(llvm::Function& function, CounterTables& tables, OperandPassing& operands,
                    llvm::Type* number, bool is_signed)
      : function_(function),
        tables_(tables),
        number_(number),
        i64_(tables.i64()),
        is_signed_(is_signed),
        builder_(&function.getEntryBlock()),
        operands_(operands.make_array(builder_, function, 3, number)),
        value_(builder_.CreateFreeze(function.getArg(1))),
        counters_(function.getArg(0)) {
    if (!has_thread_slots(tables, Scheme::kScalarPairs)) return;
    thread_ = emit_thread_slot(builder_, tables);
    counters_ = emit_in_thread_slot(builder_, tables, Scheme::kScalarPairs, counters_, thread_);
  }

  void emit(bool is_narrow) {
    llvm::Value* done = builder_.getInt64(0);
    if (is_narrow) done = emit_vector_loop(done);
    emit_loop(done, 1, [&](llvm::Value* operand, llvm::Value* counters) {
      llvm::Value* const right = builder_.CreateLoad(number_, operand);
      for (const bool or_equal : {true, false}) {
        counters = builder_.CreateGEP(
            i64_, counters, {builder_.CreateZExt(compare(value_, right, or_equal), i64_)});
      }
      emit_inline_increment(builder_, tables_, counters, thread_);
    });
    builder_.CreateRetVoid();
  }

 private:
  [[nodiscard]] llvm::Argument* count() const { return function_.getArg(2); }

  llvm::Value* compare(llvm::Value* left, llvm::Value* right, bool or_equal) {
    using llvm::CmpInst;
    if (is_signed_)
      return builder_.CreateICmp(or_equal ? CmpInst::ICMP_SGE : CmpInst::ICMP_SGT, left, right);
    return builder_.CreateICmp(or_equal ? CmpInst::ICMP_UGE : CmpInst::ICMP_UGT, left, right);
  }

  // A loop over sites from the `first`th on, `step` at a time while at least `step` are left.
  // `body` gets the addresses of the first operand and of its counters. Returns the index of the
  // first site that is left.
  template <typename Body>
  llvm::Value* emit_loop(llvm::Value* first, unsigned step, const Body& body) {
    llvm::LLVMContext& context = function_.getContext();
    BasicBlock* const before = builder_.GetInsertBlock();
    BasicBlock* const head = BasicBlock::Create(context, "", &function_);
    BasicBlock* const next = BasicBlock::Create(context, "", &function_);
    BasicBlock* const end = BasicBlock::Create(context, "", &function_);
    builder_.CreateBr(head);
    builder_.SetInsertPoint(head);
    llvm::PHINode* const index = builder_.CreatePHI(i64_, 2);
    llvm::Value* const following = builder_.CreateAdd(index, builder_.getInt64(step));
    builder_.CreateCondBr(builder_.CreateICmpULE(following, count()), next, end);
    builder_.SetInsertPoint(next);
    body(builder_.CreateGEP(number_, operands_, {index}),
         builder_.CreateGEP(i64_, counters_,
                            {builder_.CreateMul(index, builder_.getInt64(abi::kPairCounters))}));
    builder_.CreateBr(head);
    index->addIncoming(first, before);
    index->addIncoming(following, next);
    builder_.SetInsertPoint(end);
    return index;
  }

  llvm::Value* emit_vector_loop(llvm::Value* first) {
    constexpr unsigned kLanes = 4;
    auto* const lanes = llvm::FixedVectorType::get(number_, kLanes);
    llvm::Value* const lefts = builder_.CreateVectorSplat(kLanes, value_);
    std::vector<std::uint32_t> equal;
    for (unsigned i = 0; i < kLanes; ++i) equal.push_back(i * abi::kPairCounters + 1);
    llvm::Constant* const if_equal = llvm::ConstantDataVector::get(function_.getContext(), equal);
    return emit_loop(first, kLanes, [&](llvm::Value* operand, llvm::Value* counters) {
      llvm::Value* const rights = builder_.CreateAlignedLoad(lanes, operand, llvm::Align(4));
      // True is -1.
      llvm::Value* const less = builder_.CreateSExt(compare(rights, lefts, false), lanes);
      llvm::Value* const greater = builder_.CreateSExt(compare(lefts, rights, false), lanes);
      llvm::Value* const slots = builder_.CreateSub(builder_.CreateAdd(if_equal, less), greater);
      for (unsigned i = 0; i < kLanes; ++i) {
        llvm::Value* const slot =
            builder_.CreateZExt(builder_.CreateExtractElement(slots, i), i64_);
        emit_inline_increment(builder_, tables_, builder_.CreateGEP(i64_, counters, {slot}),
                              thread_);
      }
    });
  }

  llvm::Function& function_;
  CounterTables& tables_;
  llvm::Type* number_;
  llvm::Type* i64_;
  bool is_signed_;
  llvm::IRBuilder<> builder_;
  llvm::Value* operands_;
  llvm::Value* value_;             // that is compared with them
  llvm::Value* counters_;          // of the first site; of this thread
  llvm::Value* thread_ = nullptr;  // its slot, if threads have any
};

}  // namespace

llvm::Function& PairComparisons::function(bool is_signed, bool is_narrow) {
  llvm::Function*& made = functions_[(is_signed ? 1 : 0) + (is_narrow ? 2 : 0)];
  if (made != nullptr) return *made;
  llvm::LLVMContext& context = tables_.module().getContext();
  llvm::Type* const i64 = tables_.i64();
  llvm::Type* const number = is_narrow ? llvm::Type::getInt32Ty(context) : i64;
  made = make_cold_function(
      tables_.module(), "compare",
      operands_.function_type(llvm::Type::getVoidTy(context),
                              {llvm::PointerType::getUnqual(context), number, i64}, number));
  ComparisonEmitter(*made, tables_, operands_, number, is_signed).emit(is_narrow);
  return *made;
}

}  // namespace telltale::instrument
