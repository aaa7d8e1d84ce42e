#include "source_function.h"

#include <llvm/IR/GlobalAlias.h>
#include <llvm/IR/GlobalIFunc.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Metadata.h>
#include <llvm/IR/Module.h>

namespace telltale::instrument {
namespace {

// Metadata, not an attribute: optimisers compare attributes. Operands: symbol, subprogram or null.
constexpr const char* kNote = "telltale.source";
// An attribute of calls: where optimisers change the parameters of a function, they replace calls
// of it, and keep attributes but not metadata.
constexpr const char* kOtherCopy = "telltale-copy";

}  // namespace

SourceFunction source_of(const llvm::Function& function) {
  SourceFunction source{function.getName(), function.getSubprogram()};
  const llvm::MDNode* const note = function.getMetadata(kNote);
  if (note == nullptr || note->getNumOperands() != 2) return source;
  if (const auto* const name = llvm::dyn_cast_or_null<llvm::MDString>(note->getOperand(0).get()))
    source.symbol = name->getString();
  // A copy has its own subprogram, or none.
  if (auto* const own = llvm::dyn_cast_or_null<llvm::DISubprogram>(note->getOperand(1).get()))
    source.subprogram = own;
  return source;
}

void note_source(llvm::Function& copy, SourceFunction source) {
  llvm::LLVMContext& context = copy.getContext();
  copy.setMetadata(
      kNote, llvm::MDNode::get(context, {llvm::MDString::get(context, source.symbol),
                                         const_cast<llvm::DISubprogram*>(source.subprogram)}));
}

void note_other_copy(llvm::CallInst& call) {
  call.addFnAttr(llvm::Attribute::get(call.getContext(), kOtherCopy));
}

std::optional<NamedFunction> named_by(const llvm::Value& value) {
  if (const auto* const function = llvm::dyn_cast<llvm::Function>(&value))
    return NamedFunction{function->getName(), source_of(*function)};
  const auto* const ifunc = llvm::dyn_cast<llvm::GlobalIFunc>(&value);
  const llvm::Function* const resolver = ifunc == nullptr ? nullptr : ifunc->getResolverFunction();
  // What others of the program choose from is unknown.
  if (resolver == nullptr || !resolver->getName().starts_with(kResolverPrefix)) return std::nullopt;
  return NamedFunction{ifunc->getName(), source_of(*resolver)};
}

std::optional<NamedFunction> callee_of(const llvm::CallBase& call) {
  const auto* const callee = llvm::dyn_cast<llvm::GlobalValue>(call.getCalledOperand());
  if (callee == nullptr || callee->getValueType() != call.getFunctionType()) return std::nullopt;
  return named_by(*callee);
}

std::optional<NamedFunction> callee_through_alias(const llvm::CallBase& call) {
  const auto* const alias = llvm::dyn_cast<llvm::GlobalAlias>(call.getCalledOperand());
  if (alias == nullptr) return callee_of(call);
  const llvm::GlobalObject* const object = alias->getAliaseeObject();
  if (object == nullptr || alias->isInterposable()) return std::nullopt;
  return named_by(*object);
}

bool runs_other_copy(const llvm::CallBase& call) {
  const auto callee = callee_of(call);
  // It may have been inlined into another function, or into one that calls itself.
  const llvm::DebugLoc& location = call.getDebugLoc();
  const bool is_inlined = location && location->getInlinedAt() != nullptr;
  return call.getAttributes().hasFnAttr(kOtherCopy) && !is_inlined && callee &&
         callee->source.symbol == source_of(*call.getFunction()).symbol;
}

bool is_generated(const llvm::Function& function) {
  return function.getName().starts_with("telltale.") ||
         function.getName().starts_with("__telltale_");
}

bool is_without_source(const llvm::Function& function) {
  return is_generated(function) || function.getName() == "__clang_call_terminate";
}

void remove_source_notes(llvm::Module& module) {
  for (llvm::Function& function : module) {
    function.setMetadata(kNote, nullptr);
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* const call = llvm::dyn_cast<llvm::CallBase>(&instruction))
        call->removeFnAttr(kOtherCopy);
  }
}

}  // namespace telltale::instrument
