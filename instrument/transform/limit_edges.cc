#include "transform/limit_edges.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/ir_marks.h"
#include "transform/cloning.h"

namespace telltale::instrument {
namespace {

using llvm::BasicBlock;

// Metadata of the inserted block's terminator. Clones of the block have it, too.
constexpr char kLimitEdge[] = "telltale.limit";

class LimitEdges {
 public:
  LimitEdges(llvm::Function& function, const TranslationUnit& unit)
      : function_(function), unit_(unit), dominators_(function), loops_(dominators_) {}

  [[nodiscard]] std::vector<Edge> find() const {
    std::vector<Edge> found;
    for (BasicBlock& block : function_) {
      const auto* const branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
      if (branch == nullptr || !branch->isConditional() ||
          branch->getSuccessor(0) == branch->getSuccessor(1) || !has_site(*branch->getCondition()))
        continue;
      for (unsigned i = 0; i < 2; ++i) {
        if (is_end_of_table(*branch, i) || is_beyond(*branch, i)) found.emplace_back(&block, i);
      }
    }
    return found;
  }

 private:
  // Does a loop with several exits leave here because its counter has reached a constant?
  // `for (i = 0; i < sizeof buffer && is_digit(*text); i++)`. Limits that are variables are left
  // out: in quicksort, for example, such exits are frequent.
  [[nodiscard]] bool is_end_of_table(const llvm::BranchInst& branch, unsigned number) const {
    const llvm::Loop* const loop = loops_.getLoopFor(branch.getParent());
    return loop != nullptr && counts_to_constant(*loop, *branch.getCondition()) &&
           is_way_out(branch, number);
  }

  // Is a number equal to a constant, or greater? `if (length > 255)`. Small constants are left out,
  // because they are often kinds or states, each of them frequent, and so are characters.
  [[nodiscard]] bool is_beyond(const llvm::BranchInst& branch, unsigned number) const {
    constexpr std::int64_t kLeast = 32;
    constexpr unsigned kCharacterBits = 8;
    const auto* const comparison = llvm::dyn_cast<llvm::ICmpInst>(forwarded(branch.getCondition()));
    if (comparison == nullptr) return false;
    const llvm::Value* left = forwarded(comparison->getOperand(0));
    const llvm::Value* right = forwarded(comparison->getOperand(1));
    llvm::CmpInst::Predicate predicate = comparison->getPredicate();
    if (llvm::isa<llvm::ConstantInt>(left)) {
      std::swap(left, right);
      predicate = llvm::CmpInst::getSwappedPredicate(predicate);
    }
    const auto* const limit = llvm::dyn_cast<llvm::ConstantInt>(right);
    if (limit == nullptr || limit->getBitWidth() > 64 || limit->getSExtValue() < kLeast ||
        !left->getType()->isIntegerTy() || left->getType()->getIntegerBitWidth() <= kCharacterBits)
      return false;
    if (number == 1) predicate = llvm::CmpInst::getInversePredicate(predicate);
    return (predicate == llvm::CmpInst::ICMP_EQ || llvm::ICmpInst::isGE(predicate) ||
            llvm::ICmpInst::isGT(predicate)) &&
           is_way_out(branch, number);
  }

  // If the branch is in a loop: is this one of several ways out of it?
  [[nodiscard]] bool is_way_out(const llvm::BranchInst& branch, unsigned number) const {
    const llvm::Loop* const loop = loops_.getLoopFor(branch.getParent());
    return loop == nullptr || (leaves(*loop, *branch.getParent(), *branch.getSuccessor(number)) &&
                               has_several_exits(*loop));
  }

  [[nodiscard]] bool has_site(const llvm::Value& condition) const {
    const auto* const call = llvm::dyn_cast<llvm::CallInst>(&condition);
    const Mark* const mark = call == nullptr ? nullptr : mark_of(*call, unit_);
    return mark != nullptr && mark->scheme == Scheme::kBranches && !mark->sites.empty();
  }

  // The value that marks and conversions forward.
  [[nodiscard]] const llvm::Value* forwarded(const llvm::Value* value) const {
    for (;;) {
      const auto* const instruction = llvm::dyn_cast<llvm::Instruction>(value);
      if (instruction == nullptr) return value;
      if (mark_of(*instruction, unit_) != nullptr) {
        value = instruction->getOperand(1);
      } else if (llvm::isa<llvm::CastInst>(instruction)) {
        value = instruction->getOperand(0);
      } else {
        return value;
      }
    }
  }

  // Does the edge lead out of the loop? `a && b` also leaves it through a block that tests the
  // result, which is known on the edge.
  [[nodiscard]] bool leaves(const llvm::Loop& loop, const BasicBlock& from,
                            const BasicBlock& to) const {
    if (!loop.contains(&to)) return true;
    const auto* const branch = llvm::dyn_cast<llvm::BranchInst>(to.getTerminator());
    if (branch == nullptr || !branch->isConditional()) return false;
    const auto* const result = llvm::dyn_cast<llvm::PHINode>(forwarded(branch->getCondition()));
    if (result == nullptr || result->getParent() != &to) return false;
    const auto* const known =
        llvm::dyn_cast<llvm::ConstantInt>(result->getIncomingValueForBlock(&from));
    return known != nullptr && !loop.contains(branch->getSuccessor(known->isZero() ? 1 : 0));
  }

  // Exits to calls that do not return are not counted.
  [[nodiscard]] bool has_several_exits(const llvm::Loop& loop) const {
    unsigned count = 0;
    for (const BasicBlock* const block : loop.blocks()) {
      for (const BasicBlock* const next : llvm::successors(block)) {
        if (leaves(loop, *block, *next) && !llvm::isa<llvm::UnreachableInst>(next->getTerminator()))
          ++count;
      }
      if (count > 1) return true;
    }
    return false;
  }

  [[nodiscard]] bool counts_to_constant(const llvm::Loop& loop,
                                        const llvm::Value& condition) const {
    const auto* const comparison = llvm::dyn_cast<llvm::ICmpInst>(forwarded(&condition));
    if (comparison == nullptr) return false;
    const llvm::Value* const left = forwarded(comparison->getOperand(0));
    const llvm::Value* const right = forwarded(comparison->getOperand(1));
    return (llvm::isa<llvm::Constant>(right) && is_counted(loop, *left)) ||
           (llvm::isa<llvm::Constant>(left) && is_counted(loop, *right));
  }

  // Is it the loop's counter, a variable to which the loop adds a constant, before or after that
  // addition?
  [[nodiscard]] bool is_counted(const llvm::Loop& loop, const llvm::Value& value) const {
    if (const llvm::Value* const stepped = before_step(value)) return is_counted(loop, *stepped);
    const auto* const load = llvm::dyn_cast<llvm::LoadInst>(&value);
    if (load == nullptr) return false;
    const llvm::Value* const variable = load->getPointerOperand();
    return std::ranges::any_of(variable->users(), [&](const llvm::User* user) {
      const auto* const store = llvm::dyn_cast<llvm::StoreInst>(user);
      if (store == nullptr || store->getPointerOperand() != variable || !loop.contains(store))
        return false;
      const llvm::Value* const stepped = before_step(*forwarded(store->getValueOperand()));
      const auto* const old =
          stepped == nullptr ? nullptr : llvm::dyn_cast<llvm::LoadInst>(stepped);
      return old != nullptr && old->getPointerOperand() == variable;
    });
  }

  // What a constant is added to, or subtracted from; null if the value is something else.
  [[nodiscard]] const llvm::Value* before_step(const llvm::Value& value) const {
    const auto* const step = llvm::dyn_cast<llvm::Instruction>(&value);
    if (step == nullptr) return nullptr;
    const bool adds = step->getOpcode() == llvm::Instruction::Add ||
                      step->getOpcode() == llvm::Instruction::Sub ||
                      step->getOpcode() == llvm::Instruction::GetElementPtr;
    return adds && step->getNumOperands() == 2 && llvm::isa<llvm::Constant>(step->getOperand(1))
               ? forwarded(step->getOperand(0))
               : nullptr;
  }

  llvm::Function& function_;
  const TranslationUnit& unit_;
  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
};

}  // namespace

void split_limit_edges(llvm::Function& function, const TranslationUnit& unit) {
  llvm::LLVMContext& context = function.getContext();
  for (const auto& [from, number] : LimitEdges(function, unit).find()) {
    BasicBlock* const block = llvm::SplitEdge(from, from->getTerminator()->getSuccessor(number));
    block->getTerminator()->setMetadata(kLimitEdge, llvm::MDNode::get(context, {}));
  }
}

bool is_limit_edge(const BasicBlock& block) {
  return block.getTerminator()->hasMetadata(kLimitEdge);
}

}  // namespace telltale::instrument
