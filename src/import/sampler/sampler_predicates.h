#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "analysis/isolation/evidence.h"
#include "analysis/isolation/match_sites.h"
#include "formats/sampler/wire.h"
#include "import/predicate_set.h"
#include "import/sampler/sampler_sites.h"

namespace telltale {

// The predicates of a program's sites, scheme by scheme (docs/analysis/isolation.md, "Predicates").
// Sections of schemes that nobody documented have none; those of bounds have none here, because
// theirs depend on the values of the runs (sampler_ranges.h). `sites` must outlive it.
//
// Sites of several builds that are the same code are one site of table(). Runs are read section by
// section, so reports are numbered by reading(), in which every site of every build is itself.
class SamplerPredicates final : public PredicateSet {
 public:
  explicit SamplerPredicates(const SamplerSites& sites);

  [[nodiscard]] const isolation::SiteTable& table() const override {
    return is_merged_ ? table_ : reading_;
  }
  [[nodiscard]] PredicateWords describe(uint32_t predicate) const override;
  [[nodiscard]] BuildMatches builds() const override { return builds_; }
  [[nodiscard]] uint64_t sites_without_predicates() const { return without_predicates_; }

  // Numbers of what a report lists.
  [[nodiscard]] const isolation::SiteTable& reading() const { return reading_; }
  static constexpr uint32_t kNoGroup = UINT32_MAX;
  // The group in reading() of the sites of a unit and scheme; kNoGroup: they have no predicates.
  // Null `section`: kNoGroup.
  [[nodiscard]] uint32_t group_of(const SamplerSites::Section* section) const;
  [[nodiscard]] const sampler::SchemeLayout& scheme_of(uint32_t group) const {
    return *groups_[group].scheme;
  }
  // The number in table() of a site of reading().
  [[nodiscard]] uint32_t site_of(uint32_t reading_site) const {
    return is_merged_ ? site_of_[reading_site] : reading_site;
  }
  // A run's observations, from the numbers of reading() to those of table(). REQUIRES: `observed`
  // ascends by site, `groups` ascends.
  void renumber(std::vector<isolation::ObservedSite>& observed,
                std::vector<uint32_t>& groups) const;

  // Sites of bounds are numbered by themselves, section by section in what a report lists. The
  // number of the section's first one; kNoGroup: the section is not of bounds, or null.
  [[nodiscard]] uint32_t first_range_site(const SamplerSites::Section* section) const;
  // The number of these sites in all builds; sites that are the same code in several builds are
  // one.
  [[nodiscard]] uint32_t range_site_count() const {
    return static_cast<uint32_t>(range_sites_.size());
  }
  // The number, below range_site_count(), of a site that a report lists.
  [[nodiscard]] uint32_t range_site_of(uint32_t reading_site) const {
    return range_site_of_[reading_site];
  }
  // The words of a site of bounds; what a predicate says depends on the runs, so that the text is
  // the variable. REQUIRES: site < range_site_count().
  [[nodiscard]] PredicateWords describe_range(uint32_t site) const;

 private:
  struct Group {
    const SamplerSites::Section* section = nullptr;
    const sampler::SchemeLayout* scheme = nullptr;
  };
  // All sites that reports list: those of reading(), then those of bounds.
  [[nodiscard]] uint32_t listed_count() const { return reading_.site_count() + listed_ranges_; }
  [[nodiscard]] sampler::SiteRow row_of(uint32_t listed) const;
  [[nodiscard]] PredicateWords words_of_listed(uint32_t listed, uint32_t index) const;
  [[nodiscard]] std::vector<uint64_t> other_lines(uint32_t listed) const;
  [[nodiscard]] std::vector<isolation::StatedSite> state_sites(
      std::string_view program, const std::vector<uint32_t>& sections) const;
  void match_builds();
  void merge(const isolation::SiteMatches& matches);
  void count_builds(std::span<const std::vector<isolation::StatedSite>> builds,
                    const isolation::SiteMatches& matches);

  const SamplerSites* sites_;
  isolation::SiteTable reading_;
  std::vector<Group> groups_;                                // of reading_
  std::vector<uint32_t> group_of_section_;                   // by number in sites_->sections()
  std::map<uint32_t, const SamplerSites::Section*> bounds_;  // by number of the first site
  uint32_t listed_ranges_ = 0;
  uint64_t without_predicates_ = 0;

  bool is_merged_ = false;  // sites of builds are the same code
  isolation::SiteTable table_;
  std::vector<uint32_t> site_of_;                 // by site of reading_
  std::vector<uint32_t> listed_of_;               // by site of table_: the first of the same code
  std::vector<std::vector<uint32_t>> groups_of_;  // by group of reading_: groups of table_
  std::vector<uint32_t> range_site_of_;           // by listed site of bounds
  std::vector<uint32_t> range_sites_;             // listed sites of bounds
  std::map<uint32_t, std::vector<uint32_t>> others_;  // by listed site: further ones, if any
  BuildMatches builds_;
};

}  // namespace telltale
