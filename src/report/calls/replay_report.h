#pragma once

#include <cstdint>
#include <string_view>

#include "analysis/calls/replay.h"
#include "base/problem.h"
#include "bytes/block_writer.h"
#include "import/timed_calls.h"
#include "model/function_names.h"

namespace telltale {

struct ReplayOptions {
  ReplaySelection selection;
  bool merge = false;  // threads in order of time instead of one after the other
  uint64_t limit = 0;  // of steps; 0: all
  // Reads on after the limit: the number of all steps, and what is open at the end.
  bool reads_all = false;
};

// What happened, in order, and the calls open at the end (docs/analysis/replay.md). Memory: as
// replay(). Each returns the number of
// steps, with `reads_all` also of those that are not written.
//
// For people: a line a step, indented by depth; a call without a step inside is one line.
uint64_t write_replay_text(const TimedCalls& calls, const FunctionNames& names,
                           const ReplayOptions& options, ProblemLog& problems, BlockWriter& out);
// The document schemas::kReplay.
uint64_t write_replay_json(const TimedCalls& calls, const FunctionNames& names,
                           const ReplayOptions& options, std::string_view format,
                           ProblemLog& problems, BlockWriter& out);
// The steps.
uint64_t write_replay_csv(const TimedCalls& calls, const FunctionNames& names,
                          const ReplayOptions& options, ProblemLog& problems, BlockWriter& out);

// How many steps there are, and since when the newest `limit` of them happened (more, if several
// happened then); calls that had begun before are not counted.
struct ReplayCount {
  uint64_t steps = 0;
  Ticks newest_from = 0;
};
ReplayCount count_replay_steps(const TimedCalls& calls, const ReplayOptions& options);

// What an event says: its payload if that is text, else hexadecimal digits; "type 7: ..." for typed
// events. Empty for an event without a payload.
std::string event_text(const ReplayStep& step);

}  // namespace telltale
