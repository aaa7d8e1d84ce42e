#pragma once

#include "analysis/isolation/isolate.h"
#include "import/predicate_set.h"

namespace telltale::cli {

// Orders Predictor::same for people who look for the cause: predicates of the predictor's line
// first, then those of its function, then others; each of them in the order of before.
void put_nearest_first(const PredicateSet& predicates, isolation::Isolation& isolation);

}  // namespace telltale::cli
