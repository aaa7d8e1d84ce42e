// SAMPLER_VERBOSE: lines on standard error.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace telltale::sampler {

// Enables log_line().
void set_verbose();
bool is_verbose();

// Writes "sampler: " and both texts as a line, with one write(2), if verbose. Async-signal-safe.
void log_line(const char* what, const char* more = "");
// Writes "sampler: units in the report: 12".
void log_unit_count(uint64_t units);

}  // namespace telltale::sampler
