#pragma once

// Patterns that choose functions by name.

#include <stdint.h>

namespace telltale::recorder {

// Whether a list `GLOB;!GLOB;...` includes a function: the last glob that matches decides; if none
// matches, true if the list is empty or begins with `!`. In a glob, `*` is any letters, `?` one,
// `[a-z]` one of these, `[!a]` one not of these. Linkage and demangled names are tried (the
// latter with and without return type and parameters). If the process has no demangler, linkage
// names alone, and the side record says so. Not from two threads at once.
bool is_chosen(const char* list, const char* name);

// The program's load bias: a demangler that it does not export is found in its symbols.
void note_program(uint64_t bias);

}  // namespace telltale::recorder
