#include "import/sampler/sampler_ranges.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "analysis/isolation/threshold.h"
#include "base/parallel.h"

namespace telltale {
namespace {

using isolation::LabelledRun;
using isolation::LabelledValue;
using isolation::ObservedSite;
using isolation::RunEvidence;
using isolation::SiteTable;

constexpr uint64_t kZero = uint64_t{1} << 63;

std::string text_of_order(uint64_t order) {
  return order >= kZero ? fmt::format("{}", order - kZero) : fmt::format("-{}", kZero - order);
}

// The numbers that separate the runs best; none: all values are equal, or all outcomes.
struct Thresholds {
  std::optional<uint64_t> least;
  std::optional<uint64_t> greatest;
};

// Behind the sites of another set, one for each end of the ranges of a site of bounds that has a
// threshold (pointers have none), with a counter for each of: the smallest value was above the
// threshold, at most; the largest was at most the threshold, above.
class RangePredicates final : public PredicateSet {
 public:
  RangePredicates(std::unique_ptr<const SamplerPredicates> base,
                  const std::vector<Thresholds>& thresholds)
      : base_(std::move(base)), table_(base_->table()) {
    for (uint32_t site = 0; site < thresholds.size(); ++site) {
      first_end_.push_back(static_cast<uint32_t>(ends_.size()));
      if (const auto number = thresholds[site].least) ends_.push_back({site, false, *number});
      if (const auto number = thresholds[site].greatest) ends_.push_back({site, true, *number});
    }
    first_end_.push_back(static_cast<uint32_t>(ends_.size()));
    table_.add({static_cast<uint32_t>(ends_.size()), 2, false, false});
  }
  [[nodiscard]] const SiteTable& table() const override { return table_; }
  [[nodiscard]] PredicateWords describe(uint32_t predicate) const override {
    if (predicate < base_->table().predicate_count()) return base_->describe(predicate);
    const uint32_t index = predicate - base_->table().predicate_count();
    const End& end = ends_[index / 2];
    constexpr std::string_view kWords[] = {"was always >",
                                           "was once <=", "was always <=", "was once >"};
    PredicateWords words = base_->describe_range(end.site);
    const std::string statement =
        fmt::format("{} {} ", words.text, kWords[(end.greatest ? 2 : 0) + index % 2]);
    words.text = statement + text_of_order(end.threshold);
    words.text_without_number = statement + "N";
    return words;
  }
  [[nodiscard]] BuildMatches builds() const override { return base_->builds(); }

  [[nodiscard]] RunEvidence observe(const RunEvidence& run,
                                    std::span<const SiteRange> ranges) const {
    std::vector<ObservedSite> observed;
    run.for_each([&](uint32_t site, uint32_t counted) { observed.push_back({site, counted}); });
    std::vector<uint32_t> groups = run.groups();
    if (!ranges.empty()) groups.push_back(static_cast<uint32_t>(table_.groups().size() - 1));
    for (const SiteRange& range : ranges) {
      for (uint32_t i = first_end_[range.site]; i < first_end_[range.site + 1]; ++i) {
        const bool above = (ends_[i].greatest ? range.greatest : range.least) > ends_[i].threshold;
        const bool second = above == ends_[i].greatest;
        observed.push_back({base_->table().site_count() + i, second ? 2U : 1U});
      }
    }
    return {observed, std::move(groups)};
  }

 private:
  struct End {
    uint32_t site = 0;  // of bounds
    bool greatest = false;
    uint64_t threshold = 0;
  };
  std::unique_ptr<const SamplerPredicates> base_;
  SiteTable table_;
  std::vector<End> ends_;            // ascending by site
  std::vector<uint32_t> first_end_;  // by site; behind the last one: their number
};

// In blocks of sites, so that the values of all runs are in memory twice for a few sites only.
std::vector<Thresholds> find_thresholds(const SamplerEvidence& evidence, uint32_t sites,
                                        size_t workers) {
  constexpr uint32_t kBlock = 256;
  std::vector<Thresholds> thresholds(sites);
  const size_t blocks = (sites + kBlock - 1) / kBlock;
  parallel_for(blocks, worker_count(workers), [&](size_t block, size_t) {
    const auto first = static_cast<uint32_t>(block * kBlock);
    const uint32_t end = std::min(first + kBlock, sites);
    std::vector<std::vector<LabelledValue>> least(end - first);
    std::vector<std::vector<LabelledValue>> greatest(end - first);
    for (size_t run = 0; run < evidence.runs.size(); ++run) {
      const std::vector<SiteRange>& ranges = evidence.ranges[run];
      const bool failed = evidence.runs[run].failed;
      for (auto at = std::ranges::lower_bound(ranges, first, {}, &SiteRange::site);
           at != ranges.end() && at->site < end; ++at) {
        least[at->site - first].push_back({at->least, failed});
        greatest[at->site - first].push_back({at->greatest, failed});
      }
    }
    for (uint32_t site = first; site < end; ++site) {
      thresholds[site] = {isolation::best_threshold(std::move(least[site - first])),
                          isolation::best_threshold(std::move(greatest[site - first]))};
    }
  });
  return thresholds;
}

// Makes the ranges of one run ascend by site, with one for each site.
void merge_ranges(std::vector<SiteRange>& ranges) {
  std::ranges::sort(ranges, {}, &SiteRange::site);
  size_t kept = 0;
  for (const SiteRange& range : ranges) {
    if (kept != 0 && ranges[kept - 1].site == range.site) {
      SiteRange& same = ranges[kept - 1];
      same.least = std::min(same.least, range.least);
      same.greatest = std::max(same.greatest, range.greatest);
    } else {
      ranges[kept++] = range;
    }
  }
  ranges.resize(kept);
}

}  // namespace

std::optional<uint64_t> order_of(const sampler::BoundValue& value) {
  using Form = sampler::BoundValue::Form;
  if (value.form == Form::negative) return value.bits ^ kZero;
  if (value.form != Form::unsigned_number) return std::nullopt;
  return kZero + std::min(value.bits, kZero - 1);
}

sampler::RowTally RangeReader::add(std::string_view body, const SamplerSites::Section& section) {
  return sampler::merge_bounds(body, bounds_[predicates_.first_range_site(&section)],
                               section.sites->size());
}

std::vector<SiteRange> RangeReader::take() {
  std::vector<SiteRange> ranges;
  for (const auto& [first, rows] : bounds_) {
    for (uint32_t row = 0; row < rows.size(); ++row) {
      const auto least = order_of(rows[row].minimum);
      const auto greatest = order_of(rows[row].maximum);
      if (rows[row].observed() && least && greatest)
        ranges.push_back({predicates_.range_site_of(first + row), *least, *greatest});
    }
  }
  bounds_.clear();
  merge_ranges(ranges);
  const uint64_t found = ranges_of_all_.get().fetch_add(ranges.size()) + ranges.size();
  if (found > SamplerEvidence::kMostRanges) return {};
  return ranges;
}

void leave_out_many_ranges(SamplerEvidence& evidence, uint64_t found) {
  if (found <= SamplerEvidence::kMostRanges) return;
  for (std::vector<SiteRange>& ranges : evidence.ranges) ranges = {};
  evidence.problems.add({Problem::Kind::by_design, 0, "", "bounds",
                         fmt::format("{} ranges of values are more than {}: bounds are left out",
                                     found, SamplerEvidence::kMostRanges),
                         0});
}

std::unique_ptr<const PredicateSet> add_range_predicates(
    std::unique_ptr<const SamplerPredicates> base, SamplerEvidence& evidence, size_t workers) {
  const auto has_none = [](const std::vector<SiteRange>& ranges) { return ranges.empty(); };
  if (std::ranges::all_of(evidence.ranges, has_none)) return base;
  const auto thresholds = find_thresholds(evidence, base->range_site_count(), workers);
  auto predicates = std::make_unique<RangePredicates>(std::move(base), thresholds);
  parallel_for(evidence.runs.size(), worker_count(workers), [&](size_t i, size_t) {
    LabelledRun& run = evidence.runs[i];
    run.evidence = predicates->observe(run.evidence, evidence.ranges[i]);
    evidence.ranges[i] = {};
  });
  if (!evidence.first_true.empty()) {
    evidence.first_true.resize(predicates->table().predicate_count(),
                               std::numeric_limits<double>::quiet_NaN());
  }
  return predicates;
}

}  // namespace telltale
