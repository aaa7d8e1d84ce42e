#include "import/joined_evidence.h"

#include <limits>
#include <span>
#include <utility>

namespace telltale {
namespace {

using isolation::LabelledRun;
using isolation::ObservedSite;
using isolation::RunEvidence;
using isolation::SiteTable;

// The second set's sites, groups and predicates are numbered after those of the first.
class JoinedPredicates final : public PredicateSet {
 public:
  JoinedPredicates(std::unique_ptr<const PredicateSet> first,
                   std::unique_ptr<const PredicateSet> second)
      : first_(std::move(first)), second_(std::move(second)), table_(first_->table()) {
    for (const isolation::SiteGroup& group : second_->table().groups()) table_.add(group);
  }

  [[nodiscard]] const SiteTable& table() const override { return table_; }
  [[nodiscard]] PredicateWords describe(uint32_t predicate) const override {
    const uint32_t of_first = first_->table().predicate_count();
    return predicate < of_first ? first_->describe(predicate)
                                : second_->describe(predicate - of_first);
  }
  // Paths have no other lines in other builds.
  [[nodiscard]] BuildMatches builds() const override { return first_->builds(); }

  // Either may be null: the run has no evidence of that kind.
  [[nodiscard]] RunEvidence join(const RunEvidence* first, const RunEvidence* second) const {
    std::vector<ObservedSite> observed;
    std::vector<uint32_t> groups;
    if (first != nullptr) {
      first->for_each(
          [&](uint32_t site, uint32_t counted) { observed.push_back({site, counted}); });
      groups = first->groups();
    }
    if (second != nullptr) {
      const uint32_t sites = first_->table().site_count();
      const auto first_group = static_cast<uint32_t>(first_->table().groups().size());
      second->for_each(
          [&](uint32_t site, uint32_t counted) { observed.push_back({sites + site, counted}); });
      for (const uint32_t group : second->groups()) groups.push_back(first_group + group);
    }
    return {observed, std::move(groups)};
  }

 private:
  std::unique_ptr<const PredicateSet> first_;
  std::unique_ptr<const PredicateSet> second_;
  SiteTable table_;
};

std::vector<double> join_times(const NumberedEvidence& first, const NumberedEvidence& second) {
  if (first.first_true.empty() && second.first_true.empty()) return {};
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> times = first.first_true;
  times.resize(first.predicates->table().predicate_count(), kUnknown);
  times.insert(times.end(), second.first_true.begin(), second.first_true.end());
  times.resize(
      first.predicates->table().predicate_count() + second.predicates->table().predicate_count(),
      kUnknown);
  return times;
}

}  // namespace

NumberedEvidence join_evidence(NumberedEvidence first, NumberedEvidence second) {
  NumberedEvidence joined;
  joined.first_true = join_times(first, second);
  auto predicates = std::make_unique<const JoinedPredicates>(std::move(first.predicates),
                                                             std::move(second.predicates));
  size_t a = 0;
  size_t b = 0;
  while (a < first.runs.size() || b < second.runs.size()) {
    const bool has_first =
        a < first.runs.size() &&
        (b == second.runs.size() || first.number_of_run[a] <= second.number_of_run[b]);
    const bool has_second =
        b < second.runs.size() &&
        (a == first.runs.size() || second.number_of_run[b] <= first.number_of_run[a]);
    const LabelledRun& either = has_first ? first.runs[a] : second.runs[b];
    joined.number_of_run.push_back(has_first ? first.number_of_run[a] : second.number_of_run[b]);
    joined.runs.push_back({predicates->join(has_first ? &first.runs[a].evidence : nullptr,
                                            has_second ? &second.runs[b].evidence : nullptr),
                           either.failed});
    a += has_first ? 1 : 0;
    b += has_second ? 1 : 0;
  }
  joined.predicates = std::move(predicates);
  return joined;
}

}  // namespace telltale
