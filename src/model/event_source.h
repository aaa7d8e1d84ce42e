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
#include "model/recorder_cost.h"

namespace telltale {

// The events of one thread in order of time, divided into shards. A shard can be decoded without
// its predecessors; only the open calls at its start depend on them.
struct EventStream {
  ThreadKey thread;
  std::string thread_name;  // empty: unknown
  size_t shards = 0;
  std::string process_name = {};  // the program's, without its folder; empty: unknown
  std::string fault = {};         // "SIGSEGV, at address 0x10": it ended the process; empty: no
  RecorderCost cost = {};         // of recording a call of the thread, measured; may be unknown
  // The number of its process, in sources with runtime events: two processes may have had one id.
  size_t process = 0;
};

// The interface of every importer. play() passes the events of one shard to a sink and adds skipped
// input to the log. Times never go back within a shard. It is const, and may run for different
// shards at the same time. A source of large files may also have read_ahead(stream, shard), which
// is called before a shard that will be played soon.
template <typename S>
concept EventSource =
    requires(const S& source, size_t index, IgnoreEvents& sink, ProblemLog& problems) {
      { source.clock() } -> std::same_as<const Clock&>;
      { source.first_time() } -> std::same_as<Ticks>;  // no event is earlier; exports count from it
      { source.streams() } -> std::same_as<std::span<const EventStream>>;  // by thread
      { source.functions() } -> std::same_as<const FunctionNames&>;
      {
        source.shard_bytes(/*stream=*/index, /*shard=*/index)
      } -> std::same_as<uint64_t>;  // estimated cost of the shard
      source.play(/*stream=*/index, /*shard=*/index, sink, problems);
    };

}  // namespace telltale
