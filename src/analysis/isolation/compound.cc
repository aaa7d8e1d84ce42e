#include "analysis/isolation/compound.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "base/sort_rows.h"

namespace telltale::isolation {
namespace {

constexpr size_t kWordBits = 64;

// A bit for each run.
using RunSet = std::vector<uint64_t>;

struct Part {
  uint32_t predicate = 0;
  RunSet was_true;
  RunSet observed;
  double importance = 0;
};

// The runs, in words: failing ones have a bit in `failing`.
struct Runs {
  RunSet failing;
  RunCounts counts;
};

void set_bit(RunSet& set, size_t run) { set[run / kWordBits] |= uint64_t{1} << (run % kWordBits); }

Runs read_runs(std::span<const LabelledRun> runs) {
  Runs all;
  all.failing.resize((runs.size() + kWordBits - 1) / kWordBits);
  for (size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].failed) set_bit(all.failing, i);
    ++(runs[i].failed ? all.counts.failing : all.counts.successful);
  }
  return all;
}

std::vector<Part> read_parts(const SiteTable& sites, std::span<const LabelledRun> runs,
                             std::span<const uint32_t> predicates, size_t words) {
  std::vector<Part> parts;
  std::multimap<uint32_t, size_t> at_site;
  std::vector<uint32_t> ascending(predicates.begin(), predicates.end());
  std::ranges::sort(ascending);
  for (const uint32_t predicate : ascending) {
    at_site.emplace(sites.site_of(predicate), parts.size());
    parts.push_back({predicate, RunSet(words), RunSet(words), 0});
  }
  for (size_t run = 0; run < runs.size(); ++run) {
    auto next = at_site.begin();
    runs[run].evidence.for_each([&](uint32_t site, uint32_t counted) {
      while (next != at_site.end() && next->first < site) ++next;
      for (; next != at_site.end() && next->first == site; ++next) {
        Part& part = parts[next->second];
        set_bit(part.observed, run);
        const uint32_t bit = part.predicate - sites.first_predicate(site);
        if ((sites.true_predicates(site, counted) >> bit & 1U) != 0) set_bit(part.was_true, run);
      }
    });
    for (Part& part : parts) {
      const uint32_t group = sites.group_of(sites.site_of(part.predicate));
      if (sites.groups()[group].observed_by_report &&
          std::ranges::binary_search(runs[run].evidence.groups(), group))
        set_bit(part.observed, run);
    }
  }
  return parts;
}

// Adds the runs of a word to counts.
void count_word(uint64_t word, uint64_t failing, RunCounts& counts) {
  counts.failing += static_cast<uint32_t>(std::popcount(word & failing));
  counts.successful += static_cast<uint32_t>(std::popcount(word & ~failing));
}

PredicateCounts count_part(const Part& part, const Runs& runs) {
  PredicateCounts counts;
  for (size_t i = 0; i < runs.failing.size(); ++i) {
    count_word(part.was_true[i], runs.failing[i], counts.true_in);
    count_word(part.observed[i], runs.failing[i], counts.observed_in);
  }
  return counts;
}

PredicateCounts count_pair(const Part& a, const Part& b, bool conjunction, const Runs& runs) {
  PredicateCounts counts;
  for (size_t i = 0; i < runs.failing.size(); ++i) {
    const uint64_t both = a.was_true[i] & b.was_true[i];
    const uint64_t either = a.was_true[i] | b.was_true[i];
    const uint64_t a_false = a.observed[i] & ~a.was_true[i];
    const uint64_t b_false = b.observed[i] & ~b.was_true[i];
    const uint64_t holds = conjunction ? both : either;
    const uint64_t fails = conjunction ? a_false | b_false : a_false & b_false;
    count_word(holds, runs.failing[i], counts.true_in);
    count_word(holds | fails, runs.failing[i], counts.observed_in);
  }
  return counts;
}

// Of parts that were true and observed in the same runs, the first stays.
void drop_repetitions(std::vector<Part>& parts) {
  std::vector<Part> kept;
  for (Part& part : parts) {
    const auto same = [&](const Part& other) {
      return other.was_true == part.was_true && other.observed == part.observed;
    };
    if (std::ranges::none_of(kept, same)) kept.push_back(std::move(part));
  }
  parts = std::move(kept);
}

}  // namespace

std::vector<Compound> find_compounds(const SiteTable& sites, std::span<const LabelledRun> runs,
                                     std::span<const uint32_t> predicates, double z, size_t limit) {
  const Runs all = read_runs(runs);
  std::vector<Part> parts = read_parts(sites, runs, predicates, all.failing.size());
  drop_repetitions(parts);
  for (Part& part : parts) part.importance = importance(count_part(part, all), all.counts);
  std::vector<Compound> found;
  for (size_t i = 0; i < parts.size(); ++i) {
    for (size_t j = i + 1; j < parts.size(); ++j) {
      const double better = std::max(parts[i].importance, parts[j].importance);
      for (const bool conjunction : {true, false}) {
        const PredicateCounts counts = count_pair(parts[i], parts[j], conjunction, all);
        const double value = importance(counts, all.counts);
        if (value <= better || increase_interval(counts, z, IntervalMethod::score).low <= 0)
          continue;
        found.push_back(
            {parts[i].predicate, parts[j].predicate, conjunction, counts, value, value - better});
      }
    }
  }
  sort_rows(found, std::greater{}, &Compound::importance);
  if (found.size() > limit) found.resize(limit);
  return found;
}

}  // namespace telltale::isolation
