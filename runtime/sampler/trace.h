// -ftrace-sites: writes an event for each observation, as llvm-xray prints traces
// (docs/formats/sampler.md).
#pragma once

#include "abi.h"

namespace telltale::sampler {

// `file` may contain "%p"; null for no trace.
void open_trace(const char* file);
// Is there a trace?
bool is_tracing();
// In the child of a fork: continues the file, or opens its own if the name contains the process.
void trace_in_child();

// Finds the unit and scheme of a counter; false unless the unit is traced. Defined in registry.cc.
struct Traced {
  const UnitDescriptor* unit;
  const SchemeTable* scheme;
};
bool find_traced_counter(const uint64_t* counter, Traced& found);

}  // namespace telltale::sampler
