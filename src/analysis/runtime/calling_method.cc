#include "analysis/runtime/calling_method.h"

namespace telltale {

std::string calling_method(const StackTable& stacks, StackTable::Id stack,
                           const FunctionNames& names, std::string_view runtime_type) {
  const StackTable::Id innermost = stack;
  for (; stack != StackTable::Id::empty; stack = stacks.caller(stack)) {
    const std::string& name = names.describe(stacks.innermost(stack)).name;
    if (name.starts_with("(wrapper ")) continue;
    if (runtime_type.empty() || name.find(runtime_type) == std::string::npos) return name;
  }
  if (innermost == StackTable::Id::empty) return "[no stack]";
  return names.describe(stacks.innermost(innermost)).name;
}

}  // namespace telltale
