#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "analysis/isolation/predicate_scores.h"

namespace telltale::isolation {

// The observations of many runs, one bit per predicate and run. The number of observations within a
// run does not matter, because they depend on each other (a sampled call counts all of its sites).

// Consecutively numbered sites with the same kind of counters: the sites of one unit and scheme.
struct SiteGroup {
  static constexpr unsigned kMaxCounters = 16;

  uint32_t sites = 0;
  unsigned counters = 1;  // of a site; at most kMaxCounters
  // Predicate 2i is "counter i counted", 2i + 1 "another counter counted". Otherwise predicate i is
  // "counter i counted".
  bool complements = false;
  // A run observes the site if its report contains the group. Otherwise: if a counter is not 0.
  bool observed_by_report = false;
  // How many of the last counters only say that the site was observed: they have no predicate.
  unsigned silent = 0;

  [[nodiscard]] unsigned predicates() const { return (complements ? 2 : 1) * (counters - silent); }
};

// The sites of all groups, numbered from 0 in order, and their predicates likewise.
class SiteTable {
 public:
  // Returns the number of the group's first site. REQUIRES: 1 <= counters <= kMaxCounters, silent <
  // counters.
  uint32_t add(const SiteGroup& group);
  // Adds a site to a group; the sites of such a group need not follow each other. Returns its
  // number. REQUIRES: group < groups().size().
  uint32_t add_site(uint32_t group);

  [[nodiscard]] const std::vector<SiteGroup>& groups() const { return groups_; }
  [[nodiscard]] uint32_t site_count() const { return static_cast<uint32_t>(sites_.size()); }
  [[nodiscard]] uint32_t predicate_count() const { return predicate_count_; }
  [[nodiscard]] uint32_t first_site(size_t group) const { return first_sites_[group]; }
  // REQUIRES, for these: site < site_count(), predicate < predicate_count().
  [[nodiscard]] uint32_t group_of(uint32_t site) const { return sites_[site].group; }
  [[nodiscard]] uint32_t first_predicate(uint32_t site) const {
    return sites_[site].first_predicate;
  }
  [[nodiscard]] uint32_t site_of(uint32_t predicate) const;
  // A bit for each predicate of the site; `counted` has a bit for each counter.
  [[nodiscard]] uint32_t true_predicates(uint32_t site, uint32_t counted) const {
    return truth_[sites_[site].truth + counted];
  }

 private:
  struct Site {
    uint32_t first_predicate = 0;
    uint32_t group = 0;
    uint32_t truth = 0;  // in truth_
  };
  uint32_t truth_table_of(const SiteGroup& group);

  std::vector<SiteGroup> groups_;
  std::vector<uint32_t> first_sites_;
  std::vector<Site> sites_;
  std::vector<uint32_t> truth_;  // by kind of group and set of counters
  std::vector<std::pair<SiteGroup, uint32_t>> kinds_;
  uint32_t predicate_count_ = 0;
};

// A site at which a run counted something.
struct ObservedSite {
  uint32_t site = 0;
  uint32_t counted = 0;  // a bit for each counter that is not 0; never 0
};

// The observations of one run, packed: about one byte per site. Immutable.
class RunEvidence {
 public:
  // `observed` ascends by site. `groups`: the groups in the run's report, ascending.
  RunEvidence(std::span<const ObservedSite> observed, std::vector<uint32_t> groups);

  // Calls use(site, counted) for each observed site of a block, ascending.
  template <typename Use>
  void for_each_in_block(size_t block, Use use) const {
    if (block >= block_ends_.size()) return;
    const uint8_t* at = bytes_.data() + (block == 0 ? 0 : block_ends_[block - 1]);
    const uint8_t* const end = bytes_.data() + block_ends_[block];
    uint32_t next = static_cast<uint32_t>(block) * kBlockSites;
    while (at != end) {
      const uint32_t word = read(at);
      const uint32_t site = next + (word >> kCountedBits);
      uint32_t counted = word & kCountedMask;
      if (counted == 0) counted = read(at);
      use(site, counted);
      next = site + 1;
    }
  }
  template <typename Use>
  void for_each(Use use) const {
    for (size_t block = 0; block < block_ends_.size(); ++block) for_each_in_block(block, use);
  }
  // The counters of the site that are not 0; 0: none.
  [[nodiscard]] uint32_t counted_at(uint32_t site) const;
  [[nodiscard]] const std::vector<uint32_t>& groups() const { return groups_; }
  [[nodiscard]] size_t memory_bytes() const;

  static constexpr uint32_t kBlockSites = 8192;
  static size_t block_of(uint32_t site) { return site / kBlockSites; }

 private:
  // An entry is a number: the distance from the preceding site, and the counters in the low bits.
  // Counters that do not fit are a separate number.
  static constexpr unsigned kCountedBits = 3;
  static constexpr uint32_t kCountedMask = (1U << kCountedBits) - 1;
  static constexpr size_t kMaxEntryBytes = 10;  // two numbers

  // Seven bits per byte, the lowest first.
  static uint32_t read(const uint8_t*& at) {
    uint32_t number = *at & 0x7FU;
    for (unsigned shift = 7; (*at++ & 0x80U) != 0; shift += 7) number |= (*at & 0x7FU) << shift;
    return number;
  }
  // Returns the end of what it wrote: up to five bytes.
  static uint8_t* write(uint32_t number, uint8_t* at) {
    for (; number > 0x7F; number >>= 7) *at++ = static_cast<uint8_t>(number | 0x80);
    *at++ = static_cast<uint8_t>(number);
    return at;
  }

  std::vector<uint8_t> bytes_;
  std::vector<uint32_t> block_ends_;  // in bytes_; blocks after the last observed site are absent
  std::vector<uint32_t> groups_;
};

// A run with its outcome.
struct LabelledRun {
  RunEvidence evidence;
  bool failed = false;
};

// For all predicates: number of runs in which it was true, and of runs that observed its site.
class PredicateTally {
 public:
  explicit PredicateTally(const SiteTable& sites);

  // Each works on `workers` threads (0: all cores); the counts are the same for any number.
  void add(std::span<const LabelledRun* const> runs, size_t workers);
  // Removes runs that were added.
  void remove(std::span<const LabelledRun* const> runs, size_t workers);
  // Relabels added failing runs as successful.
  void relabel(std::span<const LabelledRun* const> runs, size_t workers);

  [[nodiscard]] const RunCounts& runs() const { return runs_; }
  [[nodiscard]] PredicateCounts of(uint32_t predicate, uint32_t site) const {
    return {true_in_[predicate], observed_in(site)};
  }
  [[nodiscard]] PredicateCounts of(uint32_t predicate) const {
    return of(predicate, sites_->site_of(predicate));
  }

 private:
  [[nodiscard]] const RunCounts& observed_in(uint32_t site) const {
    const uint32_t group = sites_->group_of(site);
    return sites_->groups()[group].observed_by_report ? reported_in_[group] : observed_in_[site];
  }
  // Calls change(counts, failed, times) for each count that runs contribute to.
  template <typename Change>
  void change_all(std::span<const LabelledRun* const> runs, size_t workers, Change change);
  template <typename Change>
  void change_block(std::span<const LabelledRun* const> runs, size_t block, Change change);
  template <typename Change>
  void change_site(uint32_t site, uint32_t counted, bool failed, uint32_t times, Change change);

  const SiteTable* sites_;
  std::vector<RunCounts> true_in_;      // by predicate
  std::vector<RunCounts> observed_in_;  // by site
  std::vector<RunCounts> reported_in_;  // by group
  RunCounts runs_;
};

}  // namespace telltale::isolation
