#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/sampler/counter_rows.h"
#include "import/predicate_set.h"
#include "import/sampler/sampler_evidence.h"
#include "import/sampler/sampler_predicates.h"

namespace telltale {

// The order of integers as that of unsigned numbers: below 2^63 for negative ones. Numbers from
// 2^63 - 1 on are equal. None: a pointer, whose order differs from run to run, or no value.
std::optional<uint64_t> order_of(const sampler::BoundValue& value);

// Reads the sections of bounds of one report after the other. Not thread-safe; one for each worker.
class RangeReader {
 public:
  // `ranges`: how many all readers together have found; references outlive it.
  RangeReader(const SamplerPredicates& predicates, std::atomic<uint64_t>& ranges)
      : predicates_(predicates), ranges_of_all_(ranges) {}

  // `body`: rows of a report's section. REQUIRES: predicates.first_range_site(&section) !=
  // kNoGroup.
  sampler::RowTally add(std::string_view body, const SamplerSites::Section& section);
  // What was added since the last call: the ranges of one run, ascending by site. Empty, if all
  // readers together have more than SamplerEvidence::kMostRanges.
  std::vector<SiteRange> take();

 private:
  const SamplerPredicates& predicates_;
  std::reference_wrapper<std::atomic<uint64_t>> ranges_of_all_;
  std::map<uint32_t, std::vector<sampler::Bounds>> bounds_;  // by number of the first site
};

// Empties all ranges if the readers found too many, which is a problem.
void leave_out_many_ranges(SamplerEvidence& evidence, uint64_t found);

// Adds predicates of sites of bounds to those of `base`, by numbers that are found in the data
// (isolation::best_threshold): a run's smallest value was at most n; its largest was above m. If no
// number separates the runs, there is no such predicate. Their numbers follow those of `base`, and
// `evidence`, which was read with `base`, gets what runs observed of them; its ranges are emptied.
// `workers`: threads, 0: all cores; the answer is the same for any number. Returns `base` if no run
// has a range.
std::unique_ptr<const PredicateSet> add_range_predicates(
    std::unique_ptr<const SamplerPredicates> base, SamplerEvidence& evidence, size_t workers);

}  // namespace telltale
