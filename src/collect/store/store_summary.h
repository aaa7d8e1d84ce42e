#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "collect/store_folder.h"

namespace telltale::collect {

// The runs of one build in a store's files.
struct BuildSummary {
  std::string application;
  std::string build;
  std::string version;  // the latest that a client named; may be empty
  std::string first_day;
  std::string last_day;
  uint64_t runs = 0;
  uint64_t failed = 0;
  uint64_t passed = 0;
  uint64_t skipped = 0;
  uint64_t without_report = 0;
  uint64_t files = 0;
  bool has_sites = false;
};

// How failing runs of a build ended.
struct EndSummary {
  std::string application;
  std::string build;
  std::string end;  // "SIGSEGV", "status 3", "output"
  uint64_t runs = 0;
  std::string example;  // id of one of these reports
};

// The runs of one day.
struct DaySummary {
  std::string application;
  std::string day;
  uint64_t runs = 0;
  uint64_t failed = 0;
};

struct StoreSummary {
  std::vector<BuildSummary> builds;  // by application, then the build with the latest reports first
  std::vector<EndSummary> ends;      // by application, the most frequent first
  std::vector<DaySummary> days;      // by application and day
  ProblemLog problems;               // damaged files, whose runs are not counted
};

// Errors: usage, without DuckDB; io.
Result<StoreSummary> summarize(const StoreFolder& store);

}  // namespace telltale::collect
