#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/allocation_sums.h"
#include "analysis/compiled_code.h"
#include "analysis/counter_values.h"
#include "analysis/coverage_sums.h"
#include "analysis/early_types.h"
#include "analysis/gc_collections.h"
#include "analysis/gc_handles.h"
#include "analysis/heap_shots.h"
#include "analysis/in_order.h"
#include "analysis/loaded_modules.h"
#include "analysis/loaded_types.h"
#include "analysis/lock_waits.h"
#include "analysis/native_samples.h"
#include "analysis/play_units.h"
#include "analysis/profile.h"
#include "analysis/thrown_exceptions.h"
#include "analysis/time_window.h"
#include "base/parallel.h"
#include "model/call_filter.h"
#include "model/event_source.h"

namespace telltale {

// Options for a managed program's recording.
struct RuntimeFactsOptions {
  CallFilter filter;  // times are relative to `zero`
  Ticks zero = 0;
  size_t workers = 0;  // 0: all cores
  // Also the references between objects of heap shots.
  std::shared_ptr<const HeapShotRoots> references;
  bool all_counters = false;  // every value, otherwise only the last ones
  bool like_mprof = false;    // --thread does not apply to allocations and handles; early types
};

// Sums of all runtime events other than calls: the reports of `telltale report`.
// docs/analysis/mono.md. append() merges pieces in the order of each thread's pieces.
struct RuntimeFacts {
  explicit RuntimeFacts(const RuntimeFactsOptions& options)
      : types(/*first_wins=*/options.like_mprof),
        counters(options.all_counters),
        shots(options.references) {}
  void append(RuntimeFacts&& next);

  GcCollections gc;
  GcHandles handles;
  AllocationSums allocations;
  ThrownExceptions exceptions;
  LockWaits locks;
  LoadedTypes types;
  EarlyTypes early_types;  // only if like_mprof
  LoadedModules modules;
  CompiledCode code;      // in the time window
  CompiledCode all_code;  // for samples
  NativeSamples samples;
  CounterValues counters;
  HeapShots shots;
  CoverageSums coverage;
};

// Handles one piece of a thread.
class RuntimeFactsSink : public IgnoreEvents {
 public:
  RuntimeFactsSink(const RuntimeFactsOptions& options, bool thread_is_kept)
      : options_(options),
        window_(options.filter, options.zero),
        thread_is_kept_(thread_is_kept),
        facts_(options) {}

  [[nodiscard]] EventDetails details() const {
    return {.stacks = false, .references = options_.references != nullptr};
  }

  void on(const PieceEvent& event) {
    facts_.gc.on(event);
    facts_.handles.on(event);
    facts_.locks.on(event);
    facts_.types.on(event);
    if (options_.like_mprof) facts_.early_types.on(event);
    facts_.modules.on(event);
    facts_.code.on(event);
    facts_.all_code.on(event);
    facts_.samples.on(event);
    facts_.counters.on(event);
    facts_.shots.on(event);
  }
  void on(const AllocationEvent& event) {
    if (options_.like_mprof) {
      facts_.early_types.on(event);
    } else if (!thread_is_kept_) {
      return;
    }
    if (in_window(event.time)) facts_.allocations.on(event);
  }
  void on(const HandleEvent& event) {
    if ((thread_is_kept_ || options_.like_mprof) && in_window(event.time)) facts_.handles.on(event);
  }
  void on(const ThrowEvent& event) {
    if (thread_is_kept_ && in_window(event.time)) facts_.exceptions.on(event);
  }
  void on(const ClauseEvent& event) {
    if (thread_is_kept_ && in_window(event.time)) facts_.exceptions.on(event);
  }
  void on(const MonitorEvent& event) {
    if (options_.like_mprof) facts_.locks.mention(event.object);
    if (thread_is_kept_ && in_window(event.time)) facts_.locks.on(event);
  }
  void on(const CollectionEvent& event) { facts_.gc.on(event); }
  void on(const HeapResized& event) { facts_.gc.on(event); }
  void on(const ObjectsMoved& event) { facts_.gc.on(event); }
  void on(const LoadEvent& event) {
    facts_.types.on(event);
    if (options_.like_mprof) facts_.early_types.on(event);
    facts_.modules.on(event);
  }
  void on(const CompiledEvent& event) {
    facts_.all_code.on(event);
    if (in_window(event.time)) facts_.code.on(event);
  }
  void on(const RuntimeCodeEvent& event) { facts_.code.on(event); }
  void on(const SampleEvent& event) {
    if (in_window(event.time)) facts_.samples.on(event);
  }
  void on(const NativeSymbolEvent& event) { facts_.samples.on(event); }
  void on(const NativeBinaryEvent& event) { facts_.samples.on(event); }
  void on(const CounterDescribed& event) { facts_.counters.on(event); }
  void on(const CounterEvent& event) {
    // Numbers are differences, so those before the window count; mprof-report drops them.
    if (options_.like_mprof ? in_mprof_window(event.time) : event.time < window_.to)
      facts_.counters.on(event);
  }
  void on(const HeapShotEvent& event) { facts_.shots.on(event); }
  void on(const HeapObjectEvent& event) {
    if (options_.like_mprof) facts_.early_types.on(event);
    facts_.shots.on(event);
  }
  void on(const HeapRootsEvent& event) { facts_.shots.on(event); }
  void on(const CoverageEvent& event) { facts_.coverage.on(event); }

  RuntimeFacts take() {
    facts_.allocations.end_piece();
    facts_.shots.end_piece();
    return std::move(facts_);
  }

 private:
  [[nodiscard]] bool in_window(Ticks time) const { return window_.holds(time); }
  // For counters mprof-report compares whole seconds, and includes the window's end.
  [[nodiscard]] bool in_mprof_window(Ticks time) const {
    constexpr uint64_t kSecond = 1'000'000'000;
    const uint64_t at = (time - options_.zero) / kSecond * kSecond;
    return options_.filter.keeps_every_time() ||
           (at >= options_.filter.from_ns && at <= options_.filter.to_ns);
  }

  const RuntimeFactsOptions& options_;
  TimeWindow window_;
  bool thread_is_kept_;
  RuntimeFacts facts_;
};

// The same, and the profile of the calls without their distribution.
class RuntimeFactsAndCallsSink : public RuntimeFactsSink {
 public:
  RuntimeFactsAndCallsSink(const RuntimeFactsOptions& options, bool thread_is_kept,
                           ProfileTable& table)
      : RuntimeFactsSink(options, thread_is_kept), calls_(table) {}
  struct Run : ProfileSink::RunOf<false> {
    explicit Run(RuntimeFactsAndCallsSink& sink) : RunOf(sink.calls_) {}
  };
  void enter(Ticks time, FunctionId function) { calls_.enter(time, function); }
  void leave(Ticks time, FunctionId function, LeaveKind how) { calls_.leave(time, function, how); }
  ProfileSink& calls() { return calls_; }

 private:
  ProfileSink calls_;
};

struct RuntimeAnswer {
  RuntimeFacts facts;
  std::optional<Profile> calls;
};

// All facts, and with `with_calls` the profile of the calls without their distribution, in one pass
// over the recording. Adds unreadable input to `problems`. The result does not depend on the number
// of workers. REQUIRES: with_calls only if the filter keeps every call of a thread.
template <EventSource Source>
RuntimeAnswer collect_runtime_facts(const Source& source, const RuntimeFactsOptions& options,
                                    bool with_calls, ProblemLog& problems) {
  const size_t workers = worker_count(options.workers);
  const auto units = list_units(source, CallFilter());
  const auto streams = source.streams();
  std::vector<ProblemLog> logs(workers);
  std::deque<ProfileTable> tables;
  for (size_t i = 0; i < workers; ++i) tables.emplace_back(/*exact=*/false, /*spread=*/false);
  ProfileTable settled(/*exact=*/false, /*spread=*/false);
  ProfileStream calls(settled);
  RuntimeFacts all(options);

  struct Done {
    RuntimeFacts facts;
    std::optional<ProfileRest> rest;
  };
  const auto take = [&](size_t item, Done&& done) {
    all.append(std::move(done.facts));
    const auto& [stream, unit] = units[item];
    if (!done.rest) return;
    calls.settle(*done.rest);
    if (done.rest->stopped_at) {
      detail::ResumeProfile resume(calls, *done.rest->stopped_at);
      ProblemLog unused(1);
      source.play(stream, unit, resume, unused);
    }
    if (item + 1 == units.size() || units[item + 1].first != stream) calls.end_stream();
  };
  InOrder<Done, decltype(take)> in_order(units.size(), take);
  parallel_for(units.size(), workers, [&](size_t item, size_t worker) {
    const auto& [stream, unit] = units[item];
    const bool kept = options.filter.keeps_thread(streams[stream].thread);
    if (with_calls && kept) {
      RuntimeFactsAndCallsSink sink(options, kept, tables[worker]);
      source.play(stream, unit, sink, logs[worker]);
      sink.calls().end_unit();
      in_order.put(item, {sink.take(), sink.calls().rest()});
    } else {
      RuntimeFactsSink sink(options, kept);
      source.play(stream, unit, sink, logs[worker]);
      in_order.put(item, {sink.take(), {}});
    }
  });
  for (const ProblemLog& log : logs) problems.merge(log);
  RuntimeAnswer answer{std::move(all), {}};
  if (with_calls) {
    for (ProfileTable& table : tables) settled.merge(table);
    answer.calls = settled.finish();
  }
  return answer;
}

}  // namespace telltale
