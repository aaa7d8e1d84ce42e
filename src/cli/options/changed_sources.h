#pragma once

#include "base/problem.h"
#include "program/built_sources.h"

namespace telltale::cli {

// Prints a line for each source file of which the answer shows lines that may not be those of the
// program, to standard error. Of very many the first.
void tell_changed_sources(const ChangedSources& changed);

// The same as oddities, for documents.
void add_changed_sources(const ChangedSources& changed, ProblemLog& problems);

}  // namespace telltale::cli
