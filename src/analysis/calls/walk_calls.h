#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "analysis/calls/play_calls.h"
#include "analysis/calls/play_threads.h"
#include "base/problem.h"
#include "model/call_filter.h"
#include "model/event_source.h"

namespace telltale {

// Plays the calls of one thread in their order, shard by shard, for questions about single calls.
// The filter's window of time is not applied: the sink decides what to do with a time, because it
// needs to know the calls that were open before.
//
// `Sink` is a CallSink with a member `uint64_t call`: before open() it is the number of the call in
// its thread, counted from 1 over all calls, whether the filter keeps them or not.
template <EventSource Source, CallSink Sink>
class CallWalk {
 public:
  // `source`, `filter` and `sink` outlive it. REQUIRES: the filter keeps the thread.
  CallWalk(const Source& source, size_t stream, const CallFilter& filter, Sink& sink)
      : source_(source),
        stream_(stream),
        functions_(filter, source.functions()),
        chooser_{
            filter, functions_, 0, ~Ticks{0},
            filter.functions.empty() && filter.max_depth == std::numeric_limits<size_t>::max()},
        counter_(sink, chooser_, source.first_time()) {}
  CallWalk(const CallWalk&) = delete;
  CallWalk& operator=(const CallWalk&) = delete;

  // Plays the next shard; false if there was none left. After the last one the calls that are still
  // open have been closed as CloseKind::unfinished.
  bool next(ProblemLog& problems) {
    const size_t shards = source_.streams()[stream_].shards;
    if (shard_ == shards) return false;
    source_.play(stream_, shard_, counter_, problems);
    if (++shard_ == shards) counter_.player.finish_stream();
    return true;
  }

 private:
  // Numbers the calls before the filter drops some.
  struct Counter : IgnoreEvents {
    Counter(Sink& to, const detail::CallChooser& chooser, Ticks floor)
        : sink(to), player(to, chooser, floor) {}
    void enter(Ticks time, FunctionId function) {
      sink.call = ++calls;
      player.enter(time, function);
    }
    void argument(uint64_t value) { player.argument(value); }
    void leave(Ticks time, FunctionId function, LeaveKind how) {
      player.leave(time, function, how);
    }
    void instant(const InstantEvent& event) { player.instant(event); }
    void cpu(Ticks time, uint32_t number) { player.cpu(time, number); }
    void loss(const LossEvent& event) { player.loss(event); }
    void estimated(bool now) { player.estimated(now); }

    Sink& sink;
    detail::CallPlayer<Sink> player;
    uint64_t calls = 0;
  };

  const Source& source_;
  size_t stream_;
  FunctionFilter functions_;
  detail::CallChooser chooser_;
  Counter counter_;
  size_t shard_ = 0;
};

}  // namespace telltale
