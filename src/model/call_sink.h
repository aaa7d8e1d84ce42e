#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "model/events.h"

namespace telltale {

// How a call ended. docs/analysis/calls.md defines the rules.
enum class CloseKind : uint8_t {
  returned,    // its own exit was recorded
  tail,        // its own tail exit was recorded
  unwound,     // no exit of its own: a caller's exit ended it (exception, longjmp); ends
               // with that exit
  unfinished,  // open at the end of the recording; ends with the thread's last event
};

struct OpenCall {
  FunctionId function{};
  Ticks entered = 0;
  bool estimated = false;  // `entered` is (model/estimated.h)
};

// A sink for nested calls: every open() is followed by exactly one close() of the same function,
// innermost first; times never go back. Exporters and call-tree analyses are such sinks. An
// optional member end_shard() is called by the same worker after the shard's events; for
// estimated() see model/estimated.h.
template <typename S>
concept CallSink = requires(S& sink, Ticks time, FunctionId function, CloseKind how, uint64_t value,
                            uint32_t cpu, const InstantEvent& instant, const LossEvent& loss) {
  sink.open(time, function);
  sink.argument(value);  // of the call opened last; in parameter order
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

// The place of a sink's shard in the recording.
struct ShardContext {
  size_t stream = 0;  // index into EventSource::streams()
  size_t shard = 0;
  bool first_shard = false;  // of its stream
  bool last_shard = false;
  size_t worker = 0;  // sinks of one worker never run at the same time
  // Calls that are open when the shard begins, outermost first: earlier shards' sinks have opened
  // them. Valid as long as the sink.
  std::span<const OpenCall> open_calls;
};

}  // namespace telltale
