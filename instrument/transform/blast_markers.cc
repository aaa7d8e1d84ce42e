#include "transform/blast_markers.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>

#include <vector>

#include "analysis/ir_marks.h"

namespace telltale::instrument {
namespace {

// Defines an empty weak function, unless the program has one of that name.
llvm::Function* get_or_create_marker(llvm::Module& module, llvm::StringRef name,
                                     llvm::FunctionType* type) {
  llvm::Function* function = module.getFunction(name);
  if (function == nullptr)
    function = llvm::Function::Create(type, llvm::GlobalValue::WeakAnyLinkage, name, module);
  // The program's definition is used if its type matches.
  if (function->getFunctionType() != type) return nullptr;
  if (!function->isDeclaration()) return function;
  function->setLinkage(llvm::GlobalValue::WeakAnyLinkage);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(module.getContext(), "", function));
  builder.CreateRetVoid();
  return function;
}

// Is it a variable or a member of one, which is safe, and not reached through a pointer or an
// index?
bool is_direct_address(const llvm::Value* place) {
  for (;;) {
    place = place->stripPointerCasts();
    if (llvm::isa<llvm::AllocaInst>(place) || llvm::isa<llvm::GlobalVariable>(place)) return true;
    const auto* const member = llvm::dyn_cast<llvm::GEPOperator>(place);
    if (member == nullptr || !member->getSourceElementType()->isStructTy()) return false;
    place = member->getPointerOperand();
  }
}

bool may_fault_or_terminate(const llvm::Instruction& instruction, const TranslationUnit& unit) {
  if (llvm::isa<llvm::ReturnInst>(instruction)) return true;
  if (const auto* const load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
    return !is_direct_address(load->getPointerOperand());
  if (const auto* const store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
    return !is_direct_address(store->getPointerOperand());
  const auto* const call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  if (call == nullptr || llvm::isa<llvm::IntrinsicInst>(call) || mark_of(*call, unit) != nullptr)
    return false;
  return call->isInlineAsm() || call->doesNotReturn();
}

}  // namespace

void add_blast_markers(llvm::Module& module, const TranslationUnit& unit) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* const none = llvm::Type::getVoidTy(context);
  llvm::Type* const number = llvm::Type::getInt32Ty(context);
  llvm::Function* const at_site = get_or_create_marker(
      module, "cbi_blastMarker", llvm::FunctionType::get(none, {number, number}, false));
  llvm::Function* const at_end = get_or_create_marker(module, "cbi_blastTerminationMarker",
                                                      llvm::FunctionType::get(none, false));
  std::vector<llvm::CallInst*> sites;
  std::vector<llvm::Instruction*> ends;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      const Mark* const mark = mark_of(instruction, unit);
      if (mark != nullptr && mark->scheme == Scheme::kBranches && !mark->sites.empty())
        sites.push_back(llvm::cast<llvm::CallInst>(&instruction));
      if (function.getName() == "main" && may_fault_or_terminate(instruction, unit))
        ends.push_back(&instruction);
    }
  }
  for (llvm::CallInst* const site : sites) {
    if (at_site == nullptr) break;
    llvm::IRBuilder<> builder(site);
    const int row = unit.sites[mark_of(*site, unit)->sites[0]].row;
    builder.CreateCall(at_site, {llvm::ConstantInt::get(number, static_cast<unsigned>(row)),
                                 builder.CreateZExt(site->getArgOperand(1), number)});
  }
  for (llvm::Instruction* const end : ends) {
    if (at_end != nullptr) llvm::IRBuilder<>(end).CreateCall(at_end);
  }
}

}  // namespace telltale::instrument
