#include "path_tracing/debug_information.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/IR/DebugProgramInstruction.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/LLVMContext.h>

namespace telltale::instrument {
namespace {

using Subprograms = llvm::SetVector<llvm::DISubprogram*>;
using Calls = llvm::DenseSet<const llvm::DILocation*>;

// Adds the function of a location, and those that it was inlined into.
void add_subprograms(const llvm::DILocation* location, Subprograms& subprograms, Calls& seen) {
  for (; location != nullptr; location = location->getInlinedAt()) {
    subprograms.insert(location->getScope()->getSubprogram());
    if (!seen.insert(location->getInlinedAt()).second) return;
  }
}

Subprograms subprograms_of(const llvm::Module& module) {
  Subprograms subprograms;
  for (const llvm::Function& function : module) {
    llvm::DISubprogram* const subprogram = function.getSubprogram();
    if (subprogram == nullptr || function.isDeclaration()) continue;
    subprograms.insert(subprogram);
    Calls seen;
    for (const llvm::BasicBlock& block : function) {
      for (const llvm::Instruction& instruction : block)
        add_subprograms(instruction.getDebugLoc().get(), subprograms, seen);
    }
  }
  return subprograms;
}

void reduce(llvm::DISubprogram& subprogram, llvm::DISubroutineType& no_types) {
  subprogram.replaceType(&no_types);
  subprogram.replaceRetainedNodes({});
  llvm::MDNode& node = subprogram;
  for (unsigned i = 0; i < node.getNumOperands(); ++i) {
    const llvm::Metadata* const operand = node.getOperand(i);
    if (operand == nullptr) continue;
    if (operand == subprogram.getRawDeclaration() || operand == subprogram.getRawTemplateParams() ||
        operand == subprogram.getRawContainingType() || operand == subprogram.getRawThrownTypes())
      node.replaceOperandWith(i, nullptr);
    // A class; the linkage name has its name.
    if (operand == subprogram.getRawScope() && llvm::isa<llvm::DIType>(operand))
      node.replaceOperandWith(i, subprogram.getFile());
  }
}

}  // namespace

llvm::DenseSet<const llvm::DILocalVariable*> declared_variables(const llvm::Module& module) {
  llvm::DenseSet<const llvm::DILocalVariable*> variables;
  for (const llvm::Function& function : module) {
    for (const llvm::BasicBlock& block : function) {
      for (const llvm::Instruction& instruction : block) {
        for (const llvm::DbgVariableRecord& record :
             llvm::filterDbgVars(instruction.getDbgRecordRange()))
          variables.insert(record.getVariable());
      }
    }
  }
  return variables;
}

void remove_variables_and_types(llvm::Module& module,
                                const llvm::DenseSet<const llvm::DILocalVariable*>& variables) {
  const unsigned allocation = module.getContext().getMDKindID("heapallocsite");
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) function.setSubprogram(nullptr);
    for (llvm::BasicBlock& block : function) {
      for (llvm::Instruction& instruction : block) {
        for (llvm::DbgRecord& record :
             llvm::make_early_inc_range(instruction.getDbgRecordRange())) {
          const auto* const variable = llvm::dyn_cast<llvm::DbgVariableRecord>(&record);
          if (variable == nullptr || variables.contains(variable->getVariable()))
            record.eraseFromParent();
        }
        // The type of what an allocation is for.
        if (llvm::isa<llvm::CallBase>(instruction)) instruction.setMetadata(allocation, nullptr);
      }
    }
  }
  for (llvm::GlobalVariable& variable : module.globals())
    variable.eraseMetadata(llvm::LLVMContext::MD_dbg);
  llvm::DISubroutineType* const no_types = llvm::DISubroutineType::get(
      module.getContext(), llvm::DINode::FlagZero, 0, llvm::MDTuple::get(module.getContext(), {}));
  for (llvm::DISubprogram* const subprogram : subprograms_of(module))
    reduce(*subprogram, *no_types);
  for (llvm::DICompileUnit* const unit : module.debug_compile_units()) {
    unit->replaceEnumTypes({});
    unit->replaceRetainedTypes({});
    unit->replaceGlobalVariables({});
    unit->replaceImportedEntities({});
  }
}

}  // namespace telltale::instrument
