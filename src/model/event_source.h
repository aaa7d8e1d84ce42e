#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/problem.h"
#include "model/clock.h"
#include "model/events.h"
#include "model/function_names.h"

namespace telltale {

// The events of one thread in order of time, divided into units. A unit can be decoded without its
// predecessors; only the open calls at its start depend on them.
struct EventStream {
  ThreadKey thread;
  std::string thread_name;  // empty: unknown
  size_t units = 0;
};

// The interface of every importer. play() passes the events of one unit to a sink and adds skipped
// input to the log. Times never go back within a unit. It is const, and may run for different units
// at the same time. A source of large files may also have read_ahead(stream, unit), which is called
// before a unit that will be played soon.
template <typename S>
concept EventSource =
    requires(const S& source, size_t index, IgnoreEvents& sink, ProblemLog& problems) {
      { source.clock() } -> std::same_as<const Clock&>;
      { source.first_time() } -> std::same_as<Ticks>;  // no event is earlier; exports count from it
      { source.streams() } -> std::same_as<std::span<const EventStream>>;  // by (pid, tid)
      { source.functions() } -> std::same_as<const FunctionNames&>;
      {
        source.unit_bytes(/*stream=*/index, /*unit=*/index)
      } -> std::same_as<uint64_t>;  // estimated cost of the unit
      source.play(/*stream=*/index, /*unit=*/index, sink, problems);
    };

}  // namespace telltale
