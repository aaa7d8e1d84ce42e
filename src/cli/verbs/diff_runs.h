#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/calls/profile.h"
#include "cli/options/command.h"
#include "cli/options/diff_gate.h"
#include "cli/options/reading_options.h"
#include "import/recording.h"
#include "model/call_filter.h"

namespace telltale::cli {

// Several recordings a side (docs/analysis/diff.md, "Several runs").
struct DiffRunsOptions {
  std::vector<std::string> before;
  std::vector<std::string> after;
  std::vector<std::string> programs_before;  // that name only this side's ids
  std::vector<std::string> programs_after;
  DiffGateOptions gate;
  bool gate_all = false;  // all calls together instead of each function
  size_t rows = 20;
};

// What the command line puts between the two sides, in place of a lone `--`, which would vanish.
inline constexpr std::string_view kSideSeparator = "\n--";

// `telltale bench`, which records what it compares.
void add_bench_verb(Command app, int& status);

// Prints on standard error why there is nothing to compare with, if a recording has no calls that
// the filter selects.
void remark_no_calls(const std::string& file, const Recording& recording, const Profile& profile,
                     const ReadingOptions& reading, CallFilter filter);

// Compares them and prints the answer. `reading.files` are not used. Returns the exit status.
int diff_runs(const ReadingOptions& reading, const DiffRunsOptions& options);

}  // namespace telltale::cli
