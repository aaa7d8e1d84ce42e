#pragma once

#include <cstdint>
#include <string_view>

#include "analysis/sites/line_counts.h"
#include "base/error.h"
#include "bytes/block_writer.h"

namespace telltale {

struct LcovOptions {
  // Executions per count; above 1 the counts are estimates, and the test's name says so. 0:
  // unknown.
  uint64_t sparsity = 0;
};

// A tracefile as geninfo(1) of lcov 1.16 describes it, for lcov and genhtml: files by name, with
// functions, branches (block: the condition's number in its line; branch 0 false, 1 true) and
// lines. Errors: the sink's.
Result<void> write_lcov(const LineCounts& counts, const LcovOptions& options, const ByteSink& sink);

}  // namespace telltale
