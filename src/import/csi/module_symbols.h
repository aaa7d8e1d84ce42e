#pragma once

#include <bit>
#include <map>
#include <string>

#include "import/csi/flow_functions.h"
#include "program/core_stacks.h"

namespace telltale {

// The functions in the symbol tables of 64-bit programs and shared objects, by module. Damaged
// tables count as missing.
std::map<std::string, ModuleSymbols> read_module_symbols(const CoreStacks& stacks,
                                                         std::endian order);

}  // namespace telltale
