#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analysis/isolation/crash_cluster.h"
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
  std::string application;  // of a store: only its runs; empty: it has one application
  // Only runs of builds whose id begins with this (studies and stores); empty: all.
  std::string build;
  std::string other_than;  // likewise: no runs of such builds; empty: all
  // Only the failed runs of the crash cluster whose id begins with this (studies); empty: all.
  std::string cluster;
  double slow = 0;  // of studies: label_slow() with this quantile; 0: the labels that they have
  InputLimits limits;
};

// Are runs of this build wanted?
bool is_chosen(const std::string& build, const IsolationSources& sources);

// A usage error if there are builds, and none of them is chosen: an answer about no runs would hide
// a wrong id.
Result<void> check_choice(const std::set<std::string>& builds, const IsolationSources& sources);

// How programs of a build are found.
struct BuildRun {
  std::string command;  // of the build's first run, in a shell's words
  std::string paths;    // the core file of one of its runs; empty: none left one
};

// The reports or recordings to read, and the sites of their programs. Move-only.
struct IsolationInput {
  std::vector<RunReport> reports;
  SamplerSites sites;
  std::map<std::string, BuildRun> builds;  // of the chosen runs of studies
  // Of the failed runs of studies; the members are indices in `reports`. Reports without an outcome
  // are in none.
  std::vector<isolation::CrashCluster> clusters;
  uint64_t skipped = 0;         // runs that are labelled neither failed nor passed
  uint64_t other_clusters = 0;  // failed runs left out by IsolationSources::cluster
  ProblemLog problems;
  ProblemLog site_problems;  // of programs, as site information
};

// Programs without sites are not an error: they may name the functions of recordings. Errors:
// usage, if there is nothing to read, or no such build or cluster; io; bad_magic, for a file of
// another kind.
Result<IsolationInput> find_isolation_input(const IsolationSources& sources);

}  // namespace telltale::cli
