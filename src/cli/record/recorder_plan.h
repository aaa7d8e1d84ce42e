#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace telltale::cli {

// What `telltale run` was asked to record, and how. Empty and 0: the recorder's own choice.
struct RecorderOptions {
  bool xray = false;  // neither: found out from the program, or both
  bool stacktrack = false;
  std::string output;  // the recording's path
  std::string mode;    // continuous, ring or snapshot
  std::string size;    // bytes, with K, M or G
  std::vector<std::string> functions;
  std::vector<std::string> without;
  size_t depth = 0;
  std::string min;  // duration, with ns, us or ms
  size_t threads = 0;
  size_t sparse = 0;
  int version = 0;
  std::string signal;
  bool no_fork = false;
  std::vector<std::string> settings;  // KEY=VALUE of the recorder's own option list
  std::vector<std::string> command;
};

// What has to be in a program's environment for it to be recorded, and where to look for what it
// leaves.
struct RecorderPlan {
  std::vector<std::pair<std::string, std::string>> environment;
  std::string folder;                 // that recordings come to be in; absolute
  std::vector<std::string> suffixes;  // of their names
  std::set<std::string> before;       // names of recordings that were there already
  std::string why_nothing;  // why there may be no recording, as far as the program's file says
};

// A recording that a run left.
struct LeftFile {
  std::string path;  // as the user would write it
  uint64_t bytes = 0;
  std::string note;  // "12 events lost"; empty: nothing to say
};

// Errors: usage, for options that make no sense together or for this recorder; io, when the
// recorder's library is not where it was installed.
Result<RecorderPlan> plan_recording(const RecorderOptions& options);
// Recordings that have come since the plan was made: by name. Files that hold no event are removed.
std::vector<LeftFile> find_left_files(const RecorderPlan& plan);
// Removes them again, side records too: for runs that are only there to be measured.
Result<void> clear_left_files(const RecorderPlan& plan);

}  // namespace telltale::cli
