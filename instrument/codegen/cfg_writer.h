// Writes the control flow graph of each function for `.debug_sampler_cfg`, and assigns its nodes to
// the sites.
#pragma once

#include <llvm/IR/Module.h>

#include <string>

#include "translation_unit.h"

namespace telltale::instrument {

// Sets Site::cfg_node of all sites in `module`, and returns the section's text
// (docs/formats/sampler.md). Call while the IR is as clang emitted it.
std::string assign_cfg_nodes(llvm::Module& module, TranslationUnit& unit);

}  // namespace telltale::instrument
