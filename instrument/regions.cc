#include "regions.h"

#include <llvm/ADT/SCCIterator.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "copying.h"

namespace telltale::instrument {
namespace {

using llvm::BasicBlock;

// The countdown of regions: a variable of the process or the thread, and a copy of it in the frame
// for loops in which nobody else asks for it.
class RegionCountdown {
 public:
  RegionCountdown(llvm::Function& function, const Unit& unit, Counters& counters)
      : function_(function),
        unit_(unit),
        counters_(counters),
        word_(llvm::Type::getInt32Ty(function.getContext())) {
    const bool threads = unit.options.threads;
    shared_ = llvm::cast<llvm::GlobalVariable>(function.getParent()->getOrInsertGlobal(
        threads ? "telltale_sampler_countdown_r" : "telltale_sampler_countdown", word_));
    if (threads) shared_->setThreadLocalMode(llvm::GlobalVariable::InitialExecTLSModel);
  }

  void take_from_shared(llvm::IRBuilderBase& at) {
    at.CreateStore(at.CreateLoad(word_, shared_place(at)), local());
  }
  void give_to_shared(llvm::IRBuilderBase& at) {
    at.CreateStore(at.CreateLoad(word_, local()), shared_place(at));
  }

  // Counts down, and jumps to `slow` if it is time to observe. Otherwise to `fast`, or, if only the
  // runtime could say that it is not, to `other`, from where that comes to the same.
  void ask(llvm::IRBuilderBase& at, bool is_local, BasicBlock* fast, BasicBlock* slow,
           BasicBlock* other) {
    llvm::Value* const place = is_local ? local() : shared_place(at);
    llvm::Value* const left =
        at.CreateSub(at.CreateLoad(word_, place), llvm::ConstantInt::get(word_, 1));
    at.CreateStore(left, place);
    BasicBlock* const asks =
        BasicBlock::Create(function_.getContext(), "telltale.ask", &function_, fast);
    constexpr std::uint32_t kSeldom = 1;
    constexpr std::uint32_t kOften = 10000;
    llvm::MDNode* const unlikely =
        unit_.options.predict_checks
            ? llvm::MDBuilder(function_.getContext()).createBranchWeights(kSeldom, kOften)
            : nullptr;
    at.CreateCondBr(at.CreateICmpSLE(left, llvm::ConstantInt::get(word_, 0)), asks, fast, unlikely);
    at.SetInsertPoint(asks);
    if (is_local) give_to_shared(at);
    llvm::Value* const fires = counters_.ask_whether_due(at, shared_place(at));
    if (is_local) take_from_shared(at);
    at.CreateCondBr(fires, slow, other);
  }

 private:
  llvm::Value* shared_place(llvm::IRBuilderBase& at) {
    return unit_.options.threads ? static_cast<llvm::Value*>(at.CreateThreadLocalAddress(shared_))
                                 : shared_;
  }
  llvm::Value* local() {
    if (local_ == nullptr) {
      BasicBlock& entry = function_.getEntryBlock();
      llvm::IRBuilder<> builder(&entry, entry.begin());
      local_ = builder.CreateAlloca(word_, nullptr, "telltale.countdown");
    }
    return local_;
  }

  llvm::Function& function_;
  const Unit& unit_;
  Counters& counters_;
  llvm::IntegerType* word_;
  llvm::GlobalVariable* shared_ = nullptr;
  llvm::Value* local_ = nullptr;
};

// Two copies of a function: the fast one knows of no site, the slow one observes all. A region
// begins at the entry and at each jump backward; there, and only there, control moves from one copy
// to the other.
class Regions {
 public:
  Regions(llvm::Function& function, const Unit& unit, Counters& counters,
          const Weightless& is_weightless, SamplingStatistics& statistics)
      : function_(function),
        unit_(unit),
        counters_(counters),
        is_weightless_(is_weightless),
        statistics_(statistics),
        countdown_(function, unit, counters) {}

  void make() {
    BasicBlock* const start = part_entry(function_);
    part_pads(function_);
    values_to_memory(function_);
    if (unit_.options.cache_countdown) keep_in_quiet_loops();
    jumps_ = find_jumps(start);
    headers_.insert(start);
    for (const auto& [block, number] : jumps_.edges)
      headers_.insert(block->getTerminator()->getSuccessor(number));
    weigh();
    copy();
    count_regions();
    llvm::Instruction* const entry = function_.getEntryBlock().getTerminator();
    // What follows makes blocks of no copy.
    for (BasicBlock* const header : headers_) {
      const Ends& ends = ends_[header] = {add_outer(header), nullptr, nullptr};
      ends_[header].after_fast = add_test(header, header, ends.outer);
      ends_[header].after_slow = add_test(header, ends.outer, ends.outer);
    }
    for (BasicBlock* const block : body_) redirect(block);
    entry->setSuccessor(0, ends_[start].after_slow);
    lead_labels();
    replace_marks();
    llvm::removeUnreachableBlocks(function_);
  }

 private:
  BasicBlock* twin(BasicBlock* block) { return llvm::cast<BasicBlock>(copies_[block]); }

  // May the countdown be looked at, or changed, in a call?
  [[nodiscard]] bool is_quiet(const llvm::Instruction& instruction) const {
    const auto* const call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    if (call == nullptr || llvm::isa<llvm::IntrinsicInst>(call) || call->isInlineAsm() ||
        mark_of(*call, unit_) != nullptr)
      return true;
    if (llvm::isa<llvm::InvokeInst>(call)) return false;
    const auto* const callee =
        llvm::dyn_cast<llvm::Function>(call->getCalledOperand()->stripPointerCasts());
    return callee != nullptr && is_weightless_(*callee);
  }

  [[nodiscard]] bool is_quiet(const llvm::Loop& loop) const {
    const auto can_be_parted = [](const BasicBlock* block) {
      return llvm::isa<llvm::BranchInst>(block->getTerminator()) ||
             llvm::isa<llvm::SwitchInst>(block->getTerminator());
    };
    bool has_marks = false;
    for (const BasicBlock* const block : loop.blocks()) {
      if (!can_be_parted(block) || block->isEHPad() || block->hasAddressTaken()) return false;
      for (const llvm::Instruction& instruction : *block) {
        if (!is_quiet(instruction)) return false;
        has_marks = has_marks || mark_of(instruction, unit_) != nullptr;
      }
    }
    for (const BasicBlock* const before : llvm::predecessors(loop.getHeader())) {
      if (!can_be_parted(before)) return false;
    }
    return has_marks;
  }

  // The countdown stays in a register from the entry of such a loop to its exits.
  void keep_in_quiet_loops() {
    llvm::DominatorTree dominators(function_);
    const llvm::LoopInfo loops(dominators);
    std::vector<const llvm::Loop*> work(loops.begin(), loops.end());
    std::vector<Edge> entering;
    std::vector<Edge> leaving;
    while (!work.empty()) {
      const llvm::Loop* const loop = work.back();
      work.pop_back();
      if (!is_quiet(*loop)) {
        work.insert(work.end(), loop->begin(), loop->end());
        continue;
      }
      quiet_.insert(loop->block_begin(), loop->block_end());
      for (BasicBlock* const before : llvm::predecessors(loop->getHeader())) {
        if (!loop->contains(before)) note_edges(before, loop->getHeader(), entering);
      }
      for (BasicBlock* const block : loop->blocks()) {
        const llvm::Instruction* const end = block->getTerminator();
        for (unsigned i = 0; i < end->getNumSuccessors(); ++i) {
          if (!loop->contains(end->getSuccessor(i))) leaving.emplace_back(block, i);
        }
      }
    }
    for (const Edge& edge : entering) {
      llvm::IRBuilder<> builder(part(edge));
      countdown_.take_from_shared(builder);
    }
    for (const Edge& edge : leaving) {
      llvm::IRBuilder<> builder(part(edge));
      countdown_.give_to_shared(builder);
    }
  }

  static void note_edges(BasicBlock* from, const BasicBlock* to, std::vector<Edge>& edges) {
    const llvm::Instruction* const end = from->getTerminator();
    for (unsigned i = 0; i < end->getNumSuccessors(); ++i) {
      const Edge edge{from, i};
      if (end->getSuccessor(i) == to && std::find(edges.begin(), edges.end(), edge) == edges.end())
        edges.push_back(edge);
    }
  }

  // A block of its own on an edge; there are no PHIs any more. Answers where to put code.
  llvm::Instruction* part(const Edge& edge) {
    llvm::Instruction* const end = edge.first->getTerminator();
    BasicBlock* const to = end->getSuccessor(edge.second);
    BasicBlock* const between = BasicBlock::Create(function_.getContext(), "", &function_, to);
    end->setSuccessor(edge.second, between);
    return llvm::BranchInst::Create(to, between);
  }

  // Has a way from here to the next region a site?
  void weigh() {
    for (BasicBlock* const block : jumps_.order) {
      bool has = std::any_of(block->begin(), block->end(), [&](const llvm::Instruction& one) {
        return mark_of(one, unit_) != nullptr;
      });
      const llvm::Instruction* const end = block->getTerminator();
      for (unsigned i = 0; i < end->getNumSuccessors() && !has; ++i)
        has = !jumps_.edges.contains({block, i}) && has_sites_.contains(end->getSuccessor(i));
      if (has) has_sites_.insert(block);
    }
  }

  void copy() {
    BasicBlock* const entry = &function_.getEntryBlock();
    for (BasicBlock& block : function_) {
      if (&block != entry) body_.push_back(&block);
    }
    std::vector<BasicBlock*> made;
    for (BasicBlock* const block : body_) {
      BasicBlock* const other = llvm::CloneBasicBlock(block, copies_, ".slow", &function_);
      copies_[block] = other;
      made.push_back(other);
    }
    llvm::remapInstructionsInBlocks(made, copies_);
  }

  // Where a region begins in three ways: from before, from the end of a fast one, and from the end
  // of a slow one. The first and the last go through one block to the fast copy, so that it is a
  // loop of its own, without the slow copy, in a loop around both.
  struct Ends {
    BasicBlock* outer = nullptr;
    BasicBlock* after_fast = nullptr;
    BasicBlock* after_slow = nullptr;
  };

  void count_regions() {
    statistics_.regions += static_cast<unsigned>(headers_.size());
    for (BasicBlock* const header : headers_)
      statistics_.weightless_regions += has_sites_.contains(header) ? 0 : 1;
  }

  BasicBlock* add_outer(BasicBlock* header) {
    BasicBlock* const outer =
        BasicBlock::Create(function_.getContext(), "telltale.outer", &function_, header);
    llvm::BranchInst::Create(header, outer);
    return outer;
  }

  BasicBlock* add_test(BasicBlock* header, BasicBlock* fast, BasicBlock* other) {
    BasicBlock* const test =
        BasicBlock::Create(function_.getContext(), "telltale.test", &function_, header);
    llvm::IRBuilder<> builder(test);
    if (!has_sites_.contains(header) && unit_.options.specialize_empty_regions) {
      builder.CreateBr(fast);
    } else {
      countdown_.ask(builder, quiet_.contains(header), fast, twin(header), other);
    }
    return test;
  }

  // Both copies go to a test wherever a region begins.
  void redirect(BasicBlock* block) {
    llvm::Instruction* const fast = block->getTerminator();
    llvm::Instruction* const slow = twin(block)->getTerminator();
    for (unsigned i = 0; i < fast->getNumSuccessors(); ++i) {
      const auto found = ends_.find(fast->getSuccessor(i));
      if (found == ends_.end()) continue;
      const Ends& ends = found->second;
      const bool begins = jumps_.edges.contains({block, i});
      // Computed jumps have one place for all ways.
      const bool is_computed = llvm::isa<llvm::IndirectBrInst>(fast);
      if (begins) slow->setSuccessor(i, ends.after_slow);
      fast->setSuccessor(i, !begins ? ends.outer : is_computed ? ends.after_slow : ends.after_fast);
    }
  }

  // A label's address is that of the test, wherever it is kept.
  void lead_labels() {
    for (BasicBlock* const block : body_) {
      for (BasicBlock* const one : {block, twin(block)}) {
        llvm::BlockAddress* const address =
            one->hasAddressTaken() ? llvm::BlockAddress::lookup(one) : nullptr;
        if (address == nullptr) continue;
        BasicBlock* const to = ends_.contains(block) ? ends_[block].after_slow : block;
        if (to != one) address->replaceAllUsesWith(llvm::BlockAddress::get(to));
      }
    }
  }

  void replace_marks() {
    std::vector<std::pair<llvm::CallInst*, llvm::CallInst*>> both;
    for (BasicBlock* const block : body_) {
      for (llvm::Instruction& instruction : *block) {
        if (mark_of(instruction, unit_) == nullptr) continue;
        auto* const call = llvm::cast<llvm::CallInst>(&instruction);
        both.emplace_back(call, llvm::cast<llvm::CallInst>(copies_[call]));
      }
    }
    for (const auto& [fast, slow] : both) {
      const Mark& mark = *mark_of(*fast, unit_);
      statistics_.sites += static_cast<unsigned>(mark.sites.size());
      llvm::IRBuilder<> builder(slow->getNextNode());
      counters_.observe_seldom(builder, *slow, mark, room_);
      remove_mark(*fast);
      remove_mark(*slow);
    }
  }

  llvm::Function& function_;
  const Unit& unit_;
  Counters& counters_;
  const Weightless& is_weightless_;
  SamplingStatistics& statistics_;
  RegionCountdown countdown_;
  Room room_;
  Jumps jumps_;
  std::vector<BasicBlock*> body_;  // the fast copy, which is the original
  std::set<BasicBlock*> headers_;
  std::set<const BasicBlock*> quiet_;  // blocks of loops in which the countdown is in the frame
  std::set<const BasicBlock*> has_sites_;
  std::map<BasicBlock*, Ends> ends_;
  llvm::ValueToValueMapTy copies_;
};

bool can_be_cloned(const llvm::Function& function, const Unit& unit) {
  const bool is_odd =
      std::any_of(function.arg_begin(), function.arg_end(), [](const llvm::Argument& one) {
        return one.hasInAllocaAttr() || one.hasPreallocatedAttr() || one.hasSwiftErrorAttr();
      });
  if (is_odd || function.isVarArg() ||
      function.hasFnAttribute(llvm::Attribute::PresplitCoroutine) ||
      !can_be_copied(function, false))
    return false;
  for (auto group = llvm::scc_begin(&function); !group.isAtEnd(); ++group) {
    if (!group.hasCycle()) continue;
    for (const BasicBlock* const block : *group) {
      for (const llvm::Instruction& instruction : *block) {
        if (mark_of(instruction, unit) != nullptr) return false;
      }
    }
  }
  return true;
}

// A function that passes each of its sites at most once: it is one region, and its slow copy a
// function of its own, to which it goes over in the beginning. The fast one is no larger than it
// was, but for the question.
void part_function(llvm::Function& function, const Unit& unit, Counters& counters,
                   SamplingStatistics& statistics) {
  llvm::ValueToValueMapTy copies;
  llvm::Function* const slow = llvm::CloneFunction(&function, copies);
  slow->setName(function.getName() + ".slow");
  slow->setComdat(nullptr);
  slow->setLinkage(llvm::GlobalValue::InternalLinkage);
  slow->setVisibility(llvm::GlobalValue::DefaultVisibility);
  slow->setDLLStorageClass(llvm::GlobalValue::DefaultStorageClass);
  slow->setDSOLocal(true);
  slow->removeFnAttr(llvm::Attribute::AlwaysInline);
  slow->removeFnAttr(llvm::Attribute::InlineHint);
  if (!slow->hasFnAttribute(llvm::Attribute::OptimizeNone)) slow->addFnAttr(llvm::Attribute::Cold);
  slow->addFnAttr(llvm::Attribute::NoInline);
  ++statistics.regions;
  Room room;
  for (llvm::CallInst* const call : marks_in(*slow, unit)) {
    const Mark& mark = *mark_of(*call, unit);
    statistics.sites += static_cast<unsigned>(mark.sites.size());
    llvm::IRBuilder<> builder(call->getNextNode());
    counters.observe_seldom(builder, *call, mark, room);
    remove_mark(*call);
  }
  for (llvm::CallInst* const call : marks_in(function, unit)) remove_mark(*call);
  BasicBlock* const start = part_entry(function);
  BasicBlock* const over =
      BasicBlock::Create(function.getContext(), "telltale.over", &function, start);
  llvm::IRBuilder<> builder(over);
  if (function.getSubprogram() != nullptr) {
    builder.SetCurrentDebugLocation(
        llvm::DILocation::get(function.getContext(), 0, 0, function.getSubprogram()));
  }
  llvm::SmallVector<llvm::Value*, 8> arguments;
  for (llvm::Argument& argument : function.args()) arguments.push_back(&argument);
  llvm::CallInst* const call = builder.CreateCall(slow, arguments);
  call->setCallingConv(function.getCallingConv());
  call->setAttributes(function.getAttributes().removeFnAttributes(function.getContext()));
  // An argument in the caller's own frame must outlive the call.
  const bool has_copy =
      std::any_of(function.arg_begin(), function.arg_end(),
                  [](const llvm::Argument& one) { return one.hasPassPointeeByValueCopyAttr(); });
  if (!has_copy) call->setTailCallKind(llvm::CallInst::TCK_Tail);
  if (function.getReturnType()->isVoidTy()) {
    builder.CreateRetVoid();
  } else {
    builder.CreateRet(call);
  }
  llvm::Instruction* const end = function.getEntryBlock().getTerminator();
  builder.SetInsertPoint(end);
  RegionCountdown(function, unit, counters).ask(builder, false, start, over, start);
  end->eraseFromParent();
}

// Each mark is a region of its own.
void ask_at_each(llvm::Function& function, const Unit& unit, Counters& counters,
                 SamplingStatistics& statistics) {
  RegionCountdown countdown(function, unit, counters);
  Room room;
  for (llvm::CallInst* const call : marks_in(function, unit)) {
    const Mark& mark = *mark_of(*call, unit);
    statistics.sites += static_cast<unsigned>(mark.sites.size());
    BasicBlock* const before = call->getParent();
    BasicBlock* const after = before->splitBasicBlock(call->getNextNode()->getIterator());
    BasicBlock* const observes =
        BasicBlock::Create(function.getContext(), "telltale.observe", &function, after);
    llvm::IRBuilder<> builder(llvm::BranchInst::Create(after, observes));
    counters.observe_seldom(builder, *call, mark, room);
    before->getTerminator()->eraseFromParent();
    builder.SetInsertPoint(before);
    countdown.ask(builder, false, after, observes, after);
    remove_mark(*call);
  }
}

}  // namespace

void sample_by_regions(llvm::Function& function, const Unit& unit, Counters& counters,
                       const Weightless& is_weightless, SamplingStatistics& statistics) {
  ++statistics.functions;
  if (can_be_cloned(function, unit)) return part_function(function, unit, counters, statistics);
  if (can_be_copied(function, true)) {
    Regions(function, unit, counters, is_weightless, statistics).make();
    return;
  }
  ++statistics.without_copies;
  ask_at_each(function, unit, counters, statistics);
}

}  // namespace telltale::instrument
