#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "model/events.h"

namespace telltale {

// How a call ended. docs/analysis/calls.md defines the rules.
enum class CloseKind : uint8_t {
  returned,  // its own exit was recorded
  tail,      // its own tail exit was recorded
  unwound,   // no exit of its own: a caller's exit shows that it is over (exception, longjmp); ends
             // with that exit
  unfinished,  // still open when the recording ends; ends with the thread's last event
};

struct OpenCall {
  FunctionId function{};
  Ticks entered = 0;
  bool estimated = false;  // `entered` is (model/estimated.h)
};

// A sink for calls that nest: every open() is followed by exactly one close() of the same function,
// innermost first, times never go back. What an exporter or a call-tree analysis is. A member
// end_unit(), if there is one, is called by the same worker when the unit's events are over; for
// estimated() see model/estimated.h.
template <typename S>
concept CallSink = requires(S& sink, Ticks time, FunctionId function, CloseKind how, uint64_t value,
                            uint32_t cpu, const InstantEvent& instant, const LossEvent& loss) {
  sink.open(time, function);
  sink.argument(value);  // of the call just opened; in parameter order
  sink.close(time, function, how);
  sink.orphan_exit(time, function);  // an exit whose entry is not in the recording
  sink.instant(instant);
  sink.cpu(time, cpu);
  sink.loss(loss);
};

struct IgnoreCalls {
  void open(Ticks, FunctionId) {}
  void argument(uint64_t) {}
  void close(Ticks, FunctionId, CloseKind) {}
  void orphan_exit(Ticks, FunctionId) {}
  void instant(const InstantEvent&) {}
  void cpu(Ticks, uint32_t) {}
  void loss(const LossEvent&) {}
};
static_assert(CallSink<IgnoreCalls>);

// What a sink that is handed one unit of a stream knows of its place.
struct UnitContext {
  size_t stream = 0;  // index into EventSource::streams()
  size_t unit = 0;
  bool first_unit = false;  // of its stream
  bool last_unit = false;
  size_t worker = 0;  // who works on it: sinks of one worker never run at the same time
  // Calls that are open when the unit begins, outermost first: told to the sinks of earlier units.
  // Valid as long as the sink.
  std::span<const OpenCall> open_calls;
};

}  // namespace telltale
