#pragma once

#include <cstddef>

#include "bytes/block_writer.h"
#include "cli/study/isolation_rows.h"

namespace telltale::cli {

// Findings for code review tools: SARIF 2.1.0 (OASIS, 2020), a result for each predictor, at most
// `limit` (0: all). Predicates that were true in the same runs are its related locations. A
// predictor that was true in fewer than ten runs is for review, not a failure.
void write_isolation_sarif(const IsolationAnswer& answer, size_t limit, BlockWriter& out);

// Workflow commands of GitHub Actions: a warning for each predictor, at most `limit` (0: all); a
// notice for one that was true in fewer than ten runs.
void write_isolation_annotations(const IsolationAnswer& answer, size_t limit, BlockWriter& out);

// A Graphviz graph: predictors, and the predicates of their affinity lists with their loss of
// importance.
void write_isolation_dot(const IsolationAnswer& answer, size_t limit, BlockWriter& out);

}  // namespace telltale::cli
