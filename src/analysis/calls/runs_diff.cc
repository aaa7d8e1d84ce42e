#include "analysis/calls/runs_diff.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "analysis/calls/percentile.h"
#include "model/waiting.h"

namespace telltale {
namespace {

struct Moments {
  double mean = 0;      // of the logarithms
  double variance = 0;  // of the mean
  double runs = 0;
};

Moments moments_of(std::span<const uint64_t> values) {
  Moments moments;
  moments.runs = static_cast<double>(values.size());
  const auto log_of = [](uint64_t value) {
    return std::log(static_cast<double>(std::max<uint64_t>(value, 1)));
  };
  for (const uint64_t value : values) moments.mean += log_of(value) / moments.runs;
  if (values.size() < 2) return moments;
  double squares = 0;
  for (const uint64_t value : values) squares += std::pow(log_of(value) - moments.mean, 2);
  moments.variance = squares / (moments.runs - 1) / moments.runs;
  return moments;
}

RunsComparison::Side side_of(std::span<const uint64_t> values) {
  std::vector<Ticks> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  return {sorted.front(), percentile(sorted, 50), sorted.back()};
}

// A side's runs, added to rows by full name.
void add_runs(std::map<std::string, RunsDiff::Row>& rows, RunsDiff::Row& whole,
              std::span<const RunProfile> runs, RunsDiff::Values RunsDiff::Row::* side,
              NameStyle style) {
  const auto add = [&](RunsDiff::Row& row, size_t run, uint64_t calls, uint64_t total_ns,
                       uint64_t self_ns) {
    RunsDiff::Values& values = row.*side;
    for (std::vector<uint64_t>* each : {&values.calls, &values.total_ns, &values.self_ns})
      each->resize(runs.size());
    values.calls[run] += calls;
    values.total_ns[run] += total_ns;
    values.self_ns[run] += self_ns;
  };
  for (size_t run = 0; run < runs.size(); ++run) {
    const RunProfile& one = runs[run];
    for (const FunctionProfile& function : one.profile.functions) {
      const FunctionInfo& info = one.names.describe(function.function);
      RunsDiff::Row& row = rows[info.name];
      row.name = styled_name(info, style);
      const uint64_t self_ns = one.clock.to_ns(function.self);
      const uint64_t calls = comparable_calls(function.function, function.calls);
      add(row, run, calls, one.clock.to_ns(function.total), self_ns);
      add(whole, run, calls, self_ns, self_ns);
    }
    add(whole, run, 0, 0, 0);
  }
}

}  // namespace

double student_quantile(double freedom) {
  return boost::math::quantile(boost::math::students_t(freedom), 0.975);
}

RunsComparison compare_runs(std::span<const uint64_t> before, std::span<const uint64_t> after) {
  RunsComparison comparison{.before = side_of(before), .after = side_of(after)};
  const Moments a = moments_of(before);
  const Moments b = moments_of(after);
  const double shift = b.mean - a.mean;
  comparison.ratio = std::exp(shift);
  comparison.ratio_high = std::numeric_limits<double>::infinity();
  if (before.size() < 2 || after.size() < 2) return comparison;
  const double variance = a.variance + b.variance;
  if (variance == 0) {
    comparison.ratio_low = comparison.ratio_high = comparison.ratio;
    return comparison;
  }
  // Welch and Satterthwaite.
  const double freedom =
      variance * variance /
      (a.variance * a.variance / (a.runs - 1) + b.variance * b.variance / (b.runs - 1));
  const double half = student_quantile(std::max(freedom, 1.0)) * std::sqrt(variance);
  comparison.ratio_low = std::exp(shift - half);
  comparison.ratio_high = std::exp(shift + half);
  return comparison;
}

RunsDiff make_runs_diff(std::span<const RunProfile> before, std::span<const RunProfile> after,
                        NameStyle style) {
  RunsDiff diff;
  diff.whole.name = "all calls";
  std::map<std::string, RunsDiff::Row> rows;
  add_runs(rows, diff.whole, before, &RunsDiff::Row::before, style);
  add_runs(rows, diff.whole, after, &RunsDiff::Row::after, style);
  for (auto& [name, row] : rows) {
    for (std::vector<uint64_t>* each :
         {&row.before.calls, &row.before.total_ns, &row.before.self_ns})
      each->resize(before.size());
    for (std::vector<uint64_t>* each : {&row.after.calls, &row.after.total_ns, &row.after.self_ns})
      each->resize(after.size());
    diff.functions.push_back(std::move(row));
  }
  return diff;
}

}  // namespace telltale
