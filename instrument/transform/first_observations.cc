#include "transform/first_observations.h"

#include <llvm/ADT/DepthFirstIterator.h>
#include <llvm/Analysis/BranchProbabilityInfo.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "analysis/ir_marks.h"
#include "analysis/plain_conditions.h"
#include "transform/cloning.h"
#include "transform/limit_edges.h"

namespace telltale::instrument {
namespace {

using llvm::BasicBlock;

// An edge is rarely taken if LLVM's heuristics say so: a condition about which nothing is known is
// estimated at 50 %, a comparison with a null pointer at 37 %. Or if it is taken when a number
// equals a constant (Ball and Larus, Branch Prediction for Free, PLDI 1993).
constexpr std::uint32_t kRarePercent = 40;

bool can_be_counted(const Mark& mark) {
  return mark.scheme != Scheme::kBounds && !mark.sites.empty();
}

bool is_equality(const BasicBlock& before, const BasicBlock& block, const TranslationUnit& unit) {
  const auto* const branch = llvm::dyn_cast<llvm::BranchInst>(before.getTerminator());
  if (branch == nullptr || !branch->isConditional()) return false;
  const llvm::Value* condition = branch->getCondition();
  const auto* const mark = llvm::dyn_cast<llvm::CallInst>(condition);
  if (mark != nullptr && mark_of(*mark, unit) != nullptr) condition = mark->getArgOperand(1);
  const auto* const comparison = llvm::dyn_cast<llvm::ICmpInst>(condition);
  if (comparison == nullptr || !comparison->isEquality() ||
      !llvm::isa<llvm::ConstantInt>(comparison->getOperand(1)))
    return false;
  // `x != 0` is also how clang converts to bool.
  if (llvm::cast<llvm::ConstantInt>(comparison->getOperand(1))->isZero()) return false;
  const bool when_equal = comparison->getPredicate() == llvm::CmpInst::ICMP_EQ;
  return branch->getSuccessor(when_equal ? 0 : 1) == &block;
}

// Is the block on a limit edge? If the exits of the loop were split again, the first block on the
// edge is the predecessor of the block that split_limit_edges() inserted.
bool is_at_limit(const BasicBlock& block) {
  const BasicBlock* const next = block.getSingleSuccessor();
  return is_limit_edge(block) || (next != nullptr && is_limit_edge(*next));
}

}  // namespace

FirstObservations::FirstObservations(llvm::Function& function, const TranslationUnit& unit,
                                     Codegen& codegen, const RegionReach* reach)
    : unit_(unit), codegen_(codegen) {
  std::optional<PlainConditions> plain(std::in_place, function, unit);
  llvm::DominatorTree dominators(function);
  const llvm::LoopInfo loops(dominators);
  const llvm::BranchProbabilityInfo probabilities(function, loops);
  plain.reset();
  std::set<const BasicBlock*> rare;
  const auto is_rare = [&](const llvm::DomTreeNode& node) {
    if (node.getIDom() == nullptr) return false;
    if (rare.contains(node.getIDom()->getBlock())) return true;
    const BasicBlock* const before = node.getBlock()->getUniquePredecessor();
    return before != nullptr && (is_equality(*before, *node.getBlock(), unit) ||
                                 probabilities.getEdgeProbability(before, node.getBlock()) <
                                     llvm::BranchProbability(kRarePercent, 100));
  };
  // In the tree's depth-first order, a block follows those that dominate it.
  for (const llvm::DomTreeNode* const node : llvm::depth_first(dominators.getRootNode())) {
    BasicBlock& block = *node->getBlock();
    if (unit.options.adaptive_blocks && is_rare(*node)) rare.insert(&block);
    const bool is_not_passed = reach != nullptr && !reach->is_passed(block);
    if (block.isEHPad() || (!rare.contains(&block) && !is_not_passed && !is_at_limit(block)))
      continue;
    Place place;
    place.block = &block;
    for (llvm::Instruction& instruction : block) {
      const Mark* const mark = mark_of(instruction, unit);
      if (mark != nullptr && can_be_counted(*mark))
        place.marks.push_back(llvm::cast<llvm::CallInst>(&instruction));
    }
    add_condition(place);
    if (!place.marks.empty() || place.condition != nullptr) places_.push_back(place);
  }
}

void FirstObservations::add_condition(Place& place) const {
  if (!place.marks.empty() && place.block->getUniquePredecessor() == nullptr) return;
  Place found;
  const Mark* same = nullptr;
  bool is_in_block_before = true;
  for (const BasicBlock* const before : llvm::predecessors(place.block)) {
    const auto* const branch = llvm::dyn_cast<llvm::BranchInst>(before->getTerminator());
    if (branch == nullptr || !branch->isConditional() ||
        branch->getSuccessor(0) == branch->getSuccessor(1))
      return;
    auto* const condition = llvm::dyn_cast<llvm::CallInst>(branch->getCondition());
    const Mark* const mark = condition == nullptr ? nullptr : mark_of(*condition, unit_);
    const bool is_true = branch->getSuccessor(0) == place.block;
    if (mark == nullptr || mark->scheme != Scheme::kBranches || mark->sites.empty()) return;
    if (same != nullptr && (mark != same || is_true != found.is_true)) return;
    same = mark;
    found.condition = condition;
    found.is_true = is_true;
    found.before.push_back(before);
    is_in_block_before = is_in_block_before && condition->getParent() == before;
  }
  place.condition = found.condition;
  place.is_true = found.is_true;
  if (is_in_block_before) place.before = std::move(found.before);
}

void FirstObservations::prepare(llvm::Function& function, const TranslationUnit& unit) {
  split_limit_edges(function, unit);
  std::vector<llvm::Instruction*> ends;
  for (BasicBlock& block : function) {
    llvm::Instruction* const end = block.getTerminator();
    if (llvm::isa<llvm::InvokeInst>(end) && end != &block.front()) ends.push_back(end);
  }
  for (llvm::Instruction* const end : ends) end->getParent()->splitBasicBlock(end->getIterator());
}

std::vector<llvm::CallBase*> FirstObservations::emit() {
  // Places with marks first: they copy blocks. A copy observes the condition of the branch at its
  // end, and the place that this branch leads to must not count it again.
  for (const bool has_marks : {true, false}) {
    for (const Place& place : places_)
      if (place.marks.empty() != has_marks) emit(place);
  }
  return std::move(copied_calls_);
}

void FirstObservations::emit(const Place& place) {
  BasicBlock* const block = place.block;
  std::vector<BasicBlock*> copies;  // of the block before, in which the condition has been observed
  if (!place.before.empty()) {
    for (BasicBlock* const before : llvm::predecessors(block))
      if (!llvm::is_contained(place.before, before)) copies.push_back(before);
  }
  llvm::GlobalVariable* const budget =
      codegen_.first_executions.make_budget(FirstExecutions::kRenewed);
  BasicBlock* const rest = block->splitBasicBlock(block->getFirstInsertionPt());
  llvm::Instruction* const end = block->getTerminator();
  BasicBlock* const observed = place.marks.empty() ? rest : observe_copy(rest, place);
  llvm::IRBuilder<> builder(end);
  emit_check(builder, budget, place.condition == nullptr ? nullptr : &place, observed, rest);
  end->eraseFromParent();
  if (copies.empty()) return;
  BasicBlock* const again =
      BasicBlock::Create(block->getContext(), "telltale.again", block->getParent(), rest);
  builder.SetInsertPoint(again);
  emit_check(builder, budget, nullptr, observed, rest);
  for (BasicBlock* const copy : copies) copy->getTerminator()->replaceSuccessorWith(block, again);
}

void FirstObservations::emit_check(llvm::IRBuilder<>& at, llvm::GlobalVariable* budget,
                                   const Place* counted, BasicBlock* observed, BasicBlock* rest) {
  FirstExecutions& first = codegen_.first_executions;
  BasicBlock* const taken =
      BasicBlock::Create(rest->getContext(), "telltale.rare", rest->getParent(), rest);
  constexpr std::uint32_t kSeldom = 1;
  constexpr std::uint32_t kOften = 10000;
  at.CreateCondBr(first.emit_is_left(at, budget), taken, rest,
                  llvm::MDBuilder(rest->getContext()).createBranchWeights(kSeldom, kOften));
  at.SetInsertPoint(taken);
  at.SetCurrentDebugLocation({});
  first.emit_take(at, budget);
  if (counted != nullptr) {
    codegen_.cold_observers.emit_count(at, *mark_of(*counted->condition, unit_),
                                       counted->is_true ? 1 : 0, first_bank(at));
  }
  at.CreateBr(observed);
}

BasicBlock* FirstObservations::observe_copy(BasicBlock* block, const Place& place) {
  llvm::ValueToValueMapTy clones;
  BasicBlock* const copied = clone_blocks({block}, ".first", clones).front();
  for (llvm::Instruction& instruction : *copied) {
    auto* const call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    if (call != nullptr && mark_of(*call, unit_) == nullptr) copied_calls_.push_back(call);
  }
  for (llvm::CallInst* const call : place.marks) {
    auto* const copy = llvm::cast<llvm::CallInst>(clones[call]);
    llvm::IRBuilder<> builder(copy->getNextNode());
    codegen_.cold_observers.emit(builder, *copy, *mark_of(*copy, unit_), first_bank(builder));
  }
  std::vector<llvm::CallInst*> marks;  // those of bounds, too, which the copy does not observe
  for (llvm::Instruction& instruction : *copied) {
    if (mark_of(instruction, unit_) != nullptr)
      marks.push_back(llvm::cast<llvm::CallInst>(&instruction));
  }
  for (llvm::CallInst* const mark : marks) erase_mark(*mark);
  return copied;
}

}  // namespace telltale::instrument
