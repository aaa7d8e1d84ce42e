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

#include "transform/cloning.h"

namespace telltale::instrument {
namespace {

using llvm::BasicBlock;

// What is passed between two points of a function.
struct Weight {
  unsigned units = 0;  // of the countdown
  unsigned sites = 0;

  void add(const Weight& other) {
    constexpr unsigned kMost = 0x3fffffff;
    units = std::min(units + other.units, kMost);
    sites += other.sites;
  }
};

Weight weight_of(const Mark& mark, const Unit& unit) {
  Weight weight;
  for (const unsigned site : mark.sites) weight.add({unit.sites[site].units, 1});
  return weight;
}

// The countdown as the code of one function sees it, and what is done at a site.
class Countdown {
 public:
  Countdown(llvm::Function& function, const Unit& unit, Counters& counters, bool cached)
      : unit_(unit), counters_(counters), word_(llvm::Type::getInt32Ty(function.getContext())) {
    llvm::Module& module = *function.getParent();
    const bool threads = unit.options.threads;
    shared_ = llvm::cast<llvm::GlobalVariable>(module.getOrInsertGlobal(
        threads ? "telltale_sampler_countdown_r" : "telltale_sampler_countdown", word_));
    if (threads) shared_->setThreadLocalMode(llvm::GlobalVariable::InitialExecTLSModel);
    next_ =
        module.getOrInsertFunction(threads ? "telltale_sampler_next_r" : "telltale_sampler_next",
                                   llvm::Type::getInt64Ty(function.getContext()), word_);
    if (!cached) return;
    llvm::IRBuilder<> builder(&function.getEntryBlock(), function.getEntryBlock().begin());
    local_ = builder.CreateAlloca(word_, nullptr, "telltale.countdown");
  }

  llvm::Value* load(llvm::IRBuilderBase& at) { return at.CreateLoad(word_, place(at)); }
  void take_from_shared(llvm::IRBuilderBase& at) {
    if (local_ != nullptr) at.CreateStore(at.CreateLoad(word_, shared_place(at)), local_);
  }
  void give_to_shared(llvm::IRBuilderBase& at) {
    if (local_ != nullptr) at.CreateStore(at.CreateLoad(word_, local_), shared_place(at));
  }
  void pass_by(llvm::IRBuilderBase& at, unsigned units) {
    llvm::Value* const where = place(at);
    at.CreateStore(at.CreateSub(at.CreateLoad(word_, where), number(units)), where);
  }

  // Code before `before` that passes units at which nothing is to be observed.
  void pass_in_vain(llvm::Instruction* before, unsigned units) {
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

  // Replaces a mark by: count down and, if it is time, observe.
  void look(llvm::CallInst& call, const Mark& mark) {
    llvm::Instruction* const after = call.getNextNode();
    const auto sites = static_cast<unsigned>(mark.sites.size());
    const Weight weight = weight_of(mark, unit_);
    if (sites == 1 || weight.units != sites || unit_.options.annotate_sites) {
      for (unsigned i = 0; i < sites; ++i) one(call, mark, i, after);
    } else if (sites > 1) {
      // Most of the time none of the group is due.
      llvm::IRBuilder<> builder(after);
      llvm::Value* const now = load(builder);
      llvm::Value* const due = builder.CreateICmpSLE(now, number(sites));
      llvm::Instruction* quick = nullptr;
      llvm::Instruction* slow = nullptr;
      llvm::SplitBlockAndInsertIfThenElse(due, after->getIterator(), &slow, &quick,
                                          unlikely(after->getContext()));
      builder.SetInsertPoint(quick);
      pass_by(builder, sites);
      builder.SetInsertPoint(slow);
      builder.CreateStore(counters_.observe_group(builder, call, mark, now), place(builder));
    }
    remove_mark(call);
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
  void one(llvm::CallInst& call, const Mark& mark, unsigned index, llvm::Instruction* before) {
    const unsigned units = unit_.sites[mark.sites[index]].units;
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
    counters_.observe(builder, call, mark, index);
  }

  llvm::Value* shared_place(llvm::IRBuilderBase& at) {
    return unit_.options.threads ? static_cast<llvm::Value*>(at.CreateThreadLocalAddress(shared_))
                                 : shared_;
  }
  llvm::Value* place(llvm::IRBuilderBase& at) {
    return local_ != nullptr ? local_ : shared_place(at);
  }

  const Unit& unit_;
  Counters& counters_;
  llvm::IntegerType* word_;
  llvm::GlobalVariable* shared_ = nullptr;
  llvm::Value* local_ = nullptr;
  llvm::FunctionCallee next_;
};

// Makes the two copies. Regions begin at the function's entry, at the end of every backward jump,
// and after every call in which the countdown may change; only there may control move from one copy
// to the other.
class TwoCopies {
 public:
  TwoCopies(llvm::Function& function, const Unit& unit, Countdown& countdown,
            const Weightless& is_weightless, SamplingStatistics& statistics)
      : function_(function),
        unit_(unit),
        countdown_(countdown),
        is_weightless_(is_weightless),
        statistics_(statistics) {}

  void make() {
    entry_ = &function_.getEntryBlock();
    BasicBlock* const start = part_entry(function_);
    headers_.insert(start);
    part_pads(function_);
    part_at_calls();
    values_to_memory(function_);
    for (BasicBlock& block : function_) {
      if (&block != entry_) body_.push_back(&block);
    }
    jumps_ = find_jumps(start);
    for (const auto& [block, number] : jumps_.edges)
      headers_.insert(block->getTerminator()->getSuccessor(number));
    weigh();
    copy();
    for (BasicBlock* const header : headers_) add_test(header);
    lead_into(entry_->getTerminator(), 0);
    for (BasicBlock* const block : body_) redirect(block);
    pad();
    keep_countdown();
    replace_marks();
    llvm::removeUnreachableBlocks(function_);
  }

 private:
  BasicBlock* twin(BasicBlock* block) { return llvm::cast<BasicBlock>(copies_[block]); }

  [[nodiscard]] bool is_weighty(const llvm::CallBase& call) const {
    if (llvm::isa<llvm::IntrinsicInst>(call) || call.isInlineAsm() ||
        mark_of(call, unit_) != nullptr)
      return false;
    if (llvm::isa<llvm::InvokeInst>(call)) return true;
    const auto* const callee =
        llvm::dyn_cast<llvm::Function>(call.getCalledOperand()->stripPointerCasts());
    return callee == nullptr ? !call.hasFnAttr(kWeightlessCall) : !is_weightless_(*callee);
  }

  void part_at_calls() {
    std::vector<llvm::CallBase*> calls;
    for (llvm::Instruction& instruction : llvm::instructions(function_)) {
      auto* const call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (call != nullptr && is_weighty(*call)) calls.push_back(call);
    }
    for (llvm::CallBase* const call : calls) {
      gives_.push_back(call);
      if (auto* const invoke = llvm::dyn_cast<llvm::InvokeInst>(call)) {
        // One block for the result, which belongs to this copy; the region begins with the next.
        BasicBlock* const old = invoke->getNormalDest();
        BasicBlock* const result = BasicBlock::Create(function_.getContext(), "", &function_, old);
        BasicBlock* const after = BasicBlock::Create(function_.getContext(), "", &function_, old);
        llvm::BranchInst::Create(after, result);
        llvm::BranchInst::Create(old, after);
        old->replacePhiUsesWith(invoke->getParent(), after);
        invoke->setNormalDest(result);
        note_return(after);
        BasicBlock* const pad = invoke->getUnwindDest();
        if (pads_.insert(pad).second) note_return(pad->getSingleSuccessor());
      } else {
        note_return(call->getParent()->splitBasicBlock(call->getNextNode()->getIterator()));
      }
    }
  }

  void note_return(BasicBlock* block) {
    headers_.insert(block);
    takes_.insert(block);
  }

  [[nodiscard]] bool begins_region(const Edge& edge) const {
    return jumps_.edges.contains(edge) ||
           takes_.contains(edge.first->getTerminator()->getSuccessor(edge.second));
  }

  // A block's weight: what is on the heaviest way from its start to the next region, and the most
  // sites that are on one.
  void weigh() {
    for (BasicBlock* const block : jumps_.order) {
      Weight rest;
      const llvm::Instruction* const end = block->getTerminator();
      for (unsigned i = 0; i < end->getNumSuccessors(); ++i) {
        const Weight way = weight_behind({block, i});
        rest.units = std::max(rest.units, way.units);
        rest.sites = std::max(rest.sites, way.sites);
      }
      for (unsigned i = 0; i < end->getNumSuccessors() && unit_.options.balance_paths; ++i) {
        const unsigned way = weight_behind({block, i}).units;
        if (way < rest.units) missing_.push_back({{block, i}, rest.units - way});
      }
      for (const llvm::Instruction& instruction : *block) {
        if (const Mark* const mark = mark_of(instruction, unit_); mark != nullptr)
          rest.add(weight_of(*mark, unit_));
      }
      weights_[block] = rest;
    }
  }

  [[nodiscard]] Weight weight_behind(const Edge& edge) {
    return begins_region(edge) ? Weight()
                               : weights_[edge.first->getTerminator()->getSuccessor(edge.second)];
  }

  // -fbalance-paths: in the slow copy, what lighter ways lack is passed on them.
  void pad() {
    std::map<std::pair<BasicBlock*, BasicBlock*>, BasicBlock*> made;
    for (const auto& [edge, units] : missing_) {
      llvm::Instruction* const end = twin(edge.first)->getTerminator();
      BasicBlock* const target = end->getSuccessor(edge.second);
      BasicBlock*& between = made[{edge.first, target}];
      if (between == nullptr) {
        between = BasicBlock::Create(function_.getContext(), "telltale.pad", &function_, target);
        countdown_.pass_in_vain(llvm::BranchInst::Create(target, between), units);
      }
      end->setSuccessor(edge.second, between);
    }
  }

  void copy() {
    std::vector<BasicBlock*> made;
    for (BasicBlock* const block : body_) {
      BasicBlock* const other = llvm::CloneBasicBlock(block, copies_, ".slow", &function_);
      copies_[block] = other;
      made.push_back(other);
    }
    llvm::remapInstructionsInBlocks(made, copies_);
  }

  // `if (countdown > weight) fast else slow`, unless there is nothing to choose.
  void add_test(BasicBlock* header) {
    BasicBlock* const test =
        BasicBlock::Create(function_.getContext(), "telltale.test", &function_, header);
    tests_[header] = test;
    llvm::IRBuilder<> builder(test);
    if (takes_.contains(header)) countdown_.take_from_shared(builder);
    const Weight weight = weights_[header];
    ++statistics_.regions;
    if (weight.sites == 0 && unit_.options.specialize_empty_regions) {
      ++statistics_.weightless_regions;
      builder.CreateBr(header);
    } else if (weight.sites == 1 && unit_.options.specialize_singleton_regions) {
      ++statistics_.singleton_regions;
      builder.CreateBr(twin(header));
    } else {
      llvm::Value* const soon =
          builder.CreateICmpSLE(countdown_.load(builder), countdown_.number(weight.units));
      BasicBlock* fast = header;
      if (unit_.options.balance_paths) {
        // Whichever way it takes, it takes this.
        fast = BasicBlock::Create(function_.getContext(), "telltale.fast", &function_, header);
        llvm::IRBuilder<> whole(llvm::BranchInst::Create(header, fast));
        countdown_.pass_by(whole, weight.units);
      }
      builder.CreateCondBr(
          soon, twin(header), fast,
          unit_.options.predict_checks ? Countdown::unlikely(function_.getContext()) : nullptr);
    }
  }

  void lead_into(llvm::Instruction* end, unsigned successor) {
    end->setSuccessor(successor, tests_[end->getSuccessor(successor)]);
  }

  // Both copies of a block go to the test wherever a region begins.
  void redirect(BasicBlock* block) {
    llvm::Instruction* const fast = block->getTerminator();
    llvm::Instruction* const slow = twin(block)->getTerminator();
    for (unsigned i = 0; i < fast->getNumSuccessors(); ++i) {
      if (!begins_region({block, i})) continue;
      BasicBlock* const test = tests_[fast->getSuccessor(i)];
      fast->setSuccessor(i, test);
      slow->setSuccessor(i, test);
    }
  }

  // The shared countdown is right whenever other code may look at it.
  void keep_countdown() {
    llvm::IRBuilder<> builder(function_.getContext());
    builder.SetInsertPoint(entry_->getTerminator());
    countdown_.take_from_shared(builder);
    std::vector<llvm::Instruction*> places;
    for (llvm::CallBase* const call : gives_) {
      places.push_back(call);
      places.push_back(llvm::cast<llvm::Instruction>(copies_[call]));
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
      countdown_.give_to_shared(builder);
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
      if (const auto sites = static_cast<unsigned>(mark.sites.size()); sites > 0) {
        llvm::IRBuilder<> builder(fast->getNextNode());
        if (!unit_.options.balance_paths) countdown_.pass_by(builder, weight_of(mark, unit_).units);
        statistics_.sites += sites;
      }
      remove_mark(*fast);
      countdown_.look(*slow, mark);
    }
  }

  llvm::Function& function_;
  const Unit& unit_;
  Countdown& countdown_;
  const Weightless& is_weightless_;
  SamplingStatistics& statistics_;
  BasicBlock* entry_ = nullptr;
  std::vector<BasicBlock*> body_;  // the fast copy, which is the original
  llvm::SetVector<BasicBlock*> headers_;
  std::set<BasicBlock*> takes_;  // headers where the shared countdown may have changed
  std::set<BasicBlock*> pads_;
  Jumps jumps_;
  std::vector<llvm::CallBase*> gives_;
  std::map<BasicBlock*, Weight> weights_;
  std::vector<std::pair<Edge, unsigned>>
      missing_;  // what a way lacks to be as heavy as the heaviest
  std::map<BasicBlock*, BasicBlock*> tests_;
  llvm::ValueToValueMapTy copies_;
};

}  // namespace

void sample_function(llvm::Function& function, const Unit& unit, Counters& counters,
                     const Weightless& is_weightless, SamplingStatistics& statistics) {
  ++statistics.functions;
  const bool copied = can_be_copied(function, false);
  Countdown countdown(function, unit, counters, copied && unit.options.cache_countdown);
  if (copied) {
    TwoCopies(function, unit, countdown, is_weightless, statistics).make();
    return;
  }
  ++statistics.without_copies;
  for (llvm::CallInst* const call : marks_in(function, unit)) {
    const Mark& mark = *mark_of(*call, unit);
    statistics.sites += static_cast<unsigned>(mark.sites.size());
    countdown.look(*call, mark);
  }
}

void always_observe(llvm::Function& function, const Unit& unit, Counters& counters) {
  // Above so many comparisons in a function those of one assignment are a call: code for each takes
  // clang more than linear time. So they are where an assignment has more than a few: clang makes
  // vectors of them, and room in the frame for all at once.
  constexpr std::size_t kMostInline = 4000;
  constexpr std::size_t kMostInlineAtOnce = 8;
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
        (comparisons > kMostInline || mark.sites.size() > kMostInlineAtOnce)) {
      counters.observe_seldom(builder, *call, mark);
    } else {
      for (unsigned i = 0; i < mark.sites.size(); ++i) counters.observe(builder, *call, mark, i);
    }
    remove_mark(*call);
  }
}

}  // namespace telltale::instrument
