// The LLVM pass of --trace.
#pragma once

#include <llvm/Passes/PassBuilder.h>

#include "trace_options.h"

namespace telltale::instrument {

// Options for the translation unit of this process; plugin.cc sets them.
struct TracedUnit {
  TraceOptions options;
  bool is_active = false;        // the pass has still to run
  bool optimises_later = false;  // another process does, after the pass, and generates the code
};
TracedUnit& traced_unit();

// Adds the pass where optimisation ends, and one that marks lines where it begins.
void register_path_tracing(llvm::PassBuilder& builder);

}  // namespace telltale::instrument
