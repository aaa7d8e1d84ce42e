// What SAMPLER_VERBOSE asks for: lines on standard error.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace telltale::sampler {

// From here on say() says something.
void set_verbose();
bool is_verbose();

// "sampler: " and the two, on one line, by one write(2). Async-signal-safe; says nothing unless
// verbose.
void log_line(const char* what, const char* more = "");
// "sampler: 12 units are in the report", of which the program asked to be told.
void log_unit_count(uint64_t units);

}  // namespace telltale::sampler
