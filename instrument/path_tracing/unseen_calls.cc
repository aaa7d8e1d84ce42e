#include "path_tracing/unseen_calls.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringSet.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "path_tracing/data_steps.h"
#include "source_function.h"

namespace telltale::instrument {
namespace {

using Named = std::pair<std::string, const llvm::DISubprogram*>;  // by the linker's name

// Before optimisation.
struct Noted {
  std::vector<Named> constructors;
  UnseenCalls::Functions at_exit;
  UnseenCalls::Functions destructors;
};

Noted& noted() {
  static Noted the_noted;
  return the_noted;
}

// The function that a call registers for the end of the program; null: none, or it is not known.
const llvm::DISubprogram* registered_by(const llvm::Instruction& instruction) {
  const llvm::CallBase* const call = as_call(instruction);
  const llvm::Function* const callee = call == nullptr ? nullptr : call->getCalledFunction();
  if (callee == nullptr || call->arg_empty()) return nullptr;
  if (callee->getName() != "__cxa_atexit" && callee->getName() != "atexit") return nullptr;
  const llvm::Value* value = call->getArgOperand(0)->stripPointerCasts();
  if (const auto* const alias = llvm::dyn_cast<llvm::GlobalAlias>(value))
    value = alias->getAliaseeObject();
  const auto function = value == nullptr ? std::nullopt : named_by(*value);
  return function ? function->source.subprogram : nullptr;
}

UnseenCalls::Functions registered_in(const llvm::Module& module) {
  UnseenCalls::Functions all;
  for (const llvm::Function& function : module)
    for (const llvm::Instruction& instruction : llvm::instructions(function))
      if (const llvm::DISubprogram* const registered = registered_by(instruction))
        if (!llvm::is_contained(all, registered)) all.push_back(registered);
  return all;
}

// Whether the function is the deleting destructor of a class ("D0" in the Itanium C++ ABI, 5.1.4.3)
// of which the module neither defines nor calls the complete and base object destructors ("D1",
// "D2").
bool is_only_destructor(const llvm::Function& function) {
  constexpr llvm::StringRef kEnd = "D0Ev";
  llvm::StringRef name = function.getName();
  if (function.isDeclaration() || !name.starts_with("_Z") || !name.consume_back(kEnd)) return false;
  const auto has = [&](const char* end) {
    return function.getParent()->getNamedValue((name + end).str()) != nullptr;
  };
  return !has("D1Ev") && !has("D2Ev");
}

}  // namespace

llvm::SmallVector<Constructor, 4> constructors_of(const llvm::Module& module) {
  llvm::SmallVector<Constructor, 4> all;
  const llvm::GlobalVariable* const list = module.getNamedGlobal("llvm.global_ctors");
  if (list == nullptr || !list->hasInitializer()) return all;
  for (const llvm::Use& entry : list->getInitializer()->operands()) {
    const auto* const fields = llvm::dyn_cast<llvm::ConstantStruct>(entry);
    if (fields == nullptr || fields->getNumOperands() < 2) continue;
    const bool has_key = fields->getNumOperands() > 2 && !fields->getOperand(2)->isNullValue();
    const auto* const function =
        llvm::dyn_cast<llvm::Function>(fields->getOperand(1)->stripPointerCasts());
    if (function != nullptr && !function->isDeclaration()) all.push_back({function, has_key});
  }
  return all;
}

void note_unseen_calls(const llvm::Module& module) {
  noted() = {};
  for (const auto& [function, has_key] : constructors_of(module))
    noted().constructors.emplace_back(function->getName(), function->getSubprogram());
  noted().at_exit = registered_in(module);
  for (const llvm::Function& function : module)
    if (is_only_destructor(function)) noted().destructors.push_back(function.getSubprogram());
}

UnseenCalls unseen_calls(const llvm::Module& module) {
  UnseenCalls calls{.constructors = {}, .at_exit = {}, .destructors = noted().destructors};
  llvm::StringSet<> left;
  for (const auto& [function, has_key] : constructors_of(module)) left.insert(function->getName());
  for (const auto& [name, subprogram] : noted().constructors)
    if (!left.contains(name)) calls.constructors.push_back(subprogram);
  const auto registered = registered_in(module);
  for (const llvm::DISubprogram* const function : noted().at_exit)
    if (!llvm::is_contained(registered, function)) calls.at_exit.push_back(function);
  return calls;
}

}  // namespace telltale::instrument
