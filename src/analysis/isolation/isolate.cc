#include "analysis/isolation/isolate.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <unordered_map>

#include "base/keep_first.h"
#include "base/parallel.h"

namespace telltale::isolation {
namespace {

struct Candidate {
  uint32_t predicate = 0;
  uint32_t site = 0;
};

struct Ranked {
  Candidate candidate;
  PredicateCounts counts;
  double score = 0;
  double first_true = 0;  // infinite: unknown
};

bool passes(const PredicateCounts& counts, const IsolationOptions& options, double z) {
  const Filters& filters = options.filters;
  const RunCounts& truth = counts.true_in;
  if (truth.all() < options.least_runs) return false;
  if (filters.universal_falsehood && truth.all() == 0) return false;
  if (filters.failing_coverage && counts.observed_in.failing == 0) return false;
  if (filters.failing_example && truth.failing == 0) return false;
  if (filters.successful_counterexample && truth.successful != 0) return false;
  return !filters.lower_bound || increase_interval(counts, z, options.interval).low > 0;
}

class Isolator {
 public:
  Isolator(const SiteTable& sites, std::span<const LabelledRun> runs,
           const IsolationOptions& options)
      : sites_(sites),
        options_(options),
        z_(standard_deviations(options.confidence)),
        initial_(sites),
        current_(sites) {
    for (const LabelledRun& run : runs) left_.push_back(&run);
    initial_.add(left_, options.workers);
    current_ = initial_;
    all_ = left_;
    answer_.runs = initial_.runs();
    answer_.unexplained = answer_.runs.failing;
    find_candidates();
  }

  Isolation run() {
    if (options_.eliminate) {
      eliminate();
      find_same_runs();
    } else {
      rank_all();
    }
    if (options_.affinity != 0) find_affinity();
    return std::move(answer_);
  }

 private:
  double score(const PredicateTally& tally, const PredicateCounts& counts) const {
    return score_of(options_.score, counts, tally.runs(), options_);
  }

  [[nodiscard]] unsigned rank_of(uint32_t predicate) const {
    if (!options_.rank) return 0;
    // Often asked for, of few predicates.
    const auto [known, is_new] = ranks_.try_emplace(predicate, 0);
    if (is_new) known->second = options_.rank(predicate);
    return known->second;
  }

  // The larger score first; of equal ones the one that became true first, then the one with more
  // evidence, then the one that tells more, then the one that comes first in the program.
  [[nodiscard]] bool is_before(const Ranked& a, const Ranked& b) const {
    if (a.score != b.score) return a.score > b.score;
    if (a.first_true != b.first_true) return a.first_true < b.first_true;
    if (a.counts.true_in.failing != b.counts.true_in.failing)
      return a.counts.true_in.failing > b.counts.true_in.failing;
    const unsigned rank_a = rank_of(a.candidate.predicate);
    const unsigned rank_b = rank_of(b.candidate.predicate);
    if (rank_a != rank_b) return rank_a < rank_b;
    return a.candidate.predicate < b.candidate.predicate;
  }

  [[nodiscard]] Ranked rank(const Candidate& candidate, const PredicateTally& tally,
                            const PredicateCounts& counts) const {
    double first_true = std::numeric_limits<double>::infinity();
    if (!options_.first_true.empty() && !std::isnan(options_.first_true[candidate.predicate]))
      first_true = options_.first_true[candidate.predicate];
    return {candidate, counts, score(tally, counts), first_true};
  }

  void find_candidates() {
    // If only failing runs are discarded, the complement of a chosen predicate may become a
    // predictor, so the filters apply later.
    const bool filter_now = !options_.eliminate || options_.discard == Discard::all_runs;
    for (uint32_t site = 0; site < sites_.site_count(); ++site) {
      const unsigned predicates = sites_.groups()[sites_.group_of(site)].predicates();
      for (uint32_t i = 0; i < predicates; ++i) {
        const uint32_t predicate = sites_.first_predicate(site) + i;
        const PredicateCounts counts = initial_.of(predicate, site);
        answer_.predicates_true += counts.true_in.all() != 0 ? 1 : 0;
        const bool passed = passes(counts, options_, z_);
        answer_.candidates += passed ? 1 : 0;
        if (filter_now ? passed : counts.true_in.failing != 0)
          candidates_.push_back({predicate, site});
      }
    }
  }

  bool find_best(Ranked& best) const {
    bool found = false;
    for (const Candidate& candidate : candidates_) {
      const PredicateCounts counts = current_.of(candidate.predicate, candidate.site);
      if (counts.true_in.failing == 0 || !passes(counts, options_, z_)) continue;
      const Ranked ranked = rank(candidate, current_, counts);
      if (ranked.score <= 0 || (found && !is_before(ranked, best))) continue;
      best = ranked;
      found = true;
    }
    return found;
  }

  [[nodiscard]] bool was_true_in(const LabelledRun& run, const Candidate& candidate) const {
    const uint32_t truth =
        sites_.true_predicates(candidate.site, run.evidence.counted_at(candidate.site));
    return (truth >> (candidate.predicate - sites_.first_predicate(candidate.site)) & 1U) != 0;
  }

  [[nodiscard]] std::vector<char> true_in(const std::vector<const LabelledRun*>& runs,
                                          const Candidate& candidate) const {
    std::vector<char> truth(runs.size());
    parallel_for(runs.size(), worker_count(options_.workers),
                 [&](size_t i, size_t) { truth[i] = was_true_in(*runs[i], candidate) ? 1 : 0; });
    return truth;
  }

  // Removes the candidate's failing runs from left_, and with Discard::all_runs also its successful
  // ones; updates current_ according to the options.
  void discard_runs_of(const Candidate& candidate) {
    const std::vector<char> truth = true_in(left_, candidate);
    std::vector<const LabelledRun*> discarded;
    std::vector<const LabelledRun*> kept;
    for (size_t i = 0; i < left_.size(); ++i) {
      const bool goes =
          truth[i] != 0 && (left_[i]->failed || options_.discard == Discard::all_runs);
      (goes ? discarded : kept).push_back(left_[i]);
    }
    if (options_.discard == Discard::relabel) {
      current_.relabel(discarded, options_.workers);
    } else {
      current_.remove(discarded, options_.workers);
    }
    left_ = std::move(kept);
  }

  void eliminate() {
    Ranked best;
    while (answer_.unexplained != 0 && !is_full() && find_best(best)) {
      Predictor predictor;
      predictor.predicate = best.candidate.predicate;
      predictor.counts = initial_.of(best.candidate.predicate, best.candidate.site);
      predictor.score = score(initial_, predictor.counts);
      predictor.effective_counts = best.counts;
      predictor.effective_runs = current_.runs();
      predictor.effective_score = best.score;
      predictor.explained = best.counts.true_in.failing;
      answer_.unexplained -= predictor.explained;
      answer_.predictors.push_back(std::move(predictor));
      discard_runs_of(best.candidate);
    }
  }

  void rank_all() {
    std::vector<Ranked> ranking;
    for (const Candidate& candidate : candidates_) {
      const PredicateCounts counts = initial_.of(candidate.predicate, candidate.site);
      ranking.push_back(rank(candidate, initial_, counts));
    }
    std::ranges::sort(ranking,
                      [this](const Ranked& a, const Ranked& b) { return is_before(a, b); });
    for (const Ranked& ranked : ranking) {
      if (is_full()) break;
      Predictor predictor;
      predictor.predicate = ranked.candidate.predicate;
      predictor.counts = predictor.effective_counts = ranked.counts;
      predictor.effective_runs = initial_.runs();
      predictor.score = predictor.effective_score = ranked.score;
      answer_.predictors.push_back(std::move(predictor));
    }
    count_explained();
  }

  [[nodiscard]] bool is_full() const {
    return options_.limit != 0 && answer_.predictors.size() >= options_.limit;
  }

  // Determines the failing runs that each predictor of the ranking explains.
  void count_explained() {
    std::vector<const LabelledRun*> open;
    for (const LabelledRun* run : all_) {
      if (run->failed) open.push_back(run);
    }
    for (Predictor& predictor : answer_.predictors) {
      if (open.empty()) break;
      const std::vector<char> truth = true_in(open, candidate_of(predictor));
      std::vector<const LabelledRun*> kept;
      for (size_t i = 0; i < open.size(); ++i) {
        if (truth[i] == 0) kept.push_back(open[i]);
      }
      predictor.explained = static_cast<uint32_t>(open.size() - kept.size());
      open = std::move(kept);
    }
    answer_.unexplained = static_cast<uint32_t>(open.size());
  }

  [[nodiscard]] Candidate candidate_of(const Predictor& predictor) const {
    return {predictor.predicate, sites_.site_of(predictor.predicate)};
  }

  // The predicates that are true in as many runs as a predictor, also those that the filters drop:
  // what a predictor makes true on its way is observed in no other run, and has no Increase.
  [[nodiscard]] std::vector<Candidate> as_often_as_predictors() const {
    std::set<std::pair<uint32_t, uint32_t>> wanted;  // counts
    for (const Predictor& predictor : answer_.predictors)
      wanted.emplace(predictor.counts.true_in.failing, predictor.counts.true_in.successful);
    std::vector<Candidate> found;
    for (uint32_t site = 0; site < sites_.site_count(); ++site) {
      const unsigned predicates = sites_.groups()[sites_.group_of(site)].predicates();
      for (uint32_t i = 0; i < predicates; ++i) {
        const uint32_t predicate = sites_.first_predicate(site) + i;
        const RunCounts truth = initial_.of(predicate, site).true_in;
        if (wanted.contains({truth.failing, truth.successful})) found.push_back({predicate, site});
      }
    }
    return found;
  }

  // Sets Predictor::same. Sets of runs are compared by the sum of a random number for each run,
  // where the numbers of runs agree; two different sets have equal sums once in 2^64.
  void find_same_runs() {
    const std::vector<Candidate> as_often = as_often_as_predictors();
    std::unordered_map<uint32_t, uint64_t> sums;        // by predicate
    std::vector<uint32_t> chosen(sites_.site_count());  // by site: bits of its predicates
    for (const Candidate& candidate : as_often) {
      sums[candidate.predicate] = 0;
      chosen[candidate.site] |= 1U
                                << (candidate.predicate - sites_.first_predicate(candidate.site));
    }
    if (sums.size() > answer_.predictors.size()) add_run_numbers(chosen, sums);
    std::map<uint64_t, std::vector<uint32_t>> by_sum;
    for (const Candidate& candidate : as_often)
      by_sum[sums.at(candidate.predicate)].push_back(candidate.predicate);
    for (Predictor& predictor : answer_.predictors) {
      for (const uint32_t other : by_sum[sums.at(predictor.predicate)]) {
        if (other != predictor.predicate && initial_.of(other).true_in == predictor.counts.true_in)
          predictor.same.push_back(other);
      }
      std::ranges::stable_sort(predictor.same, {}, [&](uint32_t other) { return rank_of(other); });
      std::ranges::stable_partition(
          predictor.same, [&](uint32_t other) { return passes(initial_.of(other), options_, z_); });
    }
  }

  void add_run_numbers(const std::vector<uint32_t>& chosen,
                       std::unordered_map<uint32_t, uint64_t>& sums) const {
    const size_t blocks = sites_.site_count() / RunEvidence::kBlockSites + 1;
    parallel_for(blocks, worker_count(options_.workers), [&](size_t block, size_t) {
      uint64_t state = 1;
      for (const LabelledRun* run : all_) {
        const uint64_t number = next_random(state);
        run->evidence.for_each_in_block(block, [&](uint32_t site, uint32_t counted) {
          if (chosen[site] == 0) return;
          uint32_t truth = sites_.true_predicates(site, counted) & chosen[site];
          for (; truth != 0; truth &= truth - 1) {
            const auto bit = static_cast<uint32_t>(std::countr_zero(truth));
            sums.find(sites_.first_predicate(site) + bit)->second += number;
          }
        });
      }
    });
  }

  // splitmix64 (Steele, Lea, Flood, 2014).
  static uint64_t next_random(uint64_t& state) {
    uint64_t mixed = state += 0x9E3779B97F4A7C15;
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB;
    return mixed ^ mixed >> 31;
  }

  void find_affinity() {
    const size_t all = answer_.predictors.size();
    const size_t count = options_.affinity_of == 0 ? all : std::min(options_.affinity_of, all);
    for (Predictor& predictor : std::span(answer_.predictors).first(count)) {
      const std::vector<char> truth = true_in(all_, candidate_of(predictor));
      std::vector<const LabelledRun*> own;
      for (size_t i = 0; i < all_.size(); ++i) {
        if (truth[i] != 0) own.push_back(all_[i]);
      }
      PredicateTally without = initial_;
      without.remove(own, options_.workers);
      std::vector<Affinity> list;
      for (const Candidate& candidate : candidates_) {
        if (candidate.predicate == predictor.predicate) continue;
        const double before =
            importance(initial_.of(candidate.predicate, candidate.site), initial_.runs());
        const double after =
            importance(without.of(candidate.predicate, candidate.site), without.runs());
        if (before > after) list.push_back({candidate.predicate, before, after});
      }
      const auto loses_more = [](const Affinity& a, const Affinity& b) {
        const double loss_a = a.before - a.after;
        const double loss_b = b.before - b.after;
        return loss_a != loss_b ? loss_a > loss_b : a.predicate < b.predicate;
      };
      keep_first(list, options_.affinity, loses_more);
      predictor.affinity.assign(list.begin(), list.end());
    }
  }

  const SiteTable& sites_;
  const IsolationOptions& options_;
  double z_;
  PredicateTally initial_;
  PredicateTally current_;  // of the remaining runs, with their current labels
  std::vector<const LabelledRun*> all_;
  std::vector<const LabelledRun*> left_;  // not discarded, and not relabelled
  std::vector<Candidate> candidates_;     // ascending
  mutable std::unordered_map<uint32_t, unsigned> ranks_;
  Isolation answer_;
};

}  // namespace

double score_of(Score score, const PredicateCounts& counts, const RunCounts& all,
                const IsolationOptions& options) {
  switch (score) {
    case Score::importance:
      return importance(counts, all);
    case Score::lower_bound:
      return increase_interval(counts, standard_deviations(options.confidence), options.interval)
          .low;
    case Score::increase:
      return increase(counts);
    case Score::failure:
      return failure(counts);
    case Score::failing_runs:
      return counts.true_in.failing;
    case Score::ochiai:
      return ochiai(counts, all);
    case Score::tarantula:
      return tarantula(counts, all);
    case Score::dstar:
      return dstar(counts, all);
    case Score::op2:
      return op2(counts, all);
    case Score::balanced_accuracy:
      return balanced_accuracy(counts, all);
  }
  return 0;
}

Isolation isolate(const SiteTable& sites, std::span<const LabelledRun> runs,
                  const IsolationOptions& options) {
  return Isolator(sites, runs, options).run();
}

}  // namespace telltale::isolation
