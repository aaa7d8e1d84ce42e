#include "path_tracing/frame_variables.h"

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/DerivedTypes.h>

#include <vector>

namespace telltale::instrument {
namespace {

// The location of the first instruction of this function's own, or of its body.
llvm::DILocation* first_location(const llvm::Function& function, llvm::DISubprogram* subprogram) {
  for (const llvm::BasicBlock& block : function) {
    for (const llvm::Instruction& instruction : block) {
      const llvm::DebugLoc& location = instruction.getDebugLoc();
      if (location && location->getInlinedAt() == nullptr && location->getLine() != 0)
        return llvm::DILocation::get(function.getContext(), location->getLine(), 0, subprogram);
    }
  }
  return llvm::DILocation::get(function.getContext(), subprogram->getScopeLine(), 0, subprogram);
}

}  // namespace

void declare_variable(llvm::Function& function, llvm::IRBuilder<>& builder,
                      llvm::AllocaInst* variable, const char* name,
                      llvm::function_ref<llvm::DIType*(llvm::DIBuilder&)> make_type) {
  llvm::DISubprogram* const subprogram = function.getSubprogram();
  if (subprogram == nullptr || subprogram->getUnit() == nullptr ||
      subprogram->getUnit()->getEmissionKind() != llvm::DICompileUnit::FullDebug)
    return;
  // Without the unit, of which it would copy the lists of types and imported names.
  llvm::DIBuilder debug(*function.getParent(), false);
  llvm::DILocalVariable* const local = debug.createAutoVariable(
      subprogram, name, subprogram->getFile(), subprogram->getLine(), make_type(debug));
#if LLVM_VERSION_MAJOR > 19
  const auto place = builder.GetInsertPoint();
#else
  llvm::Instruction* const place = &*builder.GetInsertPoint();
#endif
  debug.insertDeclare(variable, local, debug.createExpression(),
                      first_location(function, subprogram), place);
}

llvm::Type* frame_array_type(llvm::Type* element, std::uint64_t count) {
  return llvm::StructType::get(element->getContext(), std::vector<llvm::Type*>(count, element));
}

}  // namespace telltale::instrument
