#pragma once

#include <string>
#include <string_view>

#include "analysis/calls/stack_table.h"
#include "model/function_names.h"

namespace telltale {

// The name of the program's own method that a managed runtime's event belongs to: the innermost
// that is neither a wrapper, which the runtime generates around calls ("(wrapper ...) ..."), nor
// has `runtime_type` in its name (empty: no such type), as the runtime's own methods have. Without
// one the innermost method; "[no stack]" for an empty stack.
std::string calling_method(const StackTable& stacks, StackTable::Id stack,
                           const FunctionNames& names, std::string_view runtime_type);

}  // namespace telltale
