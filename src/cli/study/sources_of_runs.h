#pragma once

#include "base/problem.h"
#include "cli/study/isolation_input.h"
#include "program/built_sources.h"

namespace telltale::cli {

// What the programs of the runs were compiled from, as far as these programs are here: those that
// were given, and those of which studies have runs, if the program of the command still has that
// build-id, or if a core file names them. What is damaged in them goes to `problems` as oddities.
BuiltSources sources_of_runs(const IsolationSources& sources, const IsolationInput& input,
                             ProblemLog& problems);

}  // namespace telltale::cli
