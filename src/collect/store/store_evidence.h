#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "collect/store/run_files.h"
#include "import/sampler/sampler_evidence.h"
#include "import/sampler/sampler_predicates.h"
#include "import/study.h"

namespace telltale::collect {

// The runs of a store, for `telltale isolate`.
struct StoreEvidence {
  // How a failed run ended.
  struct Ending {
    size_t report = 0;      // number in `reports`
    StudyRun run;           // its label, rule, status and signal
    std::string backtrace;  // as a main-backtrace element; empty: unknown
  };
  SamplerEvidence evidence;        // report_of_run: numbers in `reports`
  std::vector<RunReport> reports;  // path: the report's id; number: from 1
  std::vector<Ending> endings;     // of all failed runs, in order
  uint64_t skipped = 0;            // runs that are labelled neither failed nor passed
};

// Reads what the runs of these files observed, on `workers` threads (0: all cores), with the same
// answer for any number of them. A damaged file is a problem. Errors: usage, without DuckDB; io,
// also if all files are damaged.
Result<StoreEvidence> read_store_evidence(const std::vector<RunFile>& files,
                                          const SamplerSites& sites,
                                          const SamplerPredicates& predicates, size_t workers);

// The builds of these files, that first whose first run was received last. Errors: usage, without
// DuckDB; io.
Result<std::vector<std::string>> builds_by_age(const std::vector<RunFile>& files);

}  // namespace telltale::collect
