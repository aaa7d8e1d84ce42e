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
// The same for a number.
void log_line(const char* what, uint64_t number);

}  // namespace telltale::sampler
