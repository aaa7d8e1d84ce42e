#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cli/record/child_process.h"

namespace telltale::cli {

// What `telltale run` records, and how. Empty and 0: the recorder's default.
struct RecorderOptions {
  bool xray = false;  // neither: decided by the program's file
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
  bool drop_frequent = false;         // functions that are called often and shortly
  bool control = false;               // `telltale control` may change the recording
  std::vector<std::string> settings;  // KEY=VALUE of the recorder's own option list
  std::vector<std::string> command;

  bool operator==(const RecorderOptions&) const = default;
};

// The recorder's list of patterns that --function and --without mean. Exclusions alone mean all
// other functions.
std::string function_list(const RecorderOptions& options);

// The environment that records a program, and where its recordings appear.
struct RecorderPlan {
  std::vector<std::pair<std::string, std::string>> environment;
  std::string folder;                 // folder of the recordings; absolute
  std::vector<std::string> suffixes;  // of recordings' names
  std::string name;                   // without a suffix: it and NAME.PID.N are recordings, too
  std::set<std::string> before;       // names of recordings that existed before
  std::string why_nothing;  // why there may be no recording, judging by the program's file
  std::string remark;       // what else the environment changes, for people; empty: nothing
};

// Errors: usage, for options that exclude each other or do not apply to this recorder; io, if the
// recorder's library is missing.
Result<RecorderPlan> plan_recording(const RecorderOptions& options);

}  // namespace telltale::cli
