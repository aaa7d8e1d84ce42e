#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/isolation/evidence.h"
#include "formats/sampler/wire.h"
#include "import/predicate_set.h"
#include "import/sampler/sampler_sites.h"

namespace telltale {

// The predicates of a program's sites, scheme by scheme (docs/analysis/isolation.md, "Predicates").
// Sections of bounds, and of schemes that nobody documented, have none. `sites` must outlive it.
class SamplerPredicates final : public PredicateSet {
 public:
  explicit SamplerPredicates(const SamplerSites& sites);

  [[nodiscard]] const isolation::SiteTable& table() const override { return table_; }
  static constexpr uint32_t kNoGroup = UINT32_MAX;
  // The group in table() of the sites of a unit and scheme; kNoGroup: they have no predicates.
  // Null `section`: kNoGroup.
  [[nodiscard]] uint32_t group_of(const SamplerSites::Section* section) const;
  [[nodiscard]] const sampler::SchemeLayout& scheme_of(uint32_t group) const {
    return *groups_[group].scheme;
  }
  [[nodiscard]] uint64_t sites_without_predicates() const { return without_predicates_; }
  [[nodiscard]] PredicateWords describe(uint32_t predicate) const override;

 private:
  struct Group {
    const SamplerSites::Section* section = nullptr;
    const sampler::SchemeLayout* scheme = nullptr;
  };
  const SamplerSites* sites_;
  isolation::SiteTable table_;
  std::vector<Group> groups_;
  std::vector<uint32_t> group_of_section_;  // by number in sites_->sections()
  uint64_t without_predicates_ = 0;
};

}  // namespace telltale
