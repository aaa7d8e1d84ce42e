#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>

#include "import/study.h"

namespace telltale::cli {

// Counts labelled runs, and shows the counts on a terminal.
class RunProgress {
 public:
  // Shows nothing if there is only one run, or if `quiet`.
  RunProgress(uint64_t times, bool quiet);
  void add(RunLabel label);
  // Removes the line.
  void finish() const;
  [[nodiscard]] uint64_t done() const { return counts_[0] + counts_[1] + counts_[2]; }
  // "2 failed, 5 passed"
  [[nodiscard]] std::string summary() const;

 private:
  uint64_t times_;
  bool shown_;
  std::array<uint64_t, 3> counts_{};  // by label
  std::chrono::steady_clock::time_point last_;
};

}  // namespace telltale::cli
