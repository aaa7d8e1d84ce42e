#include "transform/region_sampling.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "transform/call_sampling.h"
#include "transform/cloning.h"
#include "transform/loop_unrolling.h"
#include "transform/region_countdown.h"

namespace telltale::instrument {
namespace {

using llvm::BasicBlock;

// Variables of a function times the loops in which it asks, at most.
constexpr std::size_t kMostMeetings = 500;

// Two copies of a function: the fast one knows of no site, the slow one observes all. A region
// begins at the entry and at each jump backward; there, and only there, control moves from one copy
// to the other.
class Regions {
 public:
  Regions(llvm::Function& function, const Unit& unit, Counters& counters,
          const Weightless& is_weightless, WholeFunctions& whole, SamplingStatistics& statistics,
          llvm::Value* countdown_offset)
      : function_(function),
        unit_(unit),
        counters_(counters),
        is_weightless_(is_weightless),
        whole_(whole),
        statistics_(statistics),
        countdown_(function, unit, counters, countdown_offset) {}

  void make() {
    BasicBlock* const start = part_entry(function_);
    part_pads(function_);
    values_to_memory(function_);
    if (heads_of_loops(find_jumps(start)).size() <= most_loops()) {
      repeat_small_loops(function_, unit_,
                         [this](const llvm::Loop& loop) { return is_quiet(loop); });
    }
    if (unit_.options.cache_countdown) keep_in_quiet_loops();
    jumps_ = find_jumps(start);
    drop_small_loops();
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

  // Does the region pass sites here?
  [[nodiscard]] bool has_sites(const llvm::Instruction& instruction) const {
    if (mark_of(instruction, unit_) != nullptr) return true;
    const auto* const call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    return call != nullptr && whole_.joins(*call);
  }

  // May the countdown be looked at, or changed, in a call?
  [[nodiscard]] bool is_quiet(const llvm::Instruction& instruction) const {
    const auto* const call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    if (call == nullptr || llvm::isa<llvm::IntrinsicInst>(call) || call->isInlineAsm() ||
        mark_of(*call, unit_) != nullptr || whole_.is_quiet(*call))
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
        has_marks = has_marks || has_sites(instruction);
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

  // In how many loops the function may ask: where a region begins both copies meet in all
  // variables, so that the compiler's work grows with the product.
  [[nodiscard]] std::size_t most_loops() const {
    const BasicBlock& entry = function_.getEntryBlock();
    const auto variables = static_cast<std::size_t>(std::count_if(
        entry.begin(), entry.end(),
        [](const llvm::Instruction& one) { return llvm::isa<llvm::AllocaInst>(one); }));
    return std::max<std::size_t>(1, kMostMeetings / std::max<std::size_t>(1, variables));
  }

  // Where jumps backward lead, but for computed ones.
  static std::vector<BasicBlock*> heads_of_loops(const Jumps& jumps) {
    std::set<const BasicBlock*> led_to;
    for (const auto& [block, number] : jumps.edges) {
      const llvm::Instruction* const end = block->getTerminator();
      if (!llvm::isa<llvm::IndirectBrInst>(end)) led_to.insert(end->getSuccessor(number));
    }
    std::vector<BasicBlock*> heads;
    std::copy_if(jumps.order.begin(), jumps.order.end(), std::back_inserter(heads),
                 [&](BasicBlock* block) { return led_to.contains(block); });
    return heads;
  }

  // In large functions regions go on through the smaller loops.
  void drop_small_loops() {
    std::vector<BasicBlock*> heads = heads_of_loops(jumps_);
    const std::size_t most = most_loops();
    if (heads.size() <= most) return;
    llvm::DominatorTree dominators(function_);
    const llvm::LoopInfo loops(dominators);
    const auto size = [&](BasicBlock* head) {
      const llvm::Loop* const loop = loops.getLoopFor(head);
      // What is no loop by LLVM's definition may be as large as any.
      return loop != nullptr && loop->getHeader() == head ? loop->getNumBlocks() : UINT_MAX;
    };
    std::stable_sort(heads.begin(), heads.end(),
                     [&](BasicBlock* left, BasicBlock* right) { return size(left) > size(right); });
    const std::set<BasicBlock*> dropped(heads.begin() + static_cast<std::ptrdiff_t>(most),
                                        heads.end());
    std::erase_if(jumps_.edges, [&](const Edge& edge) {
      const llvm::Instruction* const end = edge.first->getTerminator();
      if (llvm::isa<llvm::IndirectBrInst>(end) || !dropped.contains(end->getSuccessor(edge.second)))
        return false;
      dropped_.insert(edge);
      return true;
    });
  }

  // Has a way from here to the next region a site?
  void weigh() {
    for (BasicBlock* const block : jumps_.order) {
      bool has = std::any_of(block->begin(), block->end(),
                             [&](const llvm::Instruction& one) { return has_sites(one); });
      const llvm::Instruction* const end = block->getTerminator();
      for (unsigned i = 0; i < end->getNumSuccessors() && !has; ++i)
        has = dropped_.contains({block, i}) ||
              (!jumps_.edges.contains({block, i}) && has_sites_.contains(end->getSuccessor(i)));
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
        if (!has_sites(instruction)) continue;
        if (mark_of(instruction, unit_) == nullptr) {
          whole_.lead(llvm::cast<llvm::CallBase>(instruction), false);
          whole_.lead(llvm::cast<llvm::CallBase>(*copies_[&instruction]), true);
          continue;
        }
        auto* const call = llvm::cast<llvm::CallInst>(&instruction);
        both.emplace_back(call, llvm::cast<llvm::CallInst>(copies_[call]));
      }
    }
    for (const auto& [fast, slow] : both) {
      const Mark& mark = *mark_of(*fast, unit_);
      statistics_.sites += static_cast<unsigned>(mark.sites.size());
      llvm::IRBuilder<> builder(slow->getNextNode());
      counters_.observe_seldom(builder, *slow, mark);
      remove_mark(*fast);
      remove_mark(*slow);
    }
  }

  llvm::Function& function_;
  const Unit& unit_;
  Counters& counters_;
  const Weightless& is_weightless_;
  WholeFunctions& whole_;
  SamplingStatistics& statistics_;
  RegionCountdown countdown_;
  Jumps jumps_;
  std::set<Edge> dropped_;         // jumps backward at whose end no region begins
  std::vector<BasicBlock*> body_;  // the fast copy, which is the original
  std::set<BasicBlock*> headers_;
  std::set<const BasicBlock*> quiet_;  // blocks of loops in which the countdown is in the frame
  std::set<const BasicBlock*> has_sites_;
  std::map<BasicBlock*, Ends> ends_;
  llvm::ValueToValueMapTy copies_;
};

// Each mark is a region of its own.
void ask_at_each(llvm::Function& function, const Unit& unit, Counters& counters,
                 SamplingStatistics& statistics) {
  RegionCountdown countdown(function, unit, counters);
  for (llvm::CallInst* const call : marks_in(function, unit)) {
    const Mark& mark = *mark_of(*call, unit);
    statistics.sites += static_cast<unsigned>(mark.sites.size());
    BasicBlock* const before = call->getParent();
    BasicBlock* const after = before->splitBasicBlock(call->getNextNode()->getIterator());
    BasicBlock* const observes =
        BasicBlock::Create(function.getContext(), "telltale.observe", &function, after);
    llvm::IRBuilder<> builder(llvm::BranchInst::Create(after, observes));
    counters.observe_seldom(builder, *call, mark);
    before->getTerminator()->eraseFromParent();
    builder.SetInsertPoint(before);
    countdown.ask(builder, false, after, observes, after);
    remove_mark(*call);
  }
}

}  // namespace

void sample_by_regions(llvm::Function& function, const Unit& unit, Counters& counters,
                       const Weightless& is_weightless, WholeFunctions& whole,
                       SamplingStatistics& statistics) {
  ++statistics.functions;
  if (whole.is_whole(function)) return whole.part(function, counters, statistics);
  if (unit.options.sample_turns && !unit.options.threads && takes_turns(function)) {
    llvm::Function* const asking = part_into_turns(function, unit, counters, whole);
    Regions(*asking, unit, counters, is_weightless, whole, statistics,
            asking->getArg(asking->arg_size() - 1))
        .make();
    return;
  }
  if (can_be_copied(function, true)) {
    Regions(function, unit, counters, is_weightless, whole, statistics, nullptr).make();
    return;
  }
  ++statistics.without_copies;
  ask_at_each(function, unit, counters, statistics);
}

}  // namespace telltale::instrument
