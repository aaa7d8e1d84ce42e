// Counting without a call to the runtime, where nothing else is to be done but that.
#include <llvm/IR/InlineAsm.h>
#include <llvm/TargetParser/Triple.h>

#include <vector>

#include "copying.h"
#include "counters.h"

namespace telltale::instrument {

using llvm::BasicBlock;

bool Counters::counts_in_place() const {
  const Options& options = unit_.options;
  const llvm::Triple target(module_.getTargetTriple());
  return target.getArch() == llvm::Triple::x86_64 && !target.isX32() && !options.timestamp_first &&
         !options.timestamp_last && !options.trace_sites;
}

// Of an instruction that says nothing of memory LLVM believes that it touches nothing of the
// program's, so that a loop keeps in registers what it did without it.
void Counters::count_unseen(llvm::IRBuilderBase& at, llvm::Value* place) {
  auto* const type = llvm::FunctionType::get(at.getVoidTy(), {at.getPtrTy()}, false);
  llvm::CallInst* const call = at.CreateCall(
      llvm::InlineAsm::get(type, unit_.options.threads ? "lock incq ($0)" : "incq ($0)",
                           "r,~{dirflag},~{fpsr},~{flags}", true),
      {place});
  call->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly());
  call->setDoesNotThrow();
}

// void (counters of the first comparison, value, operands, how many), and, if the program may lack
// operands, what says so of each
llvm::Function& Counters::compare_all(bool is_signed, bool may_lack) {
  llvm::Function*& made = compare_all_[(is_signed ? 1 : 0) + (may_lack ? 2 : 0)];
  if (made != nullptr) return *made;
  llvm::IRBuilder<> builder(module_.getContext());
  std::vector<llvm::Type*> parameters = {builder.getPtrTy(), counter_, builder.getPtrTy(),
                                         counter_};
  if (may_lack) parameters.push_back(builder.getPtrTy());
  made = make_seldom("compare", llvm::FunctionType::get(builder.getVoidTy(), parameters, false));
  BasicBlock* const entry = &made->getEntryBlock();
  BasicBlock* const next = BasicBlock::Create(module_.getContext(), "", made);
  BasicBlock* const end = BasicBlock::Create(module_.getContext(), "", made);
  builder.SetInsertPoint(entry);
  builder.CreateBr(next);
  builder.SetInsertPoint(next);
  llvm::PHINode* const index = builder.CreatePHI(counter_, 2);
  llvm::Value* const left = made->getArg(1);
  llvm::Value* const right =
      builder.CreateLoad(counter_, builder.CreateGEP(counter_, made->getArg(2), {index}));
  const auto is = [&](llvm::CmpInst::Predicate predicate) {
    return builder.CreateZExt(builder.CreateICmp(predicate, left, right), counter_);
  };
  using llvm::CmpInst;
  llvm::Value* const outcome =
      builder.CreateAdd(is(is_signed ? CmpInst::ICMP_SGT : CmpInst::ICMP_UGT),
                        is(is_signed ? CmpInst::ICMP_SGE : CmpInst::ICMP_UGE));
  llvm::Value* const slot =
      builder.CreateAdd(builder.CreateMul(index, llvm::ConstantInt::get(counter_, 3)), outcome);
  llvm::Value* place = builder.CreateGEP(counter_, made->getArg(0), {slot});
  if (may_lack) {
    llvm::Value* const there = builder.CreateLoad(
        builder.getPtrTy(), builder.CreateGEP(builder.getPtrTy(), made->getArg(4), {index}));
    place = builder.CreateSelect(builder.CreateIsNotNull(there), place, nowhere());
  }
  count_unseen(builder, place);
  llvm::Value* const following = builder.CreateAdd(index, llvm::ConstantInt::get(counter_, 1));
  builder.CreateCondBr(builder.CreateICmpULT(following, made->getArg(3)), next, end);
  index->addIncoming(llvm::ConstantInt::get(counter_, 0), entry);
  index->addIncoming(following, next);
  builder.SetInsertPoint(end);
  builder.CreateRetVoid();
  return *made;
}

bool Counters::observe_in_place(llvm::IRBuilderBase& at, const llvm::CallInst& call,
                                const Mark& mark, Room& room) {
  const Scheme scheme = mark.scheme;
  if (!counts_in_place()) return false;
  const auto place_of = [&](llvm::Value* slot) {
    return at.CreateInBoundsGEP(counter_, tables_[static_cast<std::size_t>(scheme)].counters,
                                {slot});
  };
  if (scheme != Scheme::kScalarPairs) {
    for (unsigned i = 0; i < mark.sites.size(); ++i) {
      const auto row = static_cast<std::uint64_t>(unit_.sites[mark.sites[i]].row);
      count_unseen(at, place_of(at.CreateAdd(
                           slot_of(at, call, mark, i),
                           llvm::ConstantInt::get(counter_, row * facts_of(scheme).arity))));
    }
    return true;
  }
  llvm::Value* const operands =
      room.of(*at.GetInsertBlock()->getParent(), static_cast<unsigned>(mark.sites.size()));
  store_operands(at, call, mark, operands);
  const Site& site = unit_.sites[mark.sites[0]];
  const auto first = static_cast<std::uint64_t>(site.row) * facts_of(scheme).arity;
  llvm::Constant* const existing = existing_table(call, mark);
  std::vector<llvm::Value*> arguments = {place_of(llvm::ConstantInt::get(counter_, first)),
                                         wide_value(at, call, mark), operands,
                                         llvm::ConstantInt::get(counter_, mark.sites.size())};
  if (existing != nullptr) arguments.push_back(existing);
  call_seldom(at, compare_all(site.kind == ValueKind::kSigned, existing != nullptr), arguments);
  return true;
}

}  // namespace telltale::instrument
