#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/isolation/evidence.h"
#include "analysis/isolation/predicate_scores.h"

namespace telltale::isolation {

// Two predicates joined by "and" or "or" (Arumuga Nainar, Chen, Rosin and Liblit, Statistical
// Debugging Using Compound Boolean Predicates, ISSTA 2007).
struct Compound {
  uint32_t left = 0;  // less than right
  uint32_t right = 0;
  bool conjunction = false;  // false: a disjunction
  PredicateCounts counts;    // true_in: runs in which it was true; observed_in: that decided it
  double importance = 0;
  double gain = 0;  // above the importance of the better of both; always positive
};

// The compounds of two of `predicates` that have more importance than both parts, and of which the
// lower bound of Increase, by the interval `score` with `z` standard deviations, is above 0. At
// most `limit`, those of the highest importance; equal ones in the order of predicates,
// conjunctions first. Of predicates that were true and observed in the same runs only the first is
// used. A run decides a conjunction if both parts were true, or if it observed one that was not
// true; a disjunction if one part was true, or if it observed both and none was. Time grows with
// the square of the number of predicates, times the number of runs / 64.
std::vector<Compound> find_compounds(const SiteTable& sites, std::span<const LabelledRun> runs,
                                     std::span<const uint32_t> predicates, double z, size_t limit);

}  // namespace telltale::isolation
