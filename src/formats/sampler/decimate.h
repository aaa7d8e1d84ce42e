#pragma once

#include <cstdint>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/block_writer.h"
#include "bytes/cursor.h"

namespace telltale::sampler {

// Simulates sampling: the report as it would be if one in `sparsity` of its observations had been
// made. Every count n of its samples becomes an independent draw from Binomial(n, 1/sparsity).
// (Above 2^40 from the closest Poisson or normal distribution.) The same seed gives the same
// numbers. Bounds, timestamps, damaged rows and everything else are unchanged. Errors: the sink's.
Result<void> decimate(Bytes report, uint64_t sparsity, uint64_t seed, const ByteSink& sink,
                      ProblemLog& problems);

}  // namespace telltale::sampler
