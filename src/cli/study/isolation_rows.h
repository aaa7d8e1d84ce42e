#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/isolation/compound.h"
#include "analysis/isolation/isolate.h"
#include "analysis/isolation/regression.h"
#include "base/problem.h"
#include "bytes/block_writer.h"
#include "cli/study/cluster_summary.h"
#include "import/predicate_set.h"
#include "model/name_style.h"

namespace telltale::cli {

// The given runs, by how they were used.
struct IsolationRuns {
  uint64_t failing = 0;
  uint64_t successful = 0;
  uint64_t skipped = 0;
  uint64_t without_report = 0;
  uint64_t unresolved = 0;
  uint64_t other_clusters = 0;    // failed, but not of the chosen crash cluster
  uint64_t failing_left_out = 0;  // of without_report and unresolved
};

// A result of isolation to write.
struct IsolationAnswer {
  const PredicateSet& predicates;
  const isolation::Isolation& isolation;
  const isolation::IsolationOptions& options;
  IsolationRuns runs;
  std::vector<isolation::Compound> compounds = {};  // with --combine
  std::vector<ClusterSummary> clusters = {};        // of the failed runs whose outcome is known
  std::optional<isolation::Regression> regression = {};  // with --regression
  NameStyle names = NameStyle::short_names;              // in text and pages
};

// "importance"; as --score takes it.
std::string_view name_of(isolation::Score score);
std::string_view name_of(isolation::Discard discard);
std::string_view name_of(isolation::IntervalMethod method);

// docs/analysis/isolation.md defines every figure. `limit`: predictors and clusters that are shown;
// 0: all.
// `same`: below each one the predicates that were true in the same runs.
void write_isolation_text(const IsolationAnswer& answer, size_t limit, bool same, BlockWriter& out);
void write_isolation_csv(const IsolationAnswer& answer, BlockWriter& out);
// The document schemas::kIsolate.
void write_isolation_json(const IsolationAnswer& answer, const ProblemLog& problems,
                          BlockWriter& out);

}  // namespace telltale::cli
