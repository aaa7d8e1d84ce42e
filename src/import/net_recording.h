#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "base/error.h"
#include "import/recording.h"
#include "model/recorder_cost.h"

namespace telltale {

// The same recording with times without the recorder's cost (analysis/calls/net_time.h): its timed
// calls answer with net times, everything else is `recorded`'s. Its problems contain one of the
// kind `estimate`, which says so. (A recording without threads is returned as it is.) Reads all
// calls once, on `workers` threads (0: all cores).
//
// `given`: the cost; without it each thread's own (EventStream::cost). Errors: usage, if there are
// no timed calls, or if the cost of a thread is unknown.
Result<std::unique_ptr<const Recording>> without_recorder_cost(
    std::unique_ptr<const Recording> recorded, const std::optional<RecorderCost>& given,
    size_t workers);

}  // namespace telltale
