// Probes of coverage: flags in the frame and in the program that are set when something runs
// (docs/formats/csi.md, "Coverage").
#pragma once

#include <llvm/IR/Function.h>

#include "trace_options.h"

namespace telltale::instrument {

// Inserts the probes of the given mechanisms, which may be none, and describes them in the sections
// of each mechanism and of telltale. Blocks are those of the function as it is given: it precedes
// path tracing. `is_called_unseen`: code that this unit does not show may call the function.
void insert_coverage(llvm::Function& function, MechanismSet mechanisms, const TraceOptions& options,
                     bool is_called_unseen);

// Whether the function has a call that coverage of calls counts.
bool has_call_sites(const llvm::Function& function);

}  // namespace telltale::instrument
