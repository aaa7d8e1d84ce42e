#include "analysis/isolation/evidence.h"

#include <algorithm>
#include <bit>

#include "base/parallel.h"

namespace telltale::isolation {
namespace {

constexpr size_t kManyRuns = 64;    // with fewer, preparing a block would cost more than it saves
constexpr uint32_t kSmallSets = 8;  // sets of counters below this are counted together

}  // namespace

uint32_t SiteTable::truth_table_of(const SiteGroup& group) {
  const auto same = [&](const auto& kind) {
    return kind.first.counters == group.counters && kind.first.silent == group.silent &&
           kind.first.complements == group.complements;
  };
  if (const auto known = std::ranges::find_if(kinds_, same); known != kinds_.end())
    return known->second;
  const auto begin = static_cast<uint32_t>(truth_.size());
  kinds_.emplace_back(group, begin);
  const unsigned loud = group.counters - group.silent;
  for (uint32_t all = 0; all < 1U << group.counters; ++all) {
    const uint32_t counted = all & ((1U << loud) - 1);
    uint32_t truth = 0;
    for (unsigned i = 0; i < loud; ++i) {
      const uint32_t own = 1U << i;
      if (!group.complements) {
        truth |= counted & own;
      } else {
        if ((counted & own) != 0) truth |= 1U << (2 * i);
        if ((counted & ~own) != 0) truth |= 1U << (2 * i + 1);
      }
    }
    truth_.push_back(truth);
  }
  return begin;
}

uint32_t SiteTable::add(const SiteGroup& group) {
  const uint32_t first = site_count();
  const uint32_t truth = truth_table_of(group);
  const auto number = static_cast<uint32_t>(groups_.size());
  for (uint32_t i = 0; i < group.sites; ++i) {
    sites_.push_back({predicate_count_, number, truth});
    predicate_count_ += group.predicates();
  }
  groups_.push_back(group);
  first_sites_.push_back(first);
  return first;
}

uint32_t SiteTable::add_site(uint32_t group) {
  const uint32_t number = site_count();
  SiteGroup& to = groups_[group];
  if (to.sites++ == 0) first_sites_[group] = number;
  sites_.push_back({predicate_count_, group, truth_table_of(to)});
  predicate_count_ += to.predicates();
  return number;
}

uint32_t SiteTable::site_of(uint32_t predicate) const {
  const auto after = std::ranges::upper_bound(sites_, predicate, {}, &Site::first_predicate);
  return static_cast<uint32_t>(after - sites_.begin()) - 1;
}

RunEvidence::RunEvidence(std::span<const ObservedSite> observed, std::vector<uint32_t> groups)
    : groups_(std::move(groups)) {
  // Written into a buffer that is large enough for any run, so that there is no check for each
  // byte, and what is kept has no bytes to spare.
  const auto buffer = std::make_unique_for_overwrite<uint8_t[]>(observed.size() * kMaxEntryBytes);
  uint8_t* end = buffer.get();
  const auto size = [&] { return static_cast<uint32_t>(end - buffer.get()); };
  uint32_t next = 0;
  for (const auto& [site, counted] : observed) {
    while (block_ends_.size() < block_of(site)) {
      block_ends_.push_back(size());
      next = static_cast<uint32_t>(block_ends_.size()) * kBlockSites;
    }
    const bool fits = counted <= kCountedMask;
    end = write((site - next) << kCountedBits | (fits ? counted : 0), end);
    if (!fits) end = write(counted, end);
    next = site + 1;
  }
  block_ends_.push_back(size());
  bytes_.assign(buffer.get(), end);
}

uint32_t RunEvidence::counted_at(uint32_t site) const {
  uint32_t found = 0;
  for_each_in_block(block_of(site), [&](uint32_t at, uint32_t counted) {
    if (at == site) found = counted;
  });
  return found;
}

size_t RunEvidence::memory_bytes() const {
  return sizeof(*this) + bytes_.capacity() + block_ends_.capacity() * sizeof(uint32_t) +
         groups_.capacity() * sizeof(uint32_t);
}

PredicateTally::PredicateTally(const SiteTable& sites)
    : sites_(&sites),
      true_in_(sites.predicate_count()),
      observed_in_(sites.site_count()),
      reported_in_(sites.groups().size()) {}

template <typename Change>
void PredicateTally::change_all(std::span<const LabelledRun* const> runs, size_t workers,
                                Change change) {
  for (const LabelledRun* run : runs) {
    change(runs_, run->failed, 1U);
    for (const uint32_t group : run->evidence.groups())
      change(reported_in_[group], run->failed, 1U);
  }
  // Each block of sites has separate counts: workers share nothing, and their order does not
  // matter.
  const size_t blocks = sites_->site_count() / RunEvidence::kBlockSites + 1;
  parallel_for(blocks, worker_count(workers), [&](size_t block, size_t) {
    if (runs.size() < kManyRuns) {
      for (const LabelledRun* run : runs) {
        run->evidence.for_each_in_block(block, [&](uint32_t site, uint32_t counted) {
          change_site(site, counted, run->failed, 1, change);
        });
      }
    } else {
      change_block(runs, block, change);
    }
  });
}

template <typename Change>
void PredicateTally::change_site(uint32_t site, uint32_t counted, bool failed, uint32_t times,
                                 Change change) {
  change(observed_in_[site], failed, times);
  RunCounts* const first = &true_in_[sites_->first_predicate(site)];
  for (uint32_t truth = sites_->true_predicates(site, counted); truth != 0; truth &= truth - 1)
    change(first[std::countr_zero(truth)], failed, times);
}

// Counts how often each set of counters occurs at each site, and changes the predicates once for
// all runs: one addition for an observation, instead of one for each predicate.
template <typename Change>
void PredicateTally::change_block(std::span<const LabelledRun* const> runs, size_t block,
                                  Change change) {
  const auto begin = static_cast<uint32_t>(block) * RunEvidence::kBlockSites;
  if (begin >= sites_->site_count()) return;
  const uint32_t size = std::min(RunEvidence::kBlockSites, sites_->site_count() - begin);
  std::vector<uint32_t> occurrences[2];
  for (std::vector<uint32_t>& of_label : occurrences) of_label.resize(size_t{size} * kSmallSets);
  for (const LabelledRun* run : runs) {
    uint32_t* const of_label = occurrences[run->failed ? 1 : 0].data();
    run->evidence.for_each_in_block(block, [&](uint32_t site, uint32_t counted) {
      if (counted < kSmallSets) [[likely]] {
        ++of_label[size_t{site - begin} * kSmallSets + counted];
      } else {
        change_site(site, counted, run->failed, 1, change);
      }
    });
  }
  for (const bool failed : {false, true}) {
    const std::vector<uint32_t>& of_label = occurrences[failed ? 1 : 0];
    for (uint32_t i = 0; i < of_label.size(); ++i) {
      if (of_label[i] != 0)
        change_site(begin + i / kSmallSets, i % kSmallSets, failed, of_label[i], change);
    }
  }
}

void PredicateTally::add(std::span<const LabelledRun* const> runs, size_t workers) {
  change_all(runs, workers, [](RunCounts& of, bool failed, uint32_t times) {
    (failed ? of.failing : of.successful) += times;
  });
}

void PredicateTally::remove(std::span<const LabelledRun* const> runs, size_t workers) {
  change_all(runs, workers, [](RunCounts& of, bool failed, uint32_t times) {
    (failed ? of.failing : of.successful) -= times;
  });
}

void PredicateTally::relabel(std::span<const LabelledRun* const> runs, size_t workers) {
  change_all(runs, workers, [](RunCounts& of, bool, uint32_t times) {
    of.failing -= times;
    of.successful += times;
  });
}

}  // namespace telltale::isolation
