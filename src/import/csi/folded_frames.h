#pragma once

#include <vector>

#include "import/csi/program_metadata.h"
#include "import/stack_paths.h"

namespace telltale {

// Tells each frame which other functions it may be of, since linkers put equal code at one address
// (FlowFunction::folded_with).
void add_folded_functions(const ProgramMetadata& metadata, std::vector<FramePaths>& frames);

}  // namespace telltale
