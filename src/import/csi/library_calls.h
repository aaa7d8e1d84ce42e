#pragma once

#include <string_view>

#include "model/function_data.h"

namespace telltale {

// What functions of the C library (ISO C, POSIX) and of Telltale's runtimes do with the program's
// memory, beyond what the compiler said of the call. Leaves calls of other functions as they are.
void add_library_effects(std::string_view callee, FunctionData::Call& call);

}  // namespace telltale
