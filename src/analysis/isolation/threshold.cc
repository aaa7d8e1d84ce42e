#include "analysis/isolation/threshold.h"

#include <algorithm>
#include <cmath>

#include "base/sort_rows.h"

namespace telltale::isolation {

std::optional<uint64_t> best_threshold(std::vector<LabelledValue> values) {
  sort_rows(values, {}, &LabelledValue::value);
  const auto failing =
      static_cast<double>(std::ranges::count(values, true, &LabelledValue::failed));
  const double successful = static_cast<double>(values.size()) - failing;
  if (failing == 0 || successful == 0) return std::nullopt;
  std::optional<uint64_t> best;
  double best_difference = -1;
  double failing_below = 0;
  double successful_below = 0;
  for (size_t i = 0; i + 1 < values.size(); ++i) {
    (values[i].failed ? failing_below : successful_below) += 1;
    if (values[i].value == values[i + 1].value) continue;
    const double difference = std::abs(failing_below / failing - successful_below / successful);
    if (difference <= best_difference) continue;
    best_difference = difference;
    best = values[i].value;
  }
  return best;
}

}  // namespace telltale::isolation
