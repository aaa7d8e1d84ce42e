#include "transform/site_sampling.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
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

#include "analysis/ir_marks.h"
#include "transform/cloning.h"

namespace telltale::instrument {
namespace {

using llvm::BasicBlock;

// The sites on a path.
struct PathWeight {
  unsigned units = 0;  // subtracted from the countdown
  unsigned sites = 0;

  void add(const PathWeight& other) {
    constexpr unsigned kMost = 0x3fffffff;
    units = std::min(units + other.units, kMost);
    sites += other.sites;
  }
};

PathWeight weight_of(const Mark& mark, const TranslationUnit& unit) {
  PathWeight weight;
  for (const unsigned site : mark.sites) weight.add({unit.sites[site].weight, 1});
  return weight;
}

// The countdown of sites in one function, and the check at a site.
class SiteCountdown {
 public:
  SiteCountdown(llvm::Function& function, const TranslationUnit& unit, Codegen& codegen,
                bool cached)
      : unit_(unit), codegen_(codegen), word_(llvm::Type::getInt32Ty(function.getContext())) {
    llvm::Module& module = *function.getParent();
    const bool threads = unit.options.threads;
    global_ = llvm::cast<llvm::GlobalVariable>(module.getOrInsertGlobal(
        threads ? "telltale_sampler_countdown_r" : "telltale_sampler_countdown", word_));
    if (threads) global_->setThreadLocalMode(llvm::GlobalVariable::InitialExecTLSModel);
    next_ =
        module.getOrInsertFunction(threads ? "telltale_sampler_next_r" : "telltale_sampler_next",
                                   llvm::Type::getInt64Ty(function.getContext()), word_);
    if (!cached) return;
    llvm::IRBuilder<> builder(&function.getEntryBlock(), function.getEntryBlock().begin());
    local_ = builder.CreateAlloca(word_, nullptr, "telltale.countdown");
  }

  llvm::Value* load(llvm::IRBuilderBase& at) { return at.CreateLoad(word_, place(at)); }
  void load_from_global(llvm::IRBuilderBase& at) {
    if (local_ != nullptr) at.CreateStore(at.CreateLoad(word_, global_address(at)), local_);
  }
  void store_to_global(llvm::IRBuilderBase& at) {
    if (local_ != nullptr) at.CreateStore(at.CreateLoad(word_, local_), global_address(at));
  }
  void emit_subtract(llvm::IRBuilderBase& at, unsigned units) {
    llvm::Value* const where = place(at);
    at.CreateStore(at.CreateSub(at.CreateLoad(word_, where), number(units)), where);
  }

  // Inserts code before `before` that subtracts sites which are not observed.
  void emit_skip(llvm::Instruction* before, unsigned units) {
    llvm::IRBuilder<> builder(before);
    llvm::Value* const now = load(builder);
    builder.CreateStore(builder.CreateSub(now, number(units)), place(builder));
    builder.SetInsertPoint(llvm::SplitBlockAndInsertIfThen(
        builder.CreateICmpSLE(now, number(units)), before->getIterator(), false,
        unlikely(before->getContext())));
    const llvm::FunctionCallee pass = before->getModule()->getOrInsertFunction(
        unit_.options.threads ? "telltale_sampler_pass_r_v1" : "telltale_sampler_pass_v1", word_,
        word_, word_);
    builder.CreateStore(builder.CreateCall(pass, {now, number(units)}), place(builder));
  }

  // Lowers a mark: counts down, and observes the sites that are due.
  void emit_mark_check(llvm::CallInst& call, const Mark& mark) {
    llvm::Instruction* const after = call.getNextNode();
    const auto sites = static_cast<unsigned>(mark.sites.size());
    const PathWeight weight = weight_of(mark, unit_);
    if (sites == 1 || weight.units != sites || unit_.options.annotate_sites) {
      for (unsigned i = 0; i < sites; ++i) emit_site_check(call, mark, i, after);
    } else if (sites > 1) {
      // Usually no site of the group is due.
      llvm::IRBuilder<> builder(after);
      llvm::Value* const now = load(builder);
      llvm::Value* const due = builder.CreateICmpSLE(now, number(sites));
      llvm::Instruction* quick = nullptr;
      llvm::Instruction* slow = nullptr;
      llvm::SplitBlockAndInsertIfThenElse(due, after->getIterator(), &slow, &quick,
                                          unlikely(after->getContext()));
      builder.SetInsertPoint(quick);
      emit_subtract(builder, sites);
      builder.SetInsertPoint(slow);
      builder.CreateStore(codegen_.cold_observers.emit_group_check(builder, call, mark, now),
                          place(builder));
    }
    erase_mark(call);
  }

  [[nodiscard]] llvm::ConstantInt* number(unsigned value) const {
    return llvm::ConstantInt::get(word_, value);
  }
  static llvm::MDNode* unlikely(llvm::LLVMContext& context) {
    constexpr std::uint32_t kSeldom = 1;
    constexpr std::uint32_t kOften = 1000;
    return llvm::MDBuilder(context).createBranchWeights(kSeldom, kOften);
  }

 private:
  void emit_site_check(llvm::CallInst& call, const Mark& mark, unsigned index,
                       llvm::Instruction* before) {
    const unsigned units = unit_.sites[mark.sites[index]].weight;
    if (units == 0) return;
    llvm::IRBuilder<> builder(before);
    llvm::Value* const where = place(builder);
    llvm::Value* const left = builder.CreateSub(builder.CreateLoad(word_, where), number(units));
    builder.CreateStore(left, where);
    llvm::Instruction* const due = llvm::SplitBlockAndInsertIfThen(
        builder.CreateICmpSLE(left, number(0)), before->getIterator(), false,
        unlikely(before->getContext()));
    builder.SetInsertPoint(due);
    llvm::Value* const answer = builder.CreateCall(next_, {left});
    builder.CreateStore(builder.CreateTrunc(answer, word_), place(builder));
    constexpr std::uint64_t kHalf = 32;
    llvm::Value* const fires =
        builder.CreateICmpNE(builder.CreateLShr(answer, kHalf), builder.getInt64(0));
    llvm::Instruction* const now =
        llvm::SplitBlockAndInsertIfThen(fires, due->getIterator(), false);
    builder.SetInsertPoint(now);
    codegen_.observations.emit(builder, call, mark, index);
  }

  llvm::Value* global_address(llvm::IRBuilderBase& at) {
    return unit_.options.threads ? static_cast<llvm::Value*>(at.CreateThreadLocalAddress(global_))
                                 : global_;
  }
  llvm::Value* place(llvm::IRBuilderBase& at) {
    return local_ != nullptr ? local_ : global_address(at);
  }

  const TranslationUnit& unit_;
  Codegen& codegen_;
  llvm::IntegerType* word_;
  llvm::GlobalVariable* global_ = nullptr;
  llvm::Value* local_ = nullptr;
  llvm::FunctionCallee next_;
};

// Makes the two copies of a function. Regions begin at the entry, at the targets of back edges, and
// after each call that may change the countdown. Only there does control move between the copies.
class SiteSampler {
 public:
  SiteSampler(llvm::Function& function, const TranslationUnit& unit, SiteCountdown& countdown,
              const IsWeightless& is_weightless, SamplingStatistics& statistics)
      : function_(function),
        unit_(unit),
        countdown_(countdown),
        is_weightless_(is_weightless),
        statistics_(statistics) {}

  void run() {
    entry_ = &function_.getEntryBlock();
    BasicBlock* const start = split_entry(function_);
    headers_.insert(start);
    split_landing_pads(function_);
    split_at_calls();
    demote_values(function_);
    back_edges_ = find_back_edges(start);
    for (const auto& [block, number] : back_edges_.edges)
      headers_.insert(block->getTerminator()->getSuccessor(number));
    compute_weights();
    clones_.clone(function_);
    for (BasicBlock* const header : headers_) add_check(header);
    redirect_successor(entry_->getTerminator(), 0);
    for (BasicBlock* const block : clones_.fast_blocks()) redirect(block);
    balance_paths();
    sync_countdown();
    lower_marks();
    llvm::removeUnreachableBlocks(function_);
  }

 private:
  [[nodiscard]] bool is_weighty(const llvm::CallBase& call) const {
    if (llvm::isa<llvm::IntrinsicInst>(call) || call.isInlineAsm() ||
        mark_of(call, unit_) != nullptr)
      return false;
    if (llvm::isa<llvm::InvokeInst>(call)) return true;
    const auto* const callee =
        llvm::dyn_cast<llvm::Function>(call.getCalledOperand()->stripPointerCasts());
    return callee == nullptr ? !call.hasFnAttr(kWeightlessCall) : !is_weightless_(*callee);
  }

  void split_at_calls() {
    std::vector<llvm::CallBase*> calls;
    for (llvm::Instruction& instruction : llvm::instructions(function_)) {
      auto* const call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (call != nullptr && is_weighty(*call)) calls.push_back(call);
    }
    for (llvm::CallBase* const call : calls) {
      weighty_calls_.push_back(call);
      if (auto* const invoke = llvm::dyn_cast<llvm::InvokeInst>(call)) {
        // The result belongs to this copy and needs a block. The region begins with the next one.
        BasicBlock* const old = invoke->getNormalDest();
        BasicBlock* const result = BasicBlock::Create(function_.getContext(), "", &function_, old);
        BasicBlock* const after = BasicBlock::Create(function_.getContext(), "", &function_, old);
        llvm::BranchInst::Create(after, result);
        llvm::BranchInst::Create(old, after);
        old->replacePhiUsesWith(invoke->getParent(), after);
        invoke->setNormalDest(result);
        add_reload_header(after);
        BasicBlock* const pad = invoke->getUnwindDest();
        if (pads_.insert(pad).second) add_reload_header(pad->getSingleSuccessor());
      } else {
        add_reload_header(call->getParent()->splitBasicBlock(call->getNextNode()->getIterator()));
      }
    }
  }

  void add_reload_header(BasicBlock* block) {
    headers_.insert(block);
    reload_headers_.insert(block);
  }

  [[nodiscard]] bool begins_region(const Edge& edge) const {
    return back_edges_.edges.contains(edge) ||
           reload_headers_.contains(edge.first->getTerminator()->getSuccessor(edge.second));
  }

  // A block's weight: the maximal weight of a path from its start to the next region, and the
  // maximal number of sites on one.
  void compute_weights() {
    for (BasicBlock* const block : back_edges_.post_order) {
      PathWeight rest;
      const llvm::Instruction* const end = block->getTerminator();
      for (unsigned i = 0; i < end->getNumSuccessors(); ++i) {
        const PathWeight way = weight_after({block, i});
        rest.units = std::max(rest.units, way.units);
        rest.sites = std::max(rest.sites, way.sites);
      }
      for (unsigned i = 0; i < end->getNumSuccessors() && unit_.options.balance_paths; ++i) {
        const unsigned way = weight_after({block, i}).units;
        if (way < rest.units) imbalances_.push_back({{block, i}, rest.units - way});
      }
      for (const llvm::Instruction& instruction : *block) {
        if (const Mark* const mark = mark_of(instruction, unit_); mark != nullptr)
          rest.add(weight_of(*mark, unit_));
      }
      weights_[block] = rest;
    }
  }

  [[nodiscard]] PathWeight weight_after(const Edge& edge) {
    return begins_region(edge) ? PathWeight()
                               : weights_[edge.first->getTerminator()->getSuccessor(edge.second)];
  }

  // -fbalance-paths: subtracts in the slow copy, on lighter paths, what they lack.
  void balance_paths() {
    std::map<std::pair<BasicBlock*, BasicBlock*>, BasicBlock*> made;
    for (const auto& [edge, units] : imbalances_) {
      llvm::Instruction* const end = clones_.slow_clone(edge.first)->getTerminator();
      BasicBlock* const target = end->getSuccessor(edge.second);
      BasicBlock*& between = made[{edge.first, target}];
      if (between == nullptr) {
        between = BasicBlock::Create(function_.getContext(), "telltale.pad", &function_, target);
        countdown_.emit_skip(llvm::BranchInst::Create(target, between), units);
      }
      end->setSuccessor(edge.second, between);
    }
  }

  // `if (countdown > weight) fast else slow`, unless only one of them is possible.
  void add_check(BasicBlock* header) {
    BasicBlock* const test =
        BasicBlock::Create(function_.getContext(), "telltale.test", &function_, header);
    checks_[header] = test;
    llvm::IRBuilder<> builder(test);
    if (reload_headers_.contains(header)) countdown_.load_from_global(builder);
    const PathWeight weight = weights_[header];
    ++statistics_.regions;
    if (weight.sites == 0 && unit_.options.specialize_empty_regions) {
      ++statistics_.weightless_regions;
      builder.CreateBr(header);
    } else if (weight.sites == 1 && unit_.options.specialize_singleton_regions) {
      ++statistics_.singleton_regions;
      builder.CreateBr(clones_.slow_clone(header));
    } else {
      llvm::Value* const soon =
          builder.CreateICmpSLE(countdown_.load(builder), countdown_.number(weight.units));
      BasicBlock* fast = header;
      if (unit_.options.balance_paths) {
        // All paths have this weight.
        fast = BasicBlock::Create(function_.getContext(), "telltale.fast", &function_, header);
        llvm::IRBuilder<> whole(llvm::BranchInst::Create(header, fast));
        countdown_.emit_subtract(whole, weight.units);
      }
      builder.CreateCondBr(
          soon, clones_.slow_clone(header), fast,
          unit_.options.predict_checks ? SiteCountdown::unlikely(function_.getContext()) : nullptr);
    }
  }

  void redirect_successor(llvm::Instruction* end, unsigned successor) {
    end->setSuccessor(successor, checks_[end->getSuccessor(successor)]);
  }

  // Leads both copies to the check wherever a region begins.
  void redirect(BasicBlock* block) {
    llvm::Instruction* const fast = block->getTerminator();
    llvm::Instruction* const slow = clones_.slow_clone(block)->getTerminator();
    for (unsigned i = 0; i < fast->getNumSuccessors(); ++i) {
      if (!begins_region({block, i})) continue;
      BasicBlock* const test = checks_[fast->getSuccessor(i)];
      fast->setSuccessor(i, test);
      slow->setSuccessor(i, test);
    }
  }

  // Stores the cached countdown before other code may read it.
  void sync_countdown() {
    llvm::IRBuilder<> builder(function_.getContext());
    builder.SetInsertPoint(entry_->getTerminator());
    countdown_.load_from_global(builder);
    std::vector<llvm::Instruction*> places;
    for (llvm::CallBase* const call : weighty_calls_) {
      places.push_back(call);
      places.push_back(clones_.slow_clone(call));
    }
    for (BasicBlock& block : function_) {
      llvm::Instruction* const end = block.getTerminator();
      if (llvm::isa<llvm::ReturnInst>(end) || llvm::isa<llvm::ResumeInst>(end))
        places.push_back(end);
      for (llvm::Instruction& instruction : block) {
        auto* const call = llvm::dyn_cast<llvm::CallInst>(&instruction);
        if (call != nullptr && call->doesNotReturn() && !is_weighty(*call)) places.push_back(call);
      }
    }
    for (llvm::Instruction* const place : places) {
      builder.SetInsertPoint(place);
      countdown_.store_to_global(builder);
    }
  }

  void lower_marks() {
    std::vector<std::pair<llvm::CallInst*, llvm::CallInst*>> both;
    for (BasicBlock* const block : clones_.fast_blocks()) {
      for (llvm::Instruction& instruction : *block) {
        if (mark_of(instruction, unit_) == nullptr) continue;
        auto* const call = llvm::cast<llvm::CallInst>(&instruction);
        both.emplace_back(call, clones_.slow_clone(call));
      }
    }
    for (const auto& [fast, slow] : both) {
      const Mark& mark = *mark_of(*fast, unit_);
      if (const auto sites = static_cast<unsigned>(mark.sites.size()); sites > 0) {
        llvm::IRBuilder<> builder(fast->getNextNode());
        if (!unit_.options.balance_paths)
          countdown_.emit_subtract(builder, weight_of(mark, unit_).units);
        statistics_.sites += sites;
      }
      erase_mark(*fast);
      countdown_.emit_mark_check(*slow, mark);
    }
  }

  llvm::Function& function_;
  const TranslationUnit& unit_;
  SiteCountdown& countdown_;
  const IsWeightless& is_weightless_;
  SamplingStatistics& statistics_;
  BasicBlock* entry_ = nullptr;
  llvm::SetVector<BasicBlock*> headers_;
  std::set<BasicBlock*> reload_headers_;  // headers where other code may have changed the countdown
  std::set<BasicBlock*> pads_;
  BackEdges back_edges_;
  std::vector<llvm::CallBase*> weighty_calls_;
  std::map<BasicBlock*, PathWeight> weights_;
  std::vector<std::pair<Edge, unsigned>>
      imbalances_;  // what an edge lacks to be as heavy as the heaviest
  std::map<BasicBlock*, BasicBlock*> checks_;
  BodyClones clones_;
};

}  // namespace

void sample_sites(llvm::Function& function, const TranslationUnit& unit, Codegen& codegen,
                  const IsWeightless& is_weightless, SamplingStatistics& statistics) {
  ++statistics.functions;
  const bool copied = can_be_cloned(function, false);
  SiteCountdown countdown(function, unit, codegen, copied && unit.options.cache_countdown);
  if (copied) {
    SiteSampler(function, unit, countdown, is_weightless, statistics).run();
    return;
  }
  ++statistics.without_copies;
  for (llvm::CallInst* const call : marks_in(function, unit)) {
    const Mark& mark = *mark_of(*call, unit);
    statistics.sites += static_cast<unsigned>(mark.sites.size());
    countdown.emit_mark_check(*call, mark);
  }
}

void observe_all_sites(llvm::Function& function, const TranslationUnit& unit, Codegen& codegen) {
  // In functions with more comparisons, those of one assignment are a call: clang's time for inline
  // code grows faster than linearly.
  constexpr std::size_t kMostInline = 4000;
  const std::vector<llvm::CallInst*> marks = marks_in(function, unit);
  std::size_t comparisons = 0;
  for (const llvm::CallInst* const call : marks) {
    const Mark& mark = *mark_of(*call, unit);
    comparisons += mark.scheme == Scheme::kScalarPairs ? mark.sites.size() : 0;
  }
  for (llvm::CallInst* const call : marks) {
    const Mark& mark = *mark_of(*call, unit);
    llvm::IRBuilder<> builder(call->getNextNode());
    if (mark.scheme == Scheme::kScalarPairs &&
        (comparisons > kMostInline || codegen.cold_observers.is_better_as_call(*call, mark))) {
      codegen.cold_observers.emit(builder, *call, mark);
    } else {
      for (unsigned i = 0; i < mark.sites.size(); ++i)
        codegen.observations.emit(builder, *call, mark, i);
    }
    erase_mark(*call);
  }
}

}  // namespace telltale::instrument
