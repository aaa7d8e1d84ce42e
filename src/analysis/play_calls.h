#pragma once

#include <cstddef>

#include "analysis/call_filter.h"
#include "base/problem.h"
#include "model/call_sink.h"
#include "model/event_source.h"

namespace telltale {

// Plays a recording as nested calls, on `workers` threads, with a result that does not depend on their number.
//   make(const UnitContext&) -> Sink   called once per unit, from any worker, several at a time
//   finish(const UnitContext&, Sink&)  called once per unit, in order of stream and unit, one at a time; may stop the
//                                      whole by returning an Error: Result<void>
// Units that are in flight are bounded, so that what sinks hold (encoded bytes, say) does not grow with the recording.
// A stream's last unit closes what is still open as CloseKind::unfinished.
template <EventSource Source, typename Make, typename Finish>
Result<void> play_calls(const Source& source, const CallFilter& filter, size_t workers, Make make, Finish finish,
                        ProblemLog& problems);

}  // namespace telltale
