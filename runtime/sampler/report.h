// Writes the feedback report (docs/formats/sampler.md) with write(2). All but open_report() is
// async-signal-safe.
#pragma once

#include "abi.h"

namespace telltale::sampler {

// Opens the report: an open descriptor, or a file, which is truncated unless `append`; "%p" in its
// name is the process id. Either may be null. Returns an errno; 0 on success or if both are null.
int open_report(const char* descriptor, const char* file, bool append);
// Opens a new report in the spool (spool.h) once there is something to report. `sparsity` is of the
// run, and stays; `seed` may be null. Errors: as of open_report().
int open_spooled_report(const char* pattern, const char* sparsity, const uint64_t* seed);
bool has_report();
// Does it wait in the spool (spool.h), where only complete reports count?
bool report_is_spooled();
// Is it a regular file? Writes to it do not block.
bool report_is_file();
// The bytes that this regular file holds so far; 0 for anything else.
uint64_t report_bytes();
// A number from 0 that no other running program has that called this for the same regular file.
// This one has it until it ends or executes another program. 0 if the file cannot be locked, or if
// too many programs run.
uint32_t number_among_running();
// The destination for messages: the file's path, or "descriptor 3".
const char* report_place();
// The errno of a write of a `samples` subreport that failed; 0 if none did.
int report_failure();
// Appends a `samples` subreport. `take` resets the counters, so that a later subreport adds to this
// one.
void report_unit(const UnitDescriptor& unit, bool take);
// Stores the backtrace of the calling thread, from its interrupted frame on; if `interrupted` is
// null or not found, from after `handler_caller`, the return address of our handler. The stack may
// be damaged, so this may fault.
void take_backtrace(void* interrupted, void* handler_caller);
// Appends the backtrace as `main-backtrace`, or `interrupted` alone if none was stored. Continues
// where a fault ended an earlier call. `with_places` reads the symbols of modules, and may fault.
void report_backtrace(void* interrupted, bool with_places);
// If the report is in the spool: appends how the program ends, by a signal or, if that is 0, with
// this status, and gives it the name of a complete report.
void report_outcome(int signal, int status);
// In the child of a fork: closes the report, which is the parent's, or opens the child's own if the
// file's name contains the process. Returns whether there is one.
bool reopen_report_in_child();

}  // namespace telltale::sampler
