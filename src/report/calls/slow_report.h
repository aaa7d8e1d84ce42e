#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/calls/call_durations.h"
#include "bytes/block_writer.h"
#include "import/timed_calls.h"
#include "model/function_names.h"
#include "output/table/section.h"

namespace telltale {

// The slowest calls of some functions, and what differs from a typical one (docs/analysis/slow.md).
struct SlowCalls {
  std::vector<FunctionDurations> functions;
  std::vector<CallDetails> slowest;  // the longest first
  std::vector<CallDetails> typical;  // of each function of the slowest calls
};
// `functions` have the calls from which `longest` were chosen by the filter. Collecting these has
// reported damage.
SlowCalls find_slow_calls(const TimedCalls& calls, const CallFilter& filter,
                          std::vector<FunctionDurations> functions,
                          const std::vector<RecordedCall>& longest);

// The document schemas::kSlow.
Section slow_section(const TimedCalls& calls, const FunctionNames& names, const SlowCalls& slow);
// For people. `command` is the `telltale replay` that shows a call, up to the thread.
void write_slow_text(const TimedCalls& calls, const FunctionNames& names, const SlowCalls& slow,
                     std::string_view command, BlockWriter& out);

// The document schemas::kHistogram: the functions, and how many of their calls took how long.
struct CallHistogram {
  std::vector<FunctionDurations> functions;
  std::vector<DurationBucket> buckets;
};
Section histogram_section(const TimedCalls& calls, const FunctionNames& names,
                          const CallHistogram& histogram);
void write_histogram_text(const TimedCalls& calls, const FunctionNames& names,
                          const CallHistogram& histogram, BlockWriter& out);

}  // namespace telltale
