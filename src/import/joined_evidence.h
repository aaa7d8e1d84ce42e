#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "analysis/isolation/evidence.h"
#include "import/predicate_set.h"

namespace telltale {

// What runs observed of the predicates of one kind of evidence.
struct NumberedEvidence {
  std::unique_ptr<const PredicateSet> predicates;
  std::vector<isolation::LabelledRun> runs;
  std::vector<size_t> number_of_run;  // ascending; the run's place in a list of all runs
  std::vector<double> first_true;     // IsolationOptions::first_true
};

// Runs with evidence of both kinds, or of one: of the other kind these observed nothing. The
// predicates of `second` follow those of `first`. REQUIRES: both have predicates, and label a run
// alike.
NumberedEvidence join_evidence(NumberedEvidence first, NumberedEvidence second);

}  // namespace telltale
