// Units that were compiled with -ftrace-sites tell each observation to an event trace: the text
// that llvm-xray makes of a trace, with an event for each (docs/formats/sampler.md).
#pragma once

#include "abi.h"

namespace telltale::sampler {

// `file` may hold "%p"; null asks for nothing.
void open_trace(const char* file);
// Is there anything to tell at all?
bool is_tracing();
// In the child of a fork: goes on in the same file, or begins its own if the name says whose it is.
void trace_in_child();

// The unit and scheme that a counter belongs to; false if there are none that want to be traced. In
// registry.cc.
struct Traced {
  const UnitDescriptor* unit;
  const SchemeTable* scheme;
};
bool find_traced_counter(const uint64_t* counter, Traced& found);

}  // namespace telltale::sampler
