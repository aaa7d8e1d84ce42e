// The feedback report (docs/formats/sampler.md), written with write(2) alone: all but open_report
// may be called from a signal handler.
#pragma once

#include "abi.h"

namespace telltale::sampler {

// A descriptor that is open already, or a file to be emptied and written; "%p" in its name is the
// process. Null is not asked. Answers an errno; 0 if there is a report or nobody asked for one.
int open_report(const char* descriptor, const char* file);
bool has_report();
// It is a file, into which writing waits for nobody.
bool report_is_file();
// Where it goes, for people: the file's path, or "descriptor 3".
const char* report_place();
// Appends one `samples` subreport. `take`: the counters begin again at zero, so that another
// subreport adds to this one.
void report_unit(const UnitDescriptor& unit, bool take);
// Keeps where the calling thread is. In a signal handler, on a stack that may be damaged: may
// fault. What stands in front of where the thread was interrupted is ours and the kernel's, and is
// left out; if `interrupted` is null or not found, all in front of `handler_caller`, which is where
// our handler returns to.
void take_backtrace(void* interrupted, void* handler_caller);
// Appends that as `main-backtrace`, or where the thread was interrupted if nothing was kept; goes
// on where a fault ended an earlier call. `with_places`: looks into modules' symbols, and may
// fault.
void report_backtrace(void* interrupted, bool with_places);
// In the child of a fork: the report is the parent's, unless the file's name says which process it
// is of. Answers whether there is one now.
bool reopen_report_in_child();

}  // namespace telltale::sampler
