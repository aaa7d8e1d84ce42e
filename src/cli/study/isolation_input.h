#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "import/sampler/sampler_evidence.h"
#include "import/sampler/sampler_sites.h"

namespace telltale::cli {

// The input of `telltale isolate`.
struct IsolationSources {
  std::vector<std::string> inputs;    // folders of studies, lists of runs, "-" for a list
  std::vector<std::string> programs;  // any file that SamplerSites::add accepts
  std::vector<std::string> failed;    // reports, or folders of reports
  std::vector<std::string> passed;
  std::string build;       // of studies: only runs of builds whose id begins with this; empty: all
  std::string other_than;  // of studies: no runs of builds whose id begins with this; empty: all
  InputLimits limits;
};

// The reports or recordings to read, and the sites of their programs. Move-only.
struct IsolationInput {
  std::vector<RunReport> reports;
  SamplerSites sites;
  uint64_t skipped = 0;  // runs that are labelled neither failed nor passed
  ProblemLog problems;
  ProblemLog site_problems;  // of programs, as site information
};

// Programs without sites are not an error: they may name the functions of recordings. Errors:
// usage, if there is nothing to read; io; bad_magic, for a file of another kind.
Result<IsolationInput> find_isolation_input(const IsolationSources& sources);

}  // namespace telltale::cli
