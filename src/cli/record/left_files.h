#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/record/child_process.h"
#include "cli/record/folder_watch.h"
#include "cli/record/live_processes.h"
#include "cli/record/recorder_plan.h"

namespace telltale::cli {

// Names of the recordings in the plan's folder.
std::set<std::string> recordings_in(const RecorderPlan& plan);

// A recording that a run produced.
struct LeftFile {
  std::string path;  // as the user would write it
  uint64_t bytes = 0;
  std::string note;  // "12 events lost", "its process still runs"; empty: neither
  bool is_xray = false;
};

// What a run produced.
struct LeftFiles {
  // Why there are no files; both empty if there are some.
  std::string removed;               // a recording that was removed meanwhile; empty: none
  std::vector<LiveProcess> waiting;  // processes that may yet record

  std::vector<LeftFile> files;  // ordered by name
  uint64_t left_out = 0;        // events that filters kept out of recordings without any event
  uint64_t unrecorded_processes = 0;    // forked ones that could not create files
  int unrecorded_error = 0;             // errno of one of them; 0: unknown
  bool compared_linkage_names = false;  // patterns chose functions by these alone
};
// Recordings made since the plan. Removes those without events, unless their process still runs;
// the others of the child's process get a note of how it ended, and those of processes that have
// ended the names of their functions. `watch`: of the plan's folder, since before the run.
LeftFiles find_left_files(const RecorderPlan& plan, const ChildOutcome& outcome,
                          FolderWatch& watch);
// What the recordings made since the plan contain so far.
struct RecordedSoFar {
  uint64_t bytes = 0;
  uint64_t events = 0;  // about so many events of functions; a StackTrack stream's are not counted
};
RecordedSoFar recorded_so_far(const RecorderPlan& plan);
// Removes them and their side records, for runs that only measure the cost.
Result<void> clear_left_files(const RecorderPlan& plan);

}  // namespace telltale::cli
