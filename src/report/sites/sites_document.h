#pragma once

#include <span>

#include "bytes/block_writer.h"
#include "report/sites/instrumented_program.h"

namespace telltale {

// The document schemas::kSites. `sleds`: each function with its sleds.
void write_sites_document(std::span<const InstrumentedProgram> programs, bool sleds,
                          BlockWriter& out);

}  // namespace telltale
