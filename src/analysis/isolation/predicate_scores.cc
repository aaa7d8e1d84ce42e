#include "analysis/isolation/predicate_scores.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace telltale::isolation {
namespace {

double fraction(uint32_t part, uint32_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

double square(double x) { return x * x; }

Interval normal_interval(const PredicateCounts& counts, double z) {
  const double f = failure(counts);
  const double c = context(counts);
  const double variance =
      f * (1 - f) / counts.true_in.all() + c * (1 - c) / counts.observed_in.all();
  const double margin = z * std::sqrt(variance);
  return {f - c - margin, f - c + margin};
}

// Increase = (1 - w) (f - g), where w is the share of observing runs in which the predicate was
// true, and g the failing fraction of the other ones. The estimates of w, f and g are independent,
// so the squares of their contributions add up.
Interval score_interval(const PredicateCounts& counts, double z) {
  const uint32_t all = counts.observed_in.all();
  const uint32_t others = all - counts.true_in.all();
  const uint32_t failing_others = counts.observed_in.failing - counts.true_in.failing;
  const double f = failure(counts);
  const double g = fraction(failing_others, others);
  const double share = fraction(others, all);
  const Interval of_f = wilson_interval(counts.true_in.failing, counts.true_in.all(), z);
  const Interval of_g = wilson_interval(failing_others, others, z);
  const Interval of_share = wilson_interval(others, all, z);
  const double difference = f - g;
  // A negative difference is closest to 0 where the share is smallest.
  const double less = difference >= 0 ? share - of_share.low : of_share.high - share;
  const double more = difference >= 0 ? of_share.high - share : share - of_share.low;
  const double below = share * share * (square(f - of_f.low) + square(of_g.high - g));
  const double above = share * share * (square(of_f.high - f) + square(g - of_g.low));
  return {share * difference - std::sqrt(below + square(difference * less)),
          share * difference + std::sqrt(above + square(difference * more))};
}

}  // namespace

double standard_deviations(double confidence) {
  // erf is monotone, so bisection finds the argument to the last bit.
  double low = 0;
  double high = 40;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (std::erf(middle / std::sqrt(2.0)) < confidence ? low : high) = middle;
  }
  return low;
}

Interval wilson_interval(uint32_t k, uint32_t n, double z) {
  if (n == 0) return {0, 1};
  const double p = fraction(k, n);
  const double count = n;
  const double centre = p + z * z / (2 * count);
  const double margin = z * std::sqrt(p * (1 - p) / count + z * z / (4 * count * count));
  const double scale = 1 + z * z / count;
  return {std::max(0.0, (centre - margin) / scale), std::min(1.0, (centre + margin) / scale)};
}

double failure(const PredicateCounts& counts) {
  return fraction(counts.true_in.failing, counts.true_in.all());
}

double context(const PredicateCounts& counts) {
  return fraction(counts.observed_in.failing, counts.observed_in.all());
}

double increase(const PredicateCounts& counts) {
  return counts.true_in.all() == 0 ? 0 : failure(counts) - context(counts);
}

Interval increase_interval(const PredicateCounts& counts, double z, IntervalMethod method) {
  if (counts.true_in.all() == 0 || counts.true_in == counts.observed_in) return {-1, 1};
  return method == IntervalMethod::score ? score_interval(counts, z) : normal_interval(counts, z);
}

double importance(const PredicateCounts& counts, const RunCounts& all) {
  const double gain = increase(counts);
  if (gain <= 0 || counts.true_in.failing == 0) return 0;
  double recall = 1;
  if (all.failing > 1) recall = std::log(counts.true_in.failing) / std::log(all.failing);
  return recall <= 0 ? 0 : 2 / (1 / gain + 1 / recall);
}

double ochiai(const PredicateCounts& counts, const RunCounts& all) {
  const double f = counts.true_in.failing;
  const double product = static_cast<double>(all.failing) * counts.true_in.all();
  return product == 0 ? 0 : f / std::sqrt(product);
}

double tarantula(const PredicateCounts& counts, const RunCounts& all) {
  const double f = fraction(counts.true_in.failing, all.failing);
  const double s = fraction(counts.true_in.successful, all.successful);
  return f + s == 0 ? 0 : f / (f + s);
}

double dstar(const PredicateCounts& counts, const RunCounts& all) {
  const double f = counts.true_in.failing;
  const double others =
      static_cast<double>(counts.true_in.successful) + (all.failing - counts.true_in.failing);
  if (f == 0) return 0;
  return others == 0 ? std::numeric_limits<double>::infinity() : f * f / others;
}

double op2(const PredicateCounts& counts, const RunCounts& all) {
  return counts.true_in.failing - counts.true_in.successful / (all.successful + 1.0);
}

double balanced_accuracy(const PredicateCounts& counts, const RunCounts& all) {
  if (all.failing == 0 || all.successful == 0) return 0.5;
  const double hits = static_cast<double>(counts.true_in.failing) / all.failing;
  const double misses = static_cast<double>(counts.true_in.successful) / all.successful;
  return (hits + 1 - misses) / 2;
}

}  // namespace telltale::isolation
