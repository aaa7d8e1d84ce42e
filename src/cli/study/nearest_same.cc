#include "cli/study/nearest_same.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace telltale::cli {

void put_nearest_first(const PredicateSet& predicates, isolation::Isolation& isolation) {
  for (isolation::Predictor& predictor : isolation.predictors) {
    const PredicateWords own = predicates.describe(predictor.predicate);
    const auto distance = [&](const PredicateWords& words) {
      if (words.file != own.file) return 2;
      return words.line == own.line ? 0 : words.function == own.function ? 1 : 2;
    };
    std::vector<std::pair<int, uint32_t>> ordered;
    for (const uint32_t other : predictor.same)
      ordered.emplace_back(distance(predicates.describe(other)), other);
    std::ranges::stable_sort(ordered, {}, &std::pair<int, uint32_t>::first);
    predictor.same.clear();
    for (const auto& [rank, other] : ordered) predictor.same.push_back(other);
  }
}

}  // namespace telltale::cli
