#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/calls/recording_diff.h"
#include "output/table/table.h"

namespace telltale {

// A function or path that grew by more than a gate allows.
struct DiffExcess {
  std::string measure;  // calls, total or self
  std::string name;
  uint64_t before = 0;  // times in ns
  uint64_t after = 0;
};

// The tables of the document schemas::kDiff: functions, the largest difference of self time first;
// paths, the largest difference of total time first; what grew too much.
Table diff_function_table(const RecordingDiff& diff);
Table diff_path_table(const RecordingDiff& diff);
Table exceeded_table(const std::vector<DiffExcess>& exceeded);

// The first `rows` of functions and paths (0: all) for people: the time that decides their order,
// and calls.
Table shown_diff_functions(const RecordingDiff& diff, size_t rows);
// A difference appears in all callers of the path that has it. A caller whose difference is that of
// one callee, up to a tenth, is left out.
struct ShownDiffPaths {
  Table table;
  size_t callers_left_out = 0;
};
ShownDiffPaths shown_diff_paths(const RecordingDiff& diff, size_t rows);

}  // namespace telltale
