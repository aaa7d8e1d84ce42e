#include "transform/region_sampling.h"

#include <llvm/ADT/SetVector.h>
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
#include <optional>
#include <set>
#include <vector>

#include "analysis/ir_marks.h"
#include "transform/cached_countdown.h"
#include "transform/call_sampling.h"
#include "transform/cloning.h"
#include "transform/first_observations.h"
#include "transform/first_regions.h"
#include "transform/loop_unrolling.h"
#include "transform/region_countdown.h"
#include "transform/region_reach.h"
#include "transform/unchecked_copy.h"

namespace telltale::instrument {
namespace {

using llvm::BasicBlock;
using Takes = FirstRegions::Takes;

// The product of a function's variables and its loops with checks, at most.
constexpr std::size_t kMaxMergedValues = 500;

// Makes two copies of a function's body: the fast copy has no sites, the slow copy observes all.
// Control moves between them only where a region begins: at the entry and at the targets of back
// edges.
class RegionSampler {
 public:
  RegionSampler(llvm::Function& function, const TranslationUnit& unit, Codegen& codegen,
                const IsWeightless& is_weightless, AcyclicFunctions& acyclic_functions,
                SamplingStatistics& statistics, llvm::Value* countdown_offset)
      : function_(function),
        unit_(unit),
        codegen_(codegen),
        is_weightless_(is_weightless),
        acyclic_functions_(acyclic_functions),
        statistics_(statistics),
        countdown_(function, unit, codegen, countdown_offset),
        countdown_offset_(countdown_offset),
        first_(codegen.first_executions) {}

  void run() {
    BasicBlock* const start = split_entry(function_);
    split_landing_pads(function_);
    if (first_.are_observed()) FirstObservations::prepare(function_, unit_);
    demote_values(function_);
    if (loop_headers(find_back_edges(start)).size() <= max_region_loops()) {
      unrolled_loops_ = unroll_small_loops(
          function_, unit_, [this](const llvm::Loop& loop) { return preserves_countdown(loop); });
    }
    if (unit_.options.cache_countdown) {
      cached_blocks_ = cache_in_loops(function_, countdown_, [this](const llvm::Loop& loop) {
        return preserves_countdown(loop);
      });
    }
    back_edges_ = find_back_edges(start);
    merge_small_loops();
    headers_.insert(start);
    for (const auto& [block, number] : back_edges_.edges)
      headers_.insert(block->getTerminator()->getSuccessor(number));
    find_sites_ahead();
    if (first_.are_observed()) {
      reach_.emplace(function_, unit_, merged_edges_);
      // In a function whose regions have loops in them, they are too few to show the blocks.
      const bool has_loops_in_regions = !merged_edges_.empty();
      const bool by_blocks = has_loops_in_regions || unit_.options.adaptive_blocks;
      first_observations_.emplace(function_, unit_, codegen_, by_blocks ? &*reach_ : nullptr);
      first_regions_.emplace(function_, first_, !has_loops_in_regions);
      if (!has_loops_in_regions) find_places_after_loops();
    }
    clones_.clone(function_);
    if (leaves_long_calls()) {
      unchecked_.emplace(function_);
      if (unchecked_->is_possible()) {
        unchecked_->clone(function_, clones_.fast_blocks());
      } else {
        unchecked_.reset();
      }
    }
    count_regions();
    llvm::Instruction* const entry = function_.getEntryBlock().getTerminator();
    // From here on, new blocks belong to neither copy.
    roll_up_slow_copies();
    for (BasicBlock* const header : headers_) {
      HeaderBlocks& ends = header_blocks_[header];
      ends.fast_preheader = ends.from_outside = add_fast_preheader(header);
      BasicBlock* not_sampled = ends.fast_preheader;
      if (first_regions_.has_value() && has_sites_ahead_.contains(header)) {
        // Where a loop is entered, and after each observed region. A region with a loop in it may
        // be the whole run.
        not_sampled = ends.from_outside = first_regions_->make_check(
            slow_entry(header), ends.fast_preheader,
            has_merged_ahead_.contains(header) ? Takes::kAllForEver : Takes::kOne);
        if (first_regions_->observes_following())
          not_sampled = first_regions_->make_series_check(slow_entry(header), not_sampled);
      }
      ends.from_fast = add_check(header, header, ends.fast_preheader);
      ends.from_slow = add_check(header, not_sampled, not_sampled);
      const auto end = region_ends_.find(header);
      if (end != region_ends_.end()) llvm::BranchInst::Create(ends.from_slow, end->second);
    }
    for (BasicBlock* const block : clones_.fast_blocks()) redirect(block);
    entry->setSuccessor(0, header_blocks_[start].from_slow);
    if (unchecked_.has_value()) return_from_unchecked_copy();
    redirect_labels();
    lower_marks();
    llvm::removeUnreachableBlocks(function_);
  }

 private:
  // First calls run checked code although the sample does not ask for it, so they may leave it.
  [[nodiscard]] bool leaves_long_calls() const {
    return first_.are_observed() && countdown_offset_ != nullptr && !unit_.is_traced &&
           !function_.hasFnAttribute(llvm::Attribute::OptimizeNone);
  }

  // Does the region reach a site in this instruction?
  [[nodiscard]] bool has_sites(const llvm::Instruction& instruction) const {
    if (mark_of(instruction, unit_) != nullptr) return true;
    const auto* const call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    return call != nullptr && acyclic_functions_.can_extend_region(*call);
  }

  // Does the instruction neither read nor write the countdown?
  [[nodiscard]] bool preserves_countdown(const llvm::Instruction& instruction) const {
    const auto* const call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    if (call == nullptr || llvm::isa<llvm::IntrinsicInst>(call) || call->isInlineAsm() ||
        mark_of(*call, unit_) != nullptr || acyclic_functions_.preserves_countdown(*call))
      return true;
    if (llvm::isa<llvm::InvokeInst>(call)) return false;
    const auto* const callee =
        llvm::dyn_cast<llvm::Function>(call->getCalledOperand()->stripPointerCasts());
    return callee != nullptr && is_weightless_(*callee);
  }

  [[nodiscard]] bool preserves_countdown(const llvm::Loop& loop) const {
    const auto can_be_split = [](const BasicBlock* block) {
      return llvm::isa<llvm::BranchInst>(block->getTerminator()) ||
             llvm::isa<llvm::SwitchInst>(block->getTerminator());
    };
    bool has_marks = false;
    for (const BasicBlock* const block : loop.blocks()) {
      if (!can_be_split(block) || block->isEHPad() || block->hasAddressTaken()) return false;
      for (const llvm::Instruction& instruction : *block) {
        if (!preserves_countdown(instruction)) return false;
        has_marks = has_marks || has_sites(instruction);
      }
    }
    for (const BasicBlock* const before : llvm::predecessors(loop.getHeader())) {
      if (!can_be_split(before)) return false;
    }
    return has_marks;
  }

  // The maximal number of loops with checks. Both copies meet where a region begins, in all
  // variables, so compile time grows with the product of loops and variables.
  [[nodiscard]] std::size_t max_region_loops() const {
    const BasicBlock& entry = function_.getEntryBlock();
    const auto variables = static_cast<std::size_t>(std::count_if(
        entry.begin(), entry.end(),
        [](const llvm::Instruction& one) { return llvm::isa<llvm::AllocaInst>(one); }));
    return std::max<std::size_t>(1, kMaxMergedValues / std::max<std::size_t>(1, variables));
  }

  // The targets of back edges, without those of computed jumps.
  static std::vector<BasicBlock*> loop_headers(const BackEdges& back_edges) {
    std::set<const BasicBlock*> led_to;
    for (const auto& [block, number] : back_edges.edges) {
      const llvm::Instruction* const end = block->getTerminator();
      if (!llvm::isa<llvm::IndirectBrInst>(end)) led_to.insert(end->getSuccessor(number));
    }
    std::vector<BasicBlock*> heads;
    std::copy_if(back_edges.post_order.begin(), back_edges.post_order.end(),
                 std::back_inserter(heads),
                 [&](BasicBlock* block) { return led_to.contains(block); });
    return heads;
  }

  // In large functions, regions extend through the smaller loops.
  void merge_small_loops() {
    std::vector<BasicBlock*> heads = loop_headers(back_edges_);
    const std::size_t most = max_region_loops();
    if (heads.size() <= most) return;
    llvm::DominatorTree dominators(function_);
    const llvm::LoopInfo loops(dominators);
    const auto size = [&](BasicBlock* head) {
      const llvm::Loop* const loop = loops.getLoopFor(head);
      // An irreducible cycle may be of any size.
      return loop != nullptr && loop->getHeader() == head ? loop->getNumBlocks() : UINT_MAX;
    };
    std::stable_sort(heads.begin(), heads.end(),
                     [&](BasicBlock* left, BasicBlock* right) { return size(left) > size(right); });
    const std::set<BasicBlock*> dropped(heads.begin() + static_cast<std::ptrdiff_t>(most),
                                        heads.end());
    back_edges_.edges.remove_if([&](const Edge& edge) {
      const llvm::Instruction* const end = edge.first->getTerminator();
      if (llvm::isa<llvm::IndirectBrInst>(end) || !dropped.contains(end->getSuccessor(edge.second)))
        return false;
      merged_edges_.insert(edge);
      return true;
    });
  }

  // Does any path to the next region contain a site? A merged loop?
  void find_sites_ahead() {
    for (BasicBlock* const block : back_edges_.post_order) {
      const llvm::Instruction* const last = block->getTerminator();
      for (unsigned i = 0; i < last->getNumSuccessors(); ++i) {
        if (merged_edges_.contains({block, i}) ||
            (!back_edges_.edges.contains({block, i}) &&
             has_merged_ahead_.contains(last->getSuccessor(i))))
          has_merged_ahead_.insert(block);
      }
      bool has = std::any_of(block->begin(), block->end(),
                             [&](const llvm::Instruction& one) { return has_sites(one); });
      const llvm::Instruction* const end = block->getTerminator();
      for (unsigned i = 0; i < end->getNumSuccessors() && !has; ++i)
        has =
            merged_edges_.contains({block, i}) || (!back_edges_.edges.contains({block, i}) &&
                                                   has_sites_ahead_.contains(end->getSuccessor(i)));
      if (has) has_sites_ahead_.insert(block);
    }
  }

  // After the last iteration in the slow copy of an unrolled loop, its region ends: region_ends_.
  void roll_up_slow_copies() {
    llvm::AllocaInst* counter = nullptr;
    for (const UnrolledLoop& loop : unrolled_loops_) {
      if (!headers_.contains(loop.header)) continue;
      if (counter == nullptr) {
        counter = new llvm::AllocaInst(llvm::Type::getInt32Ty(function_.getContext()), 0,
                                       "telltale.iterations", function_.getEntryBlock().begin());
      }
      BasicBlock* const end =
          BasicBlock::Create(function_.getContext(), "telltale.end", &function_, loop.header);
      region_ends_[loop.header] = end;
      slow_entries_[loop.header] = roll_up_slow_copy(loop, clones_, *counter, end);
    }
  }

  // Where the slow copy of a region begins.
  BasicBlock* slow_entry(BasicBlock* header) {
    const auto found = slow_entries_.find(header);
    return found != slow_entries_.end() ? found->second : clones_.slow_clone(header);
  }

  // The first observed regions end at the exits of loops; without a check there, the fast copy
  // executes the code after the loop.
  void find_places_after_loops() {
    for (BasicBlock* const block : blocks_after_loops(function_)) {
      if (!block->isEHPad() && !block->hasAddressTaken() && !headers_.contains(block) &&
          has_sites_ahead_.contains(block))
        places_after_loops_.push_back(block);
    }
  }

  // The three ways into a region: from outside, from the fast copy, and from the slow copy. The
  // first and the last enter the fast copy through one block, the preheader. So the fast copy is a
  // loop without the slow copy, in a loop around both.
  struct HeaderBlocks {
    BasicBlock* fast_preheader = nullptr;
    BasicBlock* from_outside = nullptr;
    BasicBlock* from_fast = nullptr;
    BasicBlock* from_slow = nullptr;
  };

  void count_regions() {
    statistics_.regions += static_cast<unsigned>(headers_.size());
    for (BasicBlock* const header : headers_)
      statistics_.weightless_regions += has_sites_ahead_.contains(header) ? 0 : 1;
  }

  BasicBlock* add_fast_preheader(BasicBlock* header) {
    BasicBlock* const fast_preheader =
        BasicBlock::Create(function_.getContext(), "telltale.outer", &function_, header);
    llvm::BranchInst::Create(header, fast_preheader);
    return fast_preheader;
  }

  // The slow copy of a region that is in the sample.
  BasicBlock* sampled_region(BasicBlock* header) {
    if (!first_regions_.has_value()) return slow_entry(header);
    BasicBlock* const block =
        BasicBlock::Create(function_.getContext(), "telltale.sampled", &function_, header);
    llvm::IRBuilder<> builder(block);
    builder.CreateStore(sample_bank(builder), first_regions_->bank());
    builder.CreateBr(slow_entry(header));
    return block;
  }

  BasicBlock* add_check(BasicBlock* header, BasicBlock* fast, BasicBlock* other) {
    BasicBlock* const test =
        BasicBlock::Create(function_.getContext(), "telltale.test", &function_, header);
    llvm::IRBuilder<> builder(test);
    if (!has_sites_ahead_.contains(header) && unit_.options.specialize_empty_regions) {
      builder.CreateBr(fast);
    } else {
      if (unchecked_.has_value() && unchecked_->can_leave_at(header))
        other = unchecked_->make_leave_check(header, other, codegen_.countdowns, countdown_offset_);
      countdown_.emit_check(builder, cached_blocks_.contains(header), fast, sampled_region(header),
                            other);
    }
    return test;
  }

  // Leads both copies to the check wherever a region begins.
  void redirect(BasicBlock* block) {
    llvm::Instruction* const fast = block->getTerminator();
    llvm::Instruction* const slow = clones_.slow_clone(block)->getTerminator();
    for (unsigned i = 0; i < fast->getNumSuccessors(); ++i) {
      const auto found = header_blocks_.find(fast->getSuccessor(i));
      if (found == header_blocks_.end()) continue;
      const HeaderBlocks& ends = found->second;
      const bool begins = back_edges_.edges.contains({block, i});
      // A computed jump has one target, whichever copy it is in.
      const bool is_computed = llvm::isa<llvm::IndirectBrInst>(fast);
      if (begins) slow->setSuccessor(i, ends.from_slow);
      fast->setSuccessor(i, !begins       ? ends.from_outside
                            : is_computed ? ends.from_slow
                                          : ends.from_fast);
    }
  }

  // The address of a label is that of the check.
  void redirect_labels() {
    for (BasicBlock* const block : clones_.fast_blocks()) {
      for (BasicBlock* const one : {block, clones_.slow_clone(block)}) {
        llvm::BlockAddress* const address =
            one->hasAddressTaken() ? llvm::BlockAddress::lookup(one) : nullptr;
        if (address == nullptr) continue;
        BasicBlock* const to =
            header_blocks_.contains(block) ? header_blocks_[block].from_slow : block;
        if (to != one) address->replaceAllUsesWith(llvm::BlockAddress::get(to));
      }
    }
  }

  // An operation for which something is left of a budget is observed, and the call stays in checked
  // code for a while, which finds what else is to be observed.
  void return_from_unchecked_copy() {
    for (BasicBlock* const target : unchecked_->targets()) {
      if (!has_sites_ahead_.contains(target)) continue;
      first_regions_->insert_check(unchecked_->clone_of(target), unchecked_->make_return(target),
                                   Takes::kAll);
    }
  }

  llvm::Value* emit_bank(llvm::IRBuilderBase& at) {
    return first_regions_.has_value() ? at.CreateLoad(at.getInt64Ty(), first_regions_->bank())
                                      : nullptr;
  }

  void lower_marks() {
    std::vector<std::pair<llvm::CallInst*, llvm::CallInst*>> both;
    for (BasicBlock* const block : clones_.fast_blocks()) {
      for (llvm::Instruction& instruction : *block) {
        if (!has_sites(instruction)) continue;
        if (mark_of(instruction, unit_) == nullptr) {
          auto& call = llvm::cast<llvm::CallBase>(instruction);
          const bool is_passed = reach_.has_value() && reach_->is_passed(*block);
          acyclic_functions_.retarget_fast(call, is_passed);
          if (unchecked_.has_value())
            acyclic_functions_.retarget_fast(*unchecked_->clone_of(&call), is_passed);
          llvm::CallBase* const slow = clones_.slow_clone(&call);
          llvm::IRBuilder<> builder(slow);
          acyclic_functions_.retarget_slow(*slow, emit_bank(builder));
          continue;
        }
        auto* const call = llvm::cast<llvm::CallInst>(&instruction);
        both.emplace_back(call, clones_.slow_clone(call));
        if (unchecked_.has_value()) erase_mark(*unchecked_->clone_of(call));
      }
    }
    if (first_observations_.has_value()) {
      for (llvm::CallBase* const call : first_observations_->emit()) {
        if (acyclic_functions_.can_extend_region(*call))
          acyclic_functions_.retarget_fast(*call, false);
      }
    }
    // After the observations of single blocks, which are copied without this check.
    for (BasicBlock* const block : places_after_loops_)
      first_regions_->insert_check(block, clones_.slow_clone(block), Takes::kOne);
    for (const auto& [fast, slow] : both) {
      const Mark& mark = *mark_of(*fast, unit_);
      statistics_.sites += static_cast<unsigned>(mark.sites.size());
      llvm::IRBuilder<> builder(slow->getNextNode());
      codegen_.cold_observers.emit(builder, *slow, mark, emit_bank(builder));
      erase_mark(*fast);
      erase_mark(*slow);
    }
  }

  llvm::Function& function_;
  const TranslationUnit& unit_;
  Codegen& codegen_;
  const IsWeightless& is_weightless_;
  AcyclicFunctions& acyclic_functions_;
  SamplingStatistics& statistics_;
  RegionCountdown countdown_;
  llvm::Value* countdown_offset_;  // null: each call is asked
  FirstExecutions& first_;
  std::optional<FirstObservations> first_observations_;
  std::optional<RegionReach> reach_;
  std::optional<FirstRegions> first_regions_;  // nothing: there is one bank
  std::vector<BasicBlock*> places_after_loops_;
  BackEdges back_edges_;
  std::set<Edge> merged_edges_;  // back edges at which no region begins
  llvm::SetVector<BasicBlock*> headers_;
  std::vector<UnrolledLoop> unrolled_loops_;
  std::map<BasicBlock*, BasicBlock*> slow_entries_;  // of unrolled loops, by header
  std::map<BasicBlock*, BasicBlock*> region_ends_;
  std::set<const BasicBlock*> cached_blocks_;  // blocks in which the countdown is cached
  std::set<const BasicBlock*> has_sites_ahead_;
  std::set<const BasicBlock*> has_merged_ahead_;  // the region extends through a loop
  std::map<BasicBlock*, HeaderBlocks> header_blocks_;
  BodyClones clones_;
  std::optional<UncheckedCopy> unchecked_;
};

// Without clones: each mark is a separate region.
void sample_each_mark(llvm::Function& function, const TranslationUnit& unit, Codegen& codegen,
                      SamplingStatistics& statistics) {
  RegionCountdown countdown(function, unit, codegen);
  for (llvm::CallInst* const call : marks_in(function, unit)) {
    const Mark& mark = *mark_of(*call, unit);
    statistics.sites += static_cast<unsigned>(mark.sites.size());
    BasicBlock* const before = call->getParent();
    BasicBlock* const after = before->splitBasicBlock(call->getNextNode()->getIterator());
    BasicBlock* const observes =
        BasicBlock::Create(function.getContext(), "telltale.observe", &function, after);
    llvm::IRBuilder<> builder(llvm::BranchInst::Create(after, observes));
    codegen.cold_observers.emit(builder, *call, mark);
    before->getTerminator()->eraseFromParent();
    builder.SetInsertPoint(before);
    countdown.emit_check(builder, false, after, observes, after);
    erase_mark(*call);
  }
}

}  // namespace

void sample_by_regions(llvm::Function& function, const TranslationUnit& unit, Codegen& codegen,
                       const IsWeightless& is_weightless, AcyclicFunctions& acyclic_functions,
                       SamplingStatistics& statistics) {
  ++statistics.functions;
  if (acyclic_functions.is_acyclic(function))
    return acyclic_functions.clone_and_dispatch(function, codegen, statistics);
  if (unit.options.sample_calls && codegen.countdowns.can_count_calls() &&
      can_sample_calls(function)) {
    llvm::Function* const sampled = make_call_sampler(function, unit, codegen, acyclic_functions);
    RegionSampler(*sampled, unit, codegen, is_weightless, acyclic_functions, statistics,
                  sampled->getArg(sampled->arg_size() - 1))
        .run();
    return;
  }
  if (can_be_cloned(function, true)) {
    RegionSampler(function, unit, codegen, is_weightless, acyclic_functions, statistics, nullptr)
        .run();
    return;
  }
  ++statistics.without_copies;
  sample_each_mark(function, unit, codegen, statistics);
}

}  // namespace telltale::instrument
