// Pairs that are observed seldom, counted in bytes (Scheme::tallies in runtime/sampler/unit.h).
#include <llvm/IR/InlineAsm.h>

#include <algorithm>
#include <vector>

#include "codegen/counters.h"

namespace telltale::instrument {
namespace {

using llvm::BasicBlock;

constexpr unsigned kFull = 255;

// Assembly that tells LLVM of no memory, as in Counters::count_unseen.
llvm::CallInst* emit_unaliased_asm(llvm::IRBuilderBase& at, llvm::Type* result, const char* code,
                                   const char* constraints,
                                   llvm::ArrayRef<llvm::Value*> arguments) {
  std::vector<llvm::Type*> types;
  for (llvm::Value* const argument : arguments) types.push_back(argument->getType());
  llvm::CallInst* const call = at.CreateCall(
      llvm::InlineAsm::get(llvm::FunctionType::get(result, types, false), code, constraints, true),
      arguments);
  call->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly());
  call->setDoesNotThrow();
  return call;
}

void add_one(llvm::IRBuilderBase& at, llvm::Value* place) {
  emit_unaliased_asm(at, at.getVoidTy(), "incb ($0)", "r,~{dirflag},~{fpsr},~{flags}", {place});
}

}  // namespace

// Bytes lose what a handler of a signal counts meanwhile, and other threads: where all is to be
// counted, or by many threads, they are not used.
bool Counters::uses_pair_tallies() {
  return can_count_inline() && unit_.options.sample && !unit_.options.threads && has_vectors();
}

// void (row of the first site, how many)
llvm::Function& Counters::flush_function() {
  if (flush_function_ != nullptr) return *flush_function_;
  llvm::IRBuilder<> builder(module_.getContext());
  flush_function_ = make_cold_function(
      "add_up", llvm::FunctionType::get(builder.getVoidTy(), {counter_, counter_}, false));
  builder.SetInsertPoint(&flush_function_->getEntryBlock());
  llvm::Type* const pointer = builder.getPtrTy();
  const Table& table = tables_[static_cast<std::size_t>(Scheme::kScalarPairs)];
  builder.CreateCall(
      runtime("telltale_sampler_add_up_v1",
              llvm::FunctionType::get(builder.getVoidTy(),
                                      {pointer, pointer, counter_, counter_, counter_}, false)),
      {table.counters, table.tallies, builder.getInt64(table.rows), flush_function_->getArg(0),
       flush_function_->getArg(1)});
  builder.CreateRetVoid();
  return *flush_function_;
}

// void (row of the first comparison, value, how many, operands ...); value and operands as of
// compare_all
llvm::Function& Counters::tally_function(bool is_signed, bool is_narrow) {
  llvm::Function*& made = tally_functions_[(is_signed ? 1 : 0) + (is_narrow ? 2 : 0)];
  if (made != nullptr) return *made;
  llvm::IRBuilder<> builder(module_.getContext());
  Table& table = tables_[static_cast<std::size_t>(Scheme::kScalarPairs)];
  const std::uint64_t rows = table.rows;
  llvm::Type* const byte = builder.getInt8Ty();
  if (table.tallies == nullptr) {
    auto* const type = llvm::ArrayType::get(byte, (kPairCounters + 1) * rows + kTallyLanes);
    table.tallies = variable(llvm::ConstantAggregateZero::get(type), "tallies", false);
  }
  llvm::Type* const number = is_narrow ? builder.getInt32Ty() : counter_;
  made = make_cold_function(
      "tally", observer_type(builder.getVoidTy(), {counter_, number, counter_}, number));
  llvm::Argument* const row = made->getArg(0);
  llvm::Argument* const left = made->getArg(1);
  llvm::Argument* const count = made->getArg(2);
  const auto block = [&] { return BasicBlock::Create(module_.getContext(), "", made); };
  // The table that is `slot` tables behind the first.
  const auto behind = [&](llvm::Value* place, unsigned slot) {
    return builder.CreateConstGEP1_64(byte, place, slot * rows);
  };
  using llvm::CmpInst;
  const CmpInst::Predicate less = is_signed ? CmpInst::ICMP_SLT : CmpInst::ICMP_ULT;
  const CmpInst::Predicate greater = is_signed ? CmpInst::ICMP_SGT : CmpInst::ICMP_UGT;

  const unsigned step = is_narrow ? kTallyLanes : 1;
  BasicBlock* const entry = &made->getEntryBlock();
  BasicBlock* const loop = block();
  BasicBlock* const end = block();
  builder.SetInsertPoint(entry);
  llvm::Value* const operands = make_operand_array(builder, *made, 3, number);
  llvm::Value* const tallies = builder.CreateGEP(byte, table.tallies, {row});
  llvm::Value* const lefts =
      is_narrow ? builder.CreateVectorSplat(kTallyLanes, left) : static_cast<llvm::Value*>(left);
  builder.CreateBr(loop);
  builder.SetInsertPoint(loop);
  llvm::PHINode* const index = builder.CreatePHI(counter_, 2);
  index->addIncoming(builder.getInt64(0), entry);
  llvm::Value* const from = builder.CreateGEP(number, operands, {index});
  llvm::Value* const to = builder.CreateGEP(byte, tallies, {index});
  if (is_narrow) {
    auto* const lanes = llvm::FixedVectorType::get(number, kTallyLanes);
    auto* const bytes = llvm::FixedVectorType::get(byte, kTallyLanes);
    llvm::Value* const rights = builder.CreateAlignedLoad(lanes, from, llvm::Align(4));
    // What stands behind the last is not counted.
    std::vector<std::uint8_t> numbers;
    for (unsigned i = 0; i < kTallyLanes; ++i) numbers.push_back(static_cast<std::uint8_t>(i));
    llvm::Value* const rest = builder.CreateBinaryIntrinsic(
        llvm::Intrinsic::umin, builder.CreateSub(count, index), builder.getInt64(kTallyLanes));
    llvm::Value* const counts = builder.CreateICmpSLT(
        llvm::ConstantDataVector::get(module_.getContext(), numbers),
        builder.CreateVectorSplat(kTallyLanes, builder.CreateTrunc(rest, byte)));
    unsigned slot = 0;
    for (const CmpInst::Predicate how : {less, CmpInst::ICMP_EQ, greater}) {
      // -1 is yes.
      llvm::Value* const yes = builder.CreateSExt(
          builder.CreateAnd(builder.CreateICmp(how, lefts, builder.CreateFreeze(rights)), counts),
          bytes);
      emit_unaliased_asm(builder, builder.getVoidTy(),
                         "movdqu ($0), %xmm15\npsubb $1, %xmm15\nmovdqu %xmm15, ($0)",
                         "r,x,~{xmm15},~{dirflag},~{fpsr},~{flags}", {behind(to, slot++), yes});
    }
  } else {
    llvm::Value* const right = builder.CreateLoad(number, from);
    llvm::Value* place = behind(to, 0);
    for (const CmpInst::Predicate yet : {greater, CmpInst::getNonStrictPredicate(greater)}) {
      place = builder.CreateSelect(builder.CreateICmp(yet, left, right),
                                   builder.CreateConstGEP1_64(byte, place, rows), place);
    }
    add_one(builder, place);
  }
  llvm::Value* const following = builder.CreateAdd(index, builder.getInt64(step));
  index->addIncoming(following, loop);
  builder.CreateCondBr(builder.CreateICmpULT(following, count), loop, end);

  builder.SetInsertPoint(end);
  BasicBlock* const full = block();
  BasicBlock* const done = block();
  llvm::Value* const passes =
      emit_unaliased_asm(builder, builder.getInt32Ty(), "incb ($1)\nmovzbl ($1), $0",
                         "=r,r,~{dirflag},~{fpsr},~{flags}", {behind(tallies, kPairCounters)});
  builder.CreateCondBr(builder.CreateICmpEQ(passes, builder.getInt32(kFull)), full, done);
  builder.SetInsertPoint(full);
  call_cold(builder, flush_function(), {row, count});
  builder.CreateBr(done);
  builder.SetInsertPoint(done);
  builder.CreateRetVoid();
  return *made;
}

}  // namespace telltale::instrument
