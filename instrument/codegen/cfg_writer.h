// The control flow graph of each function as `.debug_sampler_cfg` holds it, and the numbers of
// sites in it.
#pragma once

#include <llvm/IR/Module.h>

#include <string>

#include "translation_unit.h"

namespace telltale::instrument {

// Gives every site that has code in `module` its node, and returns the section's text
// (docs/formats/sampler.md). Reads the code as clang made it: call before marks become counters.
std::string assign_cfg_nodes(llvm::Module& module, TranslationUnit& unit);

}  // namespace telltale::instrument
