#include "codegen/cold_functions.h"

#include <llvm/IR/Attributes.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/TargetParser/Triple.h>

#include <vector>

namespace telltale::instrument {
namespace {

constexpr const char* kRareAttribute = "telltale-sampler-rare";

}  // namespace

llvm::CallingConv::ID cold_calling_convention(const llvm::Module& module) {
  const llvm::Triple triple(module.getTargetTriple());
  const bool known = triple.getArch() == llvm::Triple::x86_64 || triple.isAArch64();
  return known ? llvm::CallingConv::PreserveMost : llvm::CallingConv::C;
}

llvm::Function* make_cold_function(llvm::Module& module, const llvm::Twine& name,
                                   llvm::FunctionType* type) {
  llvm::Function* const function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage,
                                                          "telltale.sampler." + name, module);
  function->setCallingConv(cold_calling_convention(module));
  function->addFnAttr(llvm::Attribute::NoInline);
  function->addFnAttr(llvm::Attribute::Cold);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr(llvm::Attribute::WillReturn);
  function->setMemoryEffects(llvm::MemoryEffects::inaccessibleOrArgMemOnly());
  llvm::BasicBlock::Create(module.getContext(), "", function);
  return function;
}

llvm::CallInst* call_cold(llvm::IRBuilderBase& at, llvm::Function& callee,
                          llvm::ArrayRef<llvm::Value*> arguments) {
  llvm::CallInst* const call = at.CreateCall(&callee, arguments);
  call->setCallingConv(callee.getCallingConv());
  return call;
}

void mark_as_rare(llvm::Function& clone) { clone.addFnAttr(kRareAttribute); }

void end_observation(llvm::IRBuilderBase& at) {
  if (!at.GetInsertBlock()->getParent()->hasFnAttribute(kRareAttribute)) return;
  at.CreateCall(
      llvm::InlineAsm::get(llvm::FunctionType::get(at.getVoidTy(), false), "", "~{memory}", true));
}

llvm::FunctionCallee without_aliasing(llvm::FunctionCallee function) {
  if (auto* const declared = llvm::dyn_cast<llvm::Function>(function.getCallee())) {
    declared->addFnAttr(llvm::Attribute::NoUnwind);
    declared->addFnAttr(llvm::Attribute::WillReturn);
    declared->setMemoryEffects(llvm::MemoryEffects::inaccessibleOrArgMemOnly());
  }
  return function;
}

llvm::CallInst* call_asm_without_aliasing(llvm::IRBuilderBase& at, llvm::Type* result,
                                          const char* code, const char* constraints,
                                          llvm::ArrayRef<llvm::Value*> arguments) {
  std::vector<llvm::Type*> types;
  for (llvm::Value* const argument : arguments) types.push_back(argument->getType());
  llvm::CallInst* const call = at.CreateCall(
      llvm::InlineAsm::get(llvm::FunctionType::get(result, types, false), code, constraints, true),
      arguments);
  call->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly());
  call->setDoesNotThrow();
  return call;
}

}  // namespace telltale::instrument
