#pragma once

#include <string>
#include <vector>

#include "analysis/isolation/crash_cluster.h"
#include "bytes/input_file.h"
#include "import/sampler/sampler_backtrace.h"

namespace telltale {

// The stack of the thread that failed, as the feedback report's first main-backtrace has it, with
// inlined functions; of deep recursions the 48 innermost and the 16 outermost frames. Frames of
// modules that `resolver` does not have keep the names that the program found; without one they are
// named "libc.so.6+0x167ad8". Empty: the report has none.
std::vector<isolation::StackFrame> read_report_stack(const InputFile& report,
                                                     BacktraceResolver& resolver);

}  // namespace telltale
