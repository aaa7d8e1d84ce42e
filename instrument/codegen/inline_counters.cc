// Counting without a call to the runtime, where nothing else is to be done but that.
#include <llvm/IR/InlineAsm.h>
#include <llvm/Support/MathExtras.h>
#include <llvm/TargetParser/Triple.h>

#include <algorithm>
#include <vector>

#include "codegen/counters.h"
#include "transform/cloning.h"

namespace telltale::instrument {

using llvm::BasicBlock;

bool Counters::can_count_inline() const {
  const Options& options = unit_.options;
  const llvm::Triple target(module_.getTargetTriple());
  return target.getArch() == llvm::Triple::x86_64 && !target.isX32() && !options.timestamp_first &&
         !options.timestamp_last && !options.trace_sites;
}

// Of an instruction that says nothing of memory LLVM believes that it touches nothing of the
// program's, so that a loop keeps in registers what it did without it.
void Counters::emit_unaliased_increment(llvm::IRBuilderBase& at, llvm::Value* place) {
  auto* const type = llvm::FunctionType::get(at.getVoidTy(), {at.getPtrTy()}, false);
  llvm::CallInst* const call =
      at.CreateCall(llvm::InlineAsm::get(type, unit_.options.threads ? "lock incq $0" : "incq $0",
                                         "*m,~{dirflag},~{fpsr},~{flags}", true),
                    {place});
  call->addParamAttr(0,
                     llvm::Attribute::get(at.getContext(), llvm::Attribute::ElementType, counter_));
  call->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly());
  call->setDoesNotThrow();
}

// void (counters of the first comparison, value, how many, operands ...); value and operands are of
// 64 bits or, narrow, of 32
llvm::Function& Counters::compare_function(bool is_signed, bool is_narrow) {
  llvm::Function*& made = compare_functions_[(is_signed ? 1 : 0) + (is_narrow ? 2 : 0)];
  if (made != nullptr) return *made;
  llvm::IRBuilder<> builder(module_.getContext());
  llvm::Type* const number = is_narrow ? builder.getInt32Ty() : counter_;
  made = make_cold_function(
      "compare",
      observer_type(builder.getVoidTy(), {builder.getPtrTy(), number, counter_}, number));
  builder.SetInsertPoint(&made->getEntryBlock());
  llvm::Argument* const left = made->getArg(1);
  llvm::Argument* const count = made->getArg(2);
  llvm::Value* const operands = make_operand_array(builder, *made, 3, number);
  const auto compare = [&](llvm::Value* one, llvm::Value* other, bool or_equal) {
    using llvm::CmpInst;
    if (is_signed)
      return builder.CreateICmp(or_equal ? CmpInst::ICMP_SGE : CmpInst::ICMP_SGT, one, other);
    return builder.CreateICmp(or_equal ? CmpInst::ICMP_UGE : CmpInst::ICMP_UGT, one, other);
  };
  // Comparisons from the `first`th on, `step` at a time, as long as so many are left; answers how
  // many were done.
  const auto loop = [&](llvm::Value* first, unsigned step, const auto& body) {
    BasicBlock* const before = builder.GetInsertBlock();
    BasicBlock* const head = BasicBlock::Create(module_.getContext(), "", made);
    BasicBlock* const next = BasicBlock::Create(module_.getContext(), "", made);
    BasicBlock* const end = BasicBlock::Create(module_.getContext(), "", made);
    builder.CreateBr(head);
    builder.SetInsertPoint(head);
    llvm::PHINode* const index = builder.CreatePHI(counter_, 2);
    llvm::Value* const following = builder.CreateAdd(index, builder.getInt64(step));
    builder.CreateCondBr(builder.CreateICmpULE(following, count), next, end);
    builder.SetInsertPoint(next);
    body(builder.CreateGEP(number, operands, {index}),
         builder.CreateGEP(counter_, made->getArg(0),
                           {builder.CreateMul(index, builder.getInt64(kPairCounters))}));
    builder.CreateBr(head);
    index->addIncoming(first, before);
    index->addIncoming(following, next);
    builder.SetInsertPoint(end);
    return index;
  };
  llvm::Value* done = builder.getInt64(0);
  if (is_narrow) {
    constexpr unsigned kLanes = 4;
    auto* const lanes = llvm::FixedVectorType::get(number, kLanes);
    llvm::Value* const lefts = builder.CreateVectorSplat(kLanes, left);
    std::vector<std::uint32_t> equal;
    for (unsigned i = 0; i < kLanes; ++i) equal.push_back(i * kPairCounters + 1);
    llvm::Constant* const if_equal = llvm::ConstantDataVector::get(module_.getContext(), equal);
    done = loop(done, kLanes, [&](llvm::Value* from, llvm::Value* counters) {
      llvm::Value* const rights = builder.CreateAlignedLoad(lanes, from, llvm::Align(4));
      // -1 is yes.
      llvm::Value* const less = builder.CreateSExt(compare(rights, lefts, false), lanes);
      llvm::Value* const greater = builder.CreateSExt(compare(lefts, rights, false), lanes);
      llvm::Value* const slots = builder.CreateSub(builder.CreateAdd(if_equal, less), greater);
      for (unsigned i = 0; i < kLanes; ++i) {
        llvm::Value* const slot =
            builder.CreateZExt(builder.CreateExtractElement(slots, i), counter_);
        emit_unaliased_increment(builder, builder.CreateGEP(counter_, counters, {slot}));
      }
    });
  }
  loop(done, 1, [&](llvm::Value* from, llvm::Value* counters) {
    llvm::Value* const right = builder.CreateLoad(number, from);
    for (const bool or_equal : {true, false}) {
      counters = builder.CreateGEP(counter_, counters,
                                   {builder.CreateZExt(compare(left, right, or_equal), counter_)});
    }
    emit_unaliased_increment(builder, counters);
  });
  builder.CreateRetVoid();
  return *made;
}

// Do 32 bits hold the value and all that it is compared with?
bool Counters::has_narrow_pairs(const llvm::CallInst& call, const Mark& mark) const {
  constexpr unsigned kBits = 32;
  const llvm::Type* const type = call.getArgOperand(1)->getType();
  if (!type->isIntegerTy() || type->getIntegerBitWidth() > kBits) return false;
  const bool is_signed = unit_.sites[mark.sites[0]].kind == ValueKind::kSigned;
  return std::all_of(mark.operands.begin(), mark.operands.end(), [&](const Operand& one) {
    return !one.is_constant ||
           (is_signed ? llvm::isInt<kBits>(one.number)
                      : llvm::isUInt<kBits>(static_cast<std::uint64_t>(one.number)));
  });
}

bool Counters::emit_inline_observation(llvm::IRBuilderBase& at, const llvm::CallInst& call,
                                       const Mark& mark) {
  const Scheme scheme = mark.scheme;
  if (!can_count_inline()) return false;
  const auto location_of = [&](llvm::Value* slot) {
    return at.CreateInBoundsGEP(counter_, tables_[static_cast<std::size_t>(scheme)].counters,
                                {slot});
  };
  if (scheme != Scheme::kScalarPairs) {
    for (unsigned i = 0; i < mark.sites.size(); ++i) {
      const auto row = static_cast<std::uint64_t>(unit_.sites[mark.sites[i]].row);
      emit_unaliased_increment(
          at, location_of(
                  at.CreateAdd(counter_slot(at, call, mark, i),
                               llvm::ConstantInt::get(counter_, row * scheme_info(scheme).arity))));
    }
    return true;
  }
  add_weak_operands(call, mark);
  const bool is_narrow = has_narrow_pairs(call, mark);
  llvm::Type* const number = is_narrow ? at.getInt32Ty() : counter_;
  const bool is_signed = unit_.sites[mark.sites[0]].kind == ValueKind::kSigned;
  llvm::Value* const left = left_operand(at, call, mark, number);
  pass_operands(
      at, call, mark, number,
      [&](unsigned begin, unsigned count, llvm::ArrayRef<llvm::Value*> operands) {
        const auto row = static_cast<std::uint64_t>(unit_.sites[mark.sites[begin]].row);
        const bool tallies = uses_pair_tallies();
        llvm::Value* const where =
            tallies ? llvm::ConstantInt::get(counter_, row)
                    : location_of(llvm::ConstantInt::get(counter_, row * kPairCounters));
        std::vector<llvm::Value*> arguments{where, left, llvm::ConstantInt::get(counter_, count)};
        arguments.insert(arguments.end(), operands.begin(), operands.end());
        call_cold(
            at,
            tallies ? tally_function(is_signed, is_narrow) : compare_function(is_signed, is_narrow),
            arguments);
      });
  return true;
}

}  // namespace telltale::instrument
