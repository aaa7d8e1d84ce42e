#pragma once

#include <bit>
#include <map>
#include <string>

#include "import/csi/flow_functions.h"
#include "import/csi/frame_decoder.h"
#include "program/core_stacks.h"

namespace telltale {

// The functions in the symbol tables of the modules that have flow records; 64-bit ones. Damaged
// tables count as missing.
std::map<std::string, ModuleSymbols> read_module_symbols(
    const CoreStacks& stacks, const std::map<std::string, ModulePaths>& modules, std::endian order);

}  // namespace telltale
