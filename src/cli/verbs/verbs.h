#pragma once

#include <span>
#include <string>

#include "cli/options/command.h"

namespace telltale::cli {

// Exit statuses of every verb.
enum ExitStatus : int {
  kDone = 0,
  kFinding = 1,     // `check` found a violation, `diff --gate` a regression
  kUsage = 2,       // the command line is invalid
  kUnreadable = 3,  // an input could not be read at all
  kDamaged = 4,     // --strict, and something in the input was damaged or lost
};

// Each adds its verb to the command line; the verb's callback does the work and sets `status`. The
// list of verbs is in command_line.cc.
void add_collect_verb(Command app, int& status);
void add_send_verb(Command app, int& status);
void add_convert_verb(Command app, int& status);
void add_flame_verb(Command app, int& status);
void add_graph_verb(Command app, int& status);
void add_info_verb(Command app, int& status);
void add_diff_verb(Command app, int& status);
void add_dump_verb(Command app, int& status);
void add_check_verb(Command app, int& status);
void add_expand_events_verb(Command app, int& status);
void add_control_verb(Command app, int& status);
void add_heapshot_verb(Command app, int& status);
void add_isolate_verb(Command app, int& status);
void add_replay_verb(Command app, int& status);
void add_slow_verb(Command app, int& status);
void add_histogram_verb(Command app, int& status);
void add_report_verb(Command app, int& status);
// The tools that Sampler's published text names, and the verb that lists them.
void add_sampler_verb(Command app, int& status);
std::span<const std::string> sampler_tools();
void add_decimate_samples_verb(Command app, int& status);
void add_extract_report_verb(Command app, int& status);
void add_extract_section_verb(Command app, int& status);
void add_find_sampler_info_verb(Command app, int& status);
void add_precompute_verb(Command app, int& status);
void add_resolve_backtrace_verb(Command app, int& status);
void add_resolve_cfg_verb(Command app, int& status);
void add_resolve_samples_verb(Command app, int& status);
void add_resolve_timestamps_verb(Command app, int& status);
void add_paths_verb(Command app, int& status);
void add_coverage_verb(Command app, int& status);
void add_extract_cfg_verb(Command app, int& status);
void add_resolve_verb(Command app, int& status);
void add_run_verb(Command app, int& status);
void add_sites_verb(Command app, int& status);
void add_stacks_verb(Command app, int& status);
void add_store_verb(Command app, int& status);
void add_study_verb(Command app, int& status);
void add_top_verb(Command app, int& status);
// help and man. They describe the verbs added before, and themselves.
void add_help_verbs(Command app, int& status);

}  // namespace telltale::cli
