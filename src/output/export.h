#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "analysis/calls/play_calls.h"
#include "base/error.h"
#include "base/problem.h"
#include "model/clock.h"
#include "model/event_source.h"
#include "model/function_names.h"
#include "output/tree/tree_units.h"

namespace telltale {

// Data of a recording that an export needs in addition to its events. All of it must outlive the
// export.
struct ExportContext {
  const Clock& clock;
  Ticks first_time = 0;  // shown as time 0
  std::span<const EventStream> streams;
  const FunctionNames& functions;
  TreeUnits units = {};  // of a tree's numbers
};

// The same with other names, which outlive it.
inline ExportContext with_names(const ExportContext& context, const FunctionNames& names) {
  return {context.clock, context.first_time, context.streams, names, context.units};
}

template <EventSource Source>
ExportContext export_context(const Source& source) {
  return {source.clock(), source.first_time(), source.streams(), source.functions(), {}};
}

// An export that writes call by call. Its sinks encode shards concurrently; their output is written
// in order.
template <typename E>
concept CallExport = requires(E& exporter, const ShardContext& shard, typename E::Sink& sink) {
  { exporter.begin() } -> std::same_as<Result<void>>;
  { exporter.make(shard) } -> std::same_as<typename E::Sink>;      // safe from several threads
  { exporter.finish(shard, sink) } -> std::same_as<Result<void>>;  // in order
  { exporter.end() } -> std::same_as<Result<void>>;
};

// Plays a recording into an export on `workers` threads (0: all cores); the bytes do not depend on
// their number.
template <EventSource Source, CallExport Export>
Result<void> run_export(const Source& source, const CallFilter& filter, size_t workers,
                        Export& exporter, ProblemLog& problems) {
  if (const Result<void> begun = exporter.begin(); !begun) return begun;
  const Result<void> played = play_calls(
      source, filter, workers,
      [&exporter](const ShardContext& shard) { return exporter.make(shard); },
      [&exporter](const ShardContext& shard, typename Export::Sink& sink) {
        return exporter.finish(shard, sink);
      },
      problems);
  if (!played) return played;
  return exporter.end();
}

// "normal", "tail", "unwound", "unfinished": names of the ends of calls in exports.
std::string_view close_name(CloseKind how);

}  // namespace telltale
