#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "cli/options/command.h"
#include "cli/options/reading_options.h"
#include "import/recording.h"
#include "model/clock.h"
#include "model/recorder_cost.h"

namespace telltale::cli {

// --net and --running, for verbs that answer about the durations of calls.
void add_net_option(Command verb, ReadingOptions& options);

// "20ns" (half inside of a call, half outside), or "9.5ns+10.5ns" (inside, outside); a number
// without a unit is in nanoseconds. Nothing if it is none of them, 0, or more than a millisecond.
std::optional<RecorderCost> parse_recorder_cost(std::string_view text);

// The recording, with --net without the recorder's cost (import/net_recording.h), with --running
// without waits (import/running_recording.h). Errors: usage, for a value that is no cost, for
// filters that need recorded times, if the cost is unknown, or if there are no timed calls.
Result<std::unique_ptr<const Recording>> with_net_option(std::unique_ptr<const Recording> recording,
                                                         const ReadingOptions& options);

// On a terminal, says on standard error how waits are left out if they are most of the time shown.
void remark_waiting(Ticks waited, Ticks whole);

}  // namespace telltale::cli
