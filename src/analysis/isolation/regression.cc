#include "analysis/isolation/regression.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "base/parallel.h"
#include "base/sort_rows.h"

namespace telltale::isolation {
namespace {

constexpr uint32_t kMostFolds = 5;
constexpr size_t kLambdas = 12;
constexpr double kSmallestLambda = 0.02;  // of the largest
constexpr double kFixedLambda = 0.1;      // likewise
constexpr double kTolerance = 1e-7;       // of a weight, in a round
constexpr int kMostRounds = 2000;

// Runs with the same outcome in which the same predicates were true.
struct Row {
  bool failed = false;
  std::vector<uint32_t> parts;  // that were true, ascending
  auto operator<=>(const Row&) const = default;
};

struct Data {
  std::vector<uint32_t> predicates;  // by part
  std::vector<std::vector<uint32_t>> rows_of_part;
  std::vector<char> failed;                            // by row
  std::vector<double> runs;                            // by row
  std::vector<std::array<double, kMostFolds>> folded;  // by row: its runs in each fold
};

// By predicate: the runs in which it was true, ascending.
std::vector<std::vector<uint32_t>> read_truth(const SiteTable& sites,
                                              std::span<const LabelledRun> runs,
                                              std::span<const uint32_t> predicates) {
  std::multimap<uint32_t, size_t> at_site;
  for (size_t i = 0; i < predicates.size(); ++i) at_site.emplace(sites.site_of(predicates[i]), i);
  std::vector<std::vector<uint32_t>> truth(predicates.size());
  for (uint32_t run = 0; run < runs.size(); ++run) {
    auto next = at_site.begin();
    runs[run].evidence.for_each([&](uint32_t site, uint32_t counted) {
      while (next != at_site.end() && next->first < site) ++next;
      for (; next != at_site.end() && next->first == site; ++next) {
        const uint32_t bit = predicates[next->second] - sites.first_predicate(site);
        if ((sites.true_predicates(site, counted) >> bit & 1U) != 0)
          truth[next->second].push_back(run);
      }
    });
  }
  return truth;
}

// Rows are ordered by what they contain, never by the number of a run, and the runs of an outcome
// are dealt out to the folds in that order: the order of the runs does not matter.
Data read_data(const SiteTable& sites, std::span<const LabelledRun> runs,
               std::span<const uint32_t> predicates, uint32_t folds) {
  Data data;
  std::vector<Row> row_of_run(runs.size());
  std::map<std::vector<uint32_t>, size_t> known;
  std::vector<std::vector<uint32_t>> truth = read_truth(sites, runs, predicates);
  for (size_t i = 0; i < predicates.size(); ++i) {
    const auto [first, is_new] = known.try_emplace(std::move(truth[i]), i);
    if (!is_new || first->first.empty()) continue;
    for (const uint32_t run : first->first)
      row_of_run[run].parts.push_back(static_cast<uint32_t>(data.predicates.size()));
    data.predicates.push_back(predicates[i]);
  }
  std::map<Row, uint32_t> rows;
  for (size_t run = 0; run < runs.size(); ++run) {
    row_of_run[run].failed = runs[run].failed;
    ++rows[std::move(row_of_run[run])];
  }
  data.rows_of_part.resize(data.predicates.size());
  std::array<uint32_t, 2> dealt = {0, 0};
  for (const auto& [row, count] : rows) {
    const auto number = static_cast<uint32_t>(data.runs.size());
    for (const uint32_t part : row.parts) data.rows_of_part[part].push_back(number);
    data.failed.push_back(row.failed ? 1 : 0);
    data.runs.push_back(count);
    auto& folded = data.folded.emplace_back();
    for (uint32_t i = 0; i < count && folds != 0; ++i)
      folded[dealt[row.failed ? 1 : 0]++ % folds] += 1;
  }
  return data;
}

// Coordinate descent: each step minimises a quadratic bound of the loss that holds within a room
// around the weight, so the loss never grows (Genkin, Lewis and Madigan, Large-Scale Bayesian
// Logistic Regression for Text Categorization, Technometrics 49, 2007, section 4).
class Fit {
 public:
  // `runs`: the number of runs of each row. A row with 0 runs has no weight in the fit.
  Fit(const Data& data, std::span<const double> runs)
      : data_(data),
        runs_(runs.begin(), runs.end()),
        all_(std::accumulate(runs.begin(), runs.end(), 0.0)),
        weights_(data.predicates.size()),
        rooms_(data.predicates.size(), 1),
        margins_(runs.size()),
        shrunk_(runs.size()),
        residuals_(runs.size()) {
    double failing = 0;
    for (size_t row = 0; row < runs_.size(); ++row)
      failing += data.failed[row] != 0 ? runs_[row] : 0;
    intercept_ = std::log(failing / (all_ - failing));
    for (size_t row = 0; row < runs_.size(); ++row) move_row(row, intercept_);
  }

  // The smallest lambda that leaves all weights 0. REQUIRES: they are 0.
  [[nodiscard]] double largest_lambda() const {
    double largest = 0;
    for (size_t part = 0; part < weights_.size(); ++part)
      largest = std::max(largest, std::abs(slope(part)));
    return largest;
  }

  // Starts from the weights of the preceding call. Rounds over all weights find those that leave 0;
  // the rounds between them are over the others.
  void solve(double lambda) {
    // Those of the preceding call are as small as its last steps.
    std::ranges::fill(rooms_, 1);
    intercept_room_ = 1;
    for (int round = 0; round < kMostRounds; ++round) {
      if (step_all(lambda, true) <= kTolerance) return;
      while (round < kMostRounds && step_all(lambda, false) > kTolerance) ++round;
    }
  }

  // Of the runs of a fold: the sum of -log P(outcome), and of its squares.
  [[nodiscard]] std::pair<double, double> losses(size_t fold) const {
    double sum = 0;
    double squares = 0;
    for (size_t row = 0; row < runs_.size(); ++row) {
      const double count = data_.folded[row][fold];
      const double margin = data_.failed[row] != 0 ? margins_[row] : -margins_[row];
      const double loss =
          margin > 0 ? std::log1p(std::exp(-margin)) : -margin + std::log1p(std::exp(margin));
      sum += count * loss;
      squares += count * loss * loss;
    }
    return {sum, squares};
  }

  [[nodiscard]] double intercept() const { return intercept_; }
  [[nodiscard]] const std::vector<double>& weights() const { return weights_; }

 private:
  void move_row(size_t row, double by) {
    margins_[row] += by;
    const double small = std::exp(-std::abs(margins_[row]));
    shrunk_[row] = small;
    const double probability = (margins_[row] >= 0 ? 1 : small) / (1 + small);
    residuals_[row] = runs_[row] * ((data_.failed[row] != 0 ? 1 : 0) - probability);
  }
  // At most the curvature of the row's loss, while its margin moves by no more than log(reach).
  [[nodiscard]] double curvature_of(size_t row, double reach) const {
    const double distance = shrunk_[row] * reach;  // exp(log(reach) - |margin|)
    return runs_[row] * (distance >= 1 ? 0.25 : 1 / (2 + distance + 1 / distance));
  }
  // Of the mean log likelihood.
  [[nodiscard]] double slope(size_t part) const {
    double sum = 0;
    for (const uint32_t row : data_.rows_of_part[part]) sum += residuals_[row];
    return sum / all_;
  }
  // Returns the step that was wanted. It may be longer than the room, and then nothing has
  // converged.
  double step_intercept() {
    const double reach = std::exp(intercept_room_);
    double slopes = 0;
    double curvature = 0;
    for (size_t row = 0; row < runs_.size(); ++row) {
      slopes += residuals_[row];
      curvature += curvature_of(row, reach);
    }
    const double wanted = slopes / curvature;
    const double by = std::clamp(wanted, -intercept_room_, intercept_room_);
    intercept_room_ = std::max(2 * std::abs(by), intercept_room_ / 2);
    intercept_ += by;
    for (size_t row = 0; row < runs_.size(); ++row) move_row(row, by);
    return std::abs(wanted);
  }
  // Likewise.
  double step(size_t part, double lambda) {
    const double gain = slope(part);
    if (weights_[part] == 0 && std::abs(gain) <= lambda) return 0;
    const double reach = std::exp(rooms_[part]);
    double curvature = 0;
    for (const uint32_t row : data_.rows_of_part[part]) curvature += curvature_of(row, reach);
    curvature /= all_;
    if (curvature == 0) return 0;  // true in no run that takes part
    const double goal = weights_[part] + gain / curvature;
    const double shrink = lambda / curvature;
    const double weight = goal > shrink ? goal - shrink : goal < -shrink ? goal + shrink : 0;
    const double wanted = weight - weights_[part];
    const double by = std::clamp(wanted, -rooms_[part], rooms_[part]);
    rooms_[part] = std::max(2 * std::abs(by), rooms_[part] / 2);
    if (by == 0) return 0;
    weights_[part] += by;
    for (const uint32_t row : data_.rows_of_part[part]) move_row(row, by);
    return std::abs(wanted);
  }
  // Returns the largest step that was wanted. `with_zeros`: weights that are 0 take part.
  double step_all(double lambda, bool with_zeros) {
    double change = step_intercept();
    for (size_t part = 0; part < weights_.size(); ++part) {
      if (with_zeros || weights_[part] != 0) change = std::max(change, step(part, lambda));
    }
    return change;
  }

  const Data& data_;
  std::vector<double> runs_;
  double all_;
  std::vector<double> weights_;
  std::vector<double> rooms_;      // by part
  std::vector<double> margins_;    // by row: the logarithm of the odds
  std::vector<double> shrunk_;     // by row: exp(-|margin|)
  std::vector<double> residuals_;  // by row: failures less those that are expected
  double intercept_ = 0;
  double intercept_room_ = 1;
};

std::vector<double> lambdas_below(double largest) {
  std::vector<double> lambdas;
  for (size_t i = 0; i < kLambdas; ++i) {
    const double part = static_cast<double>(i + 1) / kLambdas;
    lambdas.push_back(largest * std::pow(kSmallestLambda, part));
  }
  return lambdas;
}

// Index in `lambdas`: the largest within a standard error of the lowest deviance.
size_t cross_validate(const Data& data, const std::vector<double>& lambdas, uint32_t folds,
                      size_t workers) {
  std::vector<std::vector<std::pair<double, double>>> losses(folds);
  parallel_for(folds, worker_count(workers), [&](size_t fold, size_t) {
    std::vector<double> runs = data.runs;
    for (size_t row = 0; row < runs.size(); ++row) runs[row] -= data.folded[row][fold];
    Fit fit(data, runs);
    for (const double lambda : lambdas) {
      fit.solve(lambda);
      losses[fold].push_back(fit.losses(fold));
    }
  });
  const double all = std::accumulate(data.runs.begin(), data.runs.end(), 0.0);
  std::vector<double> means;
  std::vector<double> errors;
  for (size_t i = 0; i < lambdas.size(); ++i) {
    double sum = 0;
    double squares = 0;
    for (const auto& of_fold : losses) {
      sum += of_fold[i].first;
      squares += of_fold[i].second;
    }
    means.push_back(sum / all);
    errors.push_back(std::sqrt(std::max(0.0, squares / all - means[i] * means[i]) / all));
  }
  const auto best = static_cast<size_t>(std::ranges::min_element(means) - means.begin());
  for (size_t i = 0; i < best; ++i) {
    if (means[i] <= means[best] + errors[best]) return i;
  }
  return best;
}

}  // namespace

Regression fit_regression(const SiteTable& sites, std::span<const LabelledRun> runs,
                          std::span<const uint32_t> predicates, size_t workers) {
  Regression answer;
  RunCounts all;
  for (const LabelledRun& run : runs) ++(run.failed ? all.failing : all.successful);
  if (all.failing == 0 || all.successful == 0) return answer;
  const uint32_t folds = std::min({kMostFolds, all.failing, all.successful});
  answer.folds = folds < 2 ? 0 : folds;
  const Data data = read_data(sites, runs, predicates, answer.folds);
  answer.parts = static_cast<uint32_t>(data.predicates.size());
  Fit fit(data, data.runs);
  const double largest = fit.largest_lambda();
  answer.intercept = fit.intercept();
  if (largest == 0) return answer;
  const std::vector<double> lambdas = lambdas_below(largest);
  if (answer.folds == 0) {
    answer.lambda = kFixedLambda * largest;
    fit.solve(answer.lambda);
  } else {
    const size_t chosen = cross_validate(data, lambdas, answer.folds, workers);
    answer.lambda = lambdas[chosen];
    for (size_t i = 0; i <= chosen; ++i) fit.solve(lambdas[i]);
  }
  answer.intercept = fit.intercept();
  for (size_t part = 0; part < data.predicates.size(); ++part) {
    if (fit.weights()[part] == 0) continue;
    RunCounts true_in;
    for (const uint32_t row : data.rows_of_part[part])
      (data.failed[row] != 0 ? true_in.failing : true_in.successful) +=
          static_cast<uint32_t>(data.runs[row]);
    answer.coefficients.push_back({data.predicates[part], fit.weights()[part], true_in});
  }
  sort_rows(answer.coefficients, std::greater{}, &Coefficient::weight);
  return answer;
}

}  // namespace telltale::isolation
