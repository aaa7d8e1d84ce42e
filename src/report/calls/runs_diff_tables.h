#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/calls/runs_diff.h"
#include "output/table/table.h"

namespace telltale::schemas {
extern const DocumentSchema kDiffRuns;
}  // namespace telltale::schemas

namespace telltale {

// A measure that grew by more than a gate allows, for certain.
struct RunsExcess {
  std::string measure;  // calls, total or self
  std::string name;
  RunsComparison compared;  // times in ns
};

// The tables of the document schemas::kDiffRuns: functions, the largest difference of median self
// times first; what grew too much.
Table runs_function_table(const RunsDiff& diff);
Table runs_exceeded_table(const std::vector<RunsExcess>& exceeded);
// The first `rows` functions (0: all) for people.
Table shown_runs_functions(const RunsDiff& diff, size_t rows);

// "+12.3 %"; "-" for an infinite ratio.
std::string change_of(double ratio);
// "+1.0 % .. +24.2 %", "unknown" with a single run on a side.
std::string interval_of(const RunsComparison& compared);

}  // namespace telltale
