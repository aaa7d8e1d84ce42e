#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace telltale::isolation {

// A number per run, for instance how often it called a function.
struct LabelledValue {
  uint64_t value = 0;
  bool failed = false;
};

// The number that separates failing runs from successful ones best: "value > number" differs most
// between the fractions of failing and of successful runs in which it is true (Youden's index, in
// either direction). The number is one of the values; of equal ones the smallest. Empty if there is
// only one value, or only one outcome.
std::optional<uint64_t> best_threshold(std::vector<LabelledValue> values);

}  // namespace telltale::isolation
