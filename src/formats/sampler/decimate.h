#pragma once

#include <cstdint>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/block_writer.h"
#include "bytes/cursor.h"

namespace telltale::sampler {

// A report as it would have been if one in `sparsity` of what it counted had been looked at: every
// count n of its samples becomes a draw from Binomial(n, 1/sparsity), independent of the others.
// (Above 2^40 it is drawn from the Poisson or normal distribution that comes closest.) The same
// seed draws the same numbers. Bounds, which are no counts, timestamps and everything else stay as
// they are; so do rows that are damaged. Errors: the sink's.
Result<void> decimate(Bytes report, uint64_t sparsity, uint64_t seed, const ByteSink& sink,
                      ProblemLog& problems);

}  // namespace telltale::sampler
