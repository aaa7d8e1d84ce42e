#include "analysis/isolation/evidence.h"

#include <algorithm>
#include <bit>

#include "base/parallel.h"

namespace telltale::isolation {

uint32_t SiteTable::truth_table_of(const SiteGroup& group) {
  const auto same = [&](const auto& kind) {
    return kind.first.counters == group.counters && kind.first.complements == group.complements;
  };
  if (const auto known = std::ranges::find_if(kinds_, same); known != kinds_.end())
    return known->second;
  const auto begin = static_cast<uint32_t>(truth_.size());
  kinds_.emplace_back(group, begin);
  for (uint32_t counted = 0; counted < 1U << group.counters; ++counted) {
    uint32_t truth = 0;
    for (unsigned i = 0; i < group.counters; ++i) {
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

uint32_t SiteTable::site_of(uint32_t predicate) const {
  const auto after = std::ranges::upper_bound(sites_, predicate, {}, &Site::first_predicate);
  return static_cast<uint32_t>(after - sites_.begin()) - 1;
}

RunEvidence::RunEvidence(std::span<const ObservedSite> observed, std::vector<uint32_t> groups)
    : groups_(std::move(groups)) {
  uint32_t next = 0;
  for (const auto& [site, counted] : observed) {
    while (block_ends_.size() < block_of(site)) {
      block_ends_.push_back(static_cast<uint32_t>(bytes_.size()));
      next = static_cast<uint32_t>(block_ends_.size()) * kBlockSites;
    }
    const bool fits = counted <= kCountedMask;
    append((site - next) << kCountedBits | (fits ? counted : 0));
    if (!fits) append(counted);
    next = site + 1;
  }
  block_ends_.push_back(static_cast<uint32_t>(bytes_.size()));
  bytes_.shrink_to_fit();
}

void RunEvidence::append(uint32_t number) {
  for (; number > 0x7F; number >>= 7) bytes_.push_back(static_cast<uint8_t>(number | 0x80));
  bytes_.push_back(static_cast<uint8_t>(number));
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
    change(runs_, run->failed);
    for (const uint32_t group : run->evidence.groups()) change(reported_in_[group], run->failed);
  }
  // Each block of sites has separate counts: workers share nothing, and their order does not
  // matter.
  const size_t blocks = sites_->site_count() / RunEvidence::kBlockSites + 1;
  parallel_for(blocks, worker_count(workers), [&](size_t block, size_t) {
    for (const LabelledRun* run : runs) {
      const bool failed = run->failed;
      run->evidence.for_each_in_block(block, [&](uint32_t site, uint32_t counted) {
        change(observed_in_[site], failed);
        RunCounts* const first = &true_in_[sites_->first_predicate(site)];
        for (uint32_t truth = sites_->true_predicates(site, counted); truth != 0;
             truth &= truth - 1)
          change(first[std::countr_zero(truth)], failed);
      });
    }
  });
}

void PredicateTally::add(std::span<const LabelledRun* const> runs, size_t workers) {
  change_all(runs, workers,
             [](RunCounts& of, bool failed) { ++(failed ? of.failing : of.successful); });
}

void PredicateTally::remove(std::span<const LabelledRun* const> runs, size_t workers) {
  change_all(runs, workers,
             [](RunCounts& of, bool failed) { --(failed ? of.failing : of.successful); });
}

void PredicateTally::relabel(std::span<const LabelledRun* const> runs, size_t workers) {
  change_all(runs, workers, [](RunCounts& of, bool) {
    --of.failing;
    ++of.successful;
  });
}

}  // namespace telltale::isolation
