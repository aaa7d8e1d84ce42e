#include "transform/cloning.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>

#include <algorithm>
#include <map>

#include "labels.h"
#include "source_function.h"

namespace telltale::instrument {
namespace {

using llvm::BasicBlock;

// May the call not be copied to where other conditions hold? LLVM marks llvm.is.constant so, but a
// copy may have another result: false is always allowed. The exception are functions that are
// declared inline. Some programs call an undefined function if an argument of such a function is
// not constant, and a copy that is not inlined does not know the caller's constants.
bool is_convergent(const llvm::CallBase& call) {
  if (!call.isConvergent()) return false;
  const llvm::Function& function = *call.getFunction();
  return call.getIntrinsicID() != llvm::Intrinsic::is_constant ||
         function.hasFnAttribute(llvm::Attribute::InlineHint) ||
         function.hasFnAttribute(llvm::Attribute::AlwaysInline);
}

bool prevents_cloning(const llvm::Instruction& instruction, bool redirects_labels) {
  if (llvm::isa<llvm::CallBrInst>(instruction) || llvm::isa<llvm::CatchSwitchInst>(instruction) ||
      instruction.getType()->isTokenTy())
    return true;
  if (llvm::isa<llvm::IndirectBrInst>(instruction)) return !redirects_labels;
  const auto* const call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  if (call == nullptr) return false;
  if (call->hasFnAttr(llvm::Attribute::ReturnsTwice) || call->cannotDuplicate() ||
      call->isMustTailCall() || is_convergent(*call))
    return true;
  return defines_label(*call);
}

bool is_used_outside_block(const llvm::Instruction& instruction) {
  for (const llvm::User* const user : instruction.users()) {
    const auto* const other = llvm::cast<llvm::Instruction>(user);
    if (other->getParent() != instruction.getParent() || llvm::isa<llvm::PHINode>(other))
      return true;
  }
  return false;
}

}  // namespace

bool can_be_cloned(const llvm::Function& function, bool redirects_labels) {
  if (function.hasFnAttribute(llvm::Attribute::PresplitCoroutine) ||
      function.callsFunctionThatReturnsTwice())
    return false;
  for (const BasicBlock& block : function) {
    if (block.hasAddressTaken() && (!redirects_labels || block.isEHPad())) return false;
    for (const llvm::Instruction& instruction : block) {
      if (prevents_cloning(instruction, redirects_labels)) return false;
    }
  }
  return true;
}

BasicBlock* split_entry(llvm::Function& function) {
  BasicBlock& entry = function.getEntryBlock();
  auto first = entry.begin();
  while (llvm::isa<llvm::AllocaInst>(*first)) ++first;
  BasicBlock* const rest = entry.splitBasicBlock(first, "telltale.body");
  std::vector<llvm::AllocaInst*> moved;
  for (llvm::Instruction& instruction : *rest) {
    auto* const variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    if (variable != nullptr && llvm::isa<llvm::Constant>(variable->getArraySize()))
      moved.push_back(variable);
  }
  for (llvm::AllocaInst* const variable : moved)
    variable->moveBefore(entry, entry.getTerminator()->getIterator());
  return rest;
}

void split_landing_pads(llvm::Function& function) {
  std::vector<BasicBlock*> pads;
  for (BasicBlock& block : function) {
    if (block.isLandingPad()) pads.push_back(&block);
  }
  for (BasicBlock* const pad : pads) pad->splitBasicBlock(pad->getFirstInsertionPt());
}

llvm::Function* clone_function(llvm::Function& function, const char* suffix,
                               llvm::ArrayRef<llvm::Type*> extra, llvm::ValueToValueMapTy& clones) {
  llvm::SmallVector<llvm::Type*, 8> parameters(function.getFunctionType()->params());
  parameters.append(extra.begin(), extra.end());
  auto* const type = llvm::FunctionType::get(function.getReturnType(), parameters, false);
  llvm::Function* const clone =
      llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, function.getAddressSpace(),
                             function.getName() + suffix, function.getParent());
  for (llvm::Argument& argument : function.args())
    clones[&argument] = clone->getArg(argument.getArgNo());
  const std::vector<llvm::GlobalVariable*> tables =
      label_tables(function).value_or(std::vector<llvm::GlobalVariable*>());
  copy_tables(tables, suffix, clones);
  llvm::SmallVector<llvm::ReturnInst*, 8> returns;
  llvm::CloneFunctionInto(clone, &function, clones, llvm::CloneFunctionChangeType::LocalChangesOnly,
                          returns);
  fill_copied_tables(tables, clones);
  note_source(*clone, source_of(function));
  clone->setVisibility(llvm::GlobalValue::DefaultVisibility);
  clone->setDLLStorageClass(llvm::GlobalValue::DefaultStorageClass);
  clone->setDSOLocal(true);
  return clone;
}

void demote_values(llvm::Function& function) {
  BasicBlock& entry = function.getEntryBlock();
  std::vector<llvm::Instruction*> escaping;
  std::vector<llvm::PHINode*> phis;
  for (BasicBlock& block : function) {
    if (&block == &entry) continue;
    for (llvm::Instruction& instruction : block) {
      if (auto* const phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) phis.push_back(phi);
      if (is_used_outside_block(instruction)) escaping.push_back(&instruction);
    }
  }
  const auto place = [&entry] { return std::optional(entry.getTerminator()->getIterator()); };
  for (llvm::Instruction* const instruction : escaping)
    llvm::DemoteRegToStack(*instruction, false, place());
  for (llvm::PHINode* const phi : phis) llvm::DemotePHIToStack(phi, place());
}

std::vector<BasicBlock*> clone_blocks(llvm::ArrayRef<BasicBlock*> blocks, const char* suffix,
                                      llvm::ValueToValueMapTy& clones) {
  std::vector<BasicBlock*> made;
  for (BasicBlock* const block : blocks) {
    BasicBlock* const clone = llvm::CloneBasicBlock(block, clones, suffix, block->getParent());
    clones[block] = clone;
    made.push_back(clone);
  }
  llvm::remapInstructionsInBlocks(made, clones);
  return made;
}

void BodyClones::clone(llvm::Function& function) {
  for (BasicBlock& block : function) {
    if (&block != &function.getEntryBlock()) fast_blocks_.push_back(&block);
  }
  clone_blocks(fast_blocks_, ".slow", clones_);
}

BackEdges find_back_edges(BasicBlock* start) {
  enum class Seen : unsigned char { kNo, kOpen, kDone };
  BackEdges found;
  std::map<BasicBlock*, Seen> seen;
  std::vector<Edge> path{{start, 0}};
  seen[start] = Seen::kOpen;
  while (!path.empty()) {
    auto& [block, number] = path.back();
    const llvm::Instruction* const end = block->getTerminator();
    if (number == end->getNumSuccessors()) {
      seen[block] = Seen::kDone;
      found.post_order.push_back(block);
      path.pop_back();
      continue;
    }
    BasicBlock* const next = end->getSuccessor(number);
    const Edge edge{block, number++};
    Seen& state = seen[next];
    if (state == Seen::kOpen && next->isLandingPad()) {
      found.edges.insert({next, 0});
    } else if (state == Seen::kOpen || llvm::isa<llvm::IndirectBrInst>(end)) {
      found.edges.insert(edge);
    }
    if (state == Seen::kNo) {
      state = Seen::kOpen;
      path.emplace_back(next, 0);
    }
  }
  return found;
}

}  // namespace telltale::instrument
