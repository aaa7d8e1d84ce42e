#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/calls/in_order.h"
#include "analysis/calls/time_window.h"
#include "base/parallel.h"
#include "base/problem.h"
#include "model/call_filter.h"
#include "model/event_source.h"
#include "model/function_map.h"

namespace telltale {

// The account of calls as mprof-report makes it (docs/analysis/mono.md, "call"): the time of a call
// counts again inside an open call of the same method, an exit that does not match the innermost
// call is ignored, and open calls end with their thread's last event.
struct MprofCalls {
  struct Method {
    FunctionId function{};
    uint64_t calls = 0;
    Ticks self = 0;
    Ticks callees = 0;
    [[nodiscard]] Ticks total() const { return self + callees; }
  };
  struct Unmatched {        // an exit
    uint64_t position = 0;  // stack index of the innermost call; 0: the outermost, or none
    FunctionId function{};
  };
  static constexpr size_t kKept = 1000;
  std::vector<Method> methods;       // by function
  std::vector<Unmatched> unmatched;  // the first kKept, by thread
  uint64_t unmatched_count = 0;

  void append(const MprofCalls& next);
};

// Handles all shards of one thread.
class MprofCallsSink : public IgnoreEvents {
 public:
  // Only events within the window count.
  explicit MprofCallsSink(const TimeWindow& window) : window_(window) {}

  void enter(Ticks time, FunctionId function);
  void leave(Ticks time, FunctionId function, LeaveKind how);
  template <typename Event>
  void on(const Event& event) {
    last_ = event.time;
  }
  MprofCalls finish();

 private:
  struct Frame {
    FunctionId function{};
    Ticks entered = 0;
    Ticks callees = 0;
  };
  void pop(Ticks time);

  TimeWindow window_;
  Ticks last_ = 0;
  std::vector<Frame> frames_;
  FunctionMap<MprofCalls::Method> methods_;
  std::vector<FunctionId> seen_;
  MprofCalls result_;
};

// `filter`: only its threads and times (relative to `zero`), as mprof-report has no others.
// Processes one thread's events at a time, threads in parallel.
template <EventSource Source>
MprofCalls compute_mprof_calls(const Source& source, const CallFilter& filter, Ticks zero,
                               size_t workers, ProblemLog& problems) {
  workers = worker_count(workers);
  const auto streams = source.streams();
  std::vector<ProblemLog> logs(workers);
  MprofCalls all;
  const auto take = [&](size_t, MprofCalls&& calls) { all.append(calls); };
  InOrder<MprofCalls, decltype(take)> in_order(streams.size(), take);
  const TimeWindow window(filter, zero);
  parallel_for(streams.size(), workers, [&](size_t stream, size_t worker) {
    MprofCallsSink sink(window);
    if (filter.keeps_thread(streams[stream].thread)) {
      for (size_t shard = 0; shard < streams[stream].shards; ++shard)
        source.play(stream, shard, sink, logs[worker]);
    }
    in_order.put(stream, sink.finish());
  });
  for (const ProblemLog& log : logs) problems.merge(log);
  return all;
}

}  // namespace telltale
