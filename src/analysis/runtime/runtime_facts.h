#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/calls/in_order.h"
#include "analysis/calls/play_shards.h"
#include "analysis/calls/profile.h"
#include "analysis/calls/shard_stacks.h"
#include "analysis/calls/time_window.h"
#include "analysis/heap/allocation_sums.h"
#include "analysis/heap/gc_handles.h"
#include "analysis/heap/heap_references.h"
#include "analysis/heap/heap_shots.h"
#include "analysis/runtime/compiled_code.h"
#include "analysis/runtime/counter_values.h"
#include "analysis/runtime/coverage_sums.h"
#include "analysis/runtime/early_types.h"
#include "analysis/runtime/gc_collections.h"
#include "analysis/runtime/loaded_modules.h"
#include "analysis/runtime/loaded_types.h"
#include "analysis/runtime/lock_waits.h"
#include "analysis/runtime/native_samples.h"
#include "analysis/runtime/thrown_exceptions.h"
#include "base/parallel.h"
#include "model/call_filter.h"
#include "model/event_source.h"

namespace telltale {

// Options for a managed program's recording.
struct RuntimeFactsOptions {
  CallFilter filter;  // times are relative to `zero`
  Ticks zero = 0;
  size_t workers = 0;         // 0: all cores
  bool references = false;    // also those between objects of heap shots
  bool all_counters = false;  // every value, otherwise only the last ones
  bool like_mprof = false;    // --thread does not apply to allocations and handles; early types
  FramesKept frames_kept;     // of recorded stacks
};

// Sums of all runtime events other than calls: the reports of `telltale report`.
// docs/analysis/mono.md. append() merges pieces in the order of each thread's pieces.
struct RuntimeFacts {
  explicit RuntimeFacts(const RuntimeFactsOptions& options)
      : types(/*first_wins=*/options.like_mprof), counters(options.all_counters) {}
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
  bool has_calls = false;  // known only with CallsWanted::none
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
    return {.stacks = false, .references = false, .clauses = false};
  }

  // There are calls, which the sink does not get.
  void ignored_calls() { facts_.has_calls = true; }
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
    extents_.on(event);
  }
  [[gnu::always_inline]] void on(const AllocationEvent& event) {
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
  [[gnu::always_inline]] void on(const ClauseEvent& event) {
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
  void on(const HeapShotEvent& event) {
    facts_.shots.on(event);
    extents_.on(event);
  }
  [[gnu::always_inline]] void on(const HeapObjectEvent& event) {
    if (options_.like_mprof) facts_.early_types.on(event);
    facts_.shots.on(event);
  }
  void on(const HeapRootsEvent& event) {
    facts_.shots.on(event);
    extents_.on(event);
  }
  void on(const CoverageEvent& event) { facts_.coverage.on(event); }
  void loss(const LossEvent& event) {
    facts_.shots.loss(event);
    extents_.loss(event);
  }

  RuntimeFacts take() {
    facts_.allocations.end_piece();
    facts_.shots.end_piece();
    return std::move(facts_);
  }
  [[nodiscard]] const HeapShotExtents& extents() const { return extents_; }

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
  HeapShotExtents extents_;
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

// The same, and where things happened.
class TracedRuntimeFactsSink : public RuntimeFactsAndCallsSink {
 public:
  TracedRuntimeFactsSink(const RuntimeFactsOptions& options, bool thread_is_kept,
                         ProfileTable& table)
      : RuntimeFactsAndCallsSink(options, thread_is_kept, table), stacks_(options.frames_kept) {}
  [[nodiscard]] EventDetails details() const {
    EventDetails details = RuntimeFactsAndCallsSink::details();
    details.stacks = true;
    return details;
  }
  struct Run {
    using Function = ProfileTable::Entry*;
    ProfileSink::RunOf<false> calls;
    ShardStacksSink::Run stacks;
    explicit Run(TracedRuntimeFactsSink& sink) : calls(sink.calls()), stacks(sink.stacks_) {}
    Function find(FunctionId function) { return calls.find(function); }
    [[gnu::always_inline]] void enter(Ticks time, Function function) {
      calls.enter(time, function);
      stacks.enter(function->function());
    }
    [[gnu::always_inline]] void leave(Ticks time, Function function, LeaveKind how) {
      calls.leave(time, function, how);
      stacks.leave(function->function(), how);
    }
    [[gnu::always_inline]] void leaf(Ticks entered, Ticks left, Function function) {
      calls.leaf(entered, left, function);
      stacks.leaf(function->function());
    }
    void end(uint64_t events, Ticks latest) {
      calls.end(events, latest);
      stacks.end();
    }
  };
  void enter(Ticks time, FunctionId function) {
    Run run(*this);
    run.enter(time, run.find(function));
    run.end(1, time);
  }
  void leave(Ticks time, FunctionId function, LeaveKind how) {
    Run run(*this);
    run.leave(time, run.find(function), how);
    run.end(1, time);
  }
  using RuntimeFactsAndCallsSink::on;
  void on(const AllocationEvent& event) {
    RuntimeFactsAndCallsSink::on(event);
    stacks_.count(event);
  }
  void on(const ThrowEvent& event) {
    RuntimeFactsAndCallsSink::on(event);
    stacks_.count(event);
  }
  void on(const MonitorEvent& event) {
    RuntimeFactsAndCallsSink::on(event);
    if (event.kind == MonitorEvent::Kind::contended) stacks_.count(event);
  }
  void on(const HandleEvent& event) {
    RuntimeFactsAndCallsSink::on(event);
    stacks_.count(event);
  }
  ShardStacks take_stacks() { return stacks_.take(); }

 private:
  ShardStacksSink stacks_;
};

// What is emitted about calls in addition to the facts.
enum class CallsWanted : uint8_t {
  none,
  profile,     // without their spread
  and_stacks,  // and EventStacks of everything
};

struct RuntimeAnswer {
  RuntimeFacts facts;
  std::optional<Profile> calls;
  std::optional<EventStacks> stacks;
};

namespace detail {

// Merges the results of a recording's shards, in order of stream and shard.
template <EventSource Source>
class RuntimeAnswerParts {
 public:
  struct Part {
    RuntimeFacts facts;
    HeapShotExtents extents;
    std::optional<ProfileCarry> carry;
    std::optional<ShardStacks> stacks;
  };
  RuntimeAnswerParts(const Source& source, const RuntimeFactsOptions& options)
      : source_(source),
        stack_options_{
            .filter = options.filter, .zero = options.zero, .frames_kept = options.frames_kept},
        all_(options) {}

  void add(size_t stream, size_t shard, bool last_shard, Part&& part) {
    all_.append(std::move(part.facts));
    if (part.carry) settle(stream, shard, *part.carry);
    if (part.stacks) settle(stream, shard, *part.stacks);
    if (!last_shard) return;
    calls_.end_stream();
    stacks_.end_stream();
  }
  RuntimeAnswer take(CallsWanted wanted, std::deque<ProfileTable>& tables) {
    RuntimeAnswer answer{std::move(all_), {}, {}};
    if (wanted == CallsWanted::none) return answer;
    for (ProfileTable& table : tables) settled_.merge(table);
    answer.calls = settled_.finish();
    if (wanted == CallsWanted::and_stacks) answer.stacks = stacks_.take();
    return answer;
  }

 private:
  void settle(size_t stream, size_t shard, const ProfileCarry& carry) {
    calls_.settle(carry);
    if (!carry.stopped_at) return;
    ResumeProfile resume(calls_, *carry.stopped_at);
    ProblemLog unused(1);
    source_.play(stream, shard, resume, unused);
  }
  void settle(size_t stream, size_t shard, const ShardStacks& part) {
    stacks_.settle(part);
    if (!part.stopped_at) return;
    EventStacksSink rest(stack_options_, source_.functions(), /*kept=*/true);
    rest.assume_open(stacks_.open_functions());
    ResumeStacks resume(rest, *part.stopped_at);
    ProblemLog unused(1);
    source_.play(stream, shard, resume, unused);
    stacks_.resume(rest);
  }

  const Source& source_;
  EventStacksOptions stack_options_;
  RuntimeFacts all_;
  ProfileTable settled_{/*exact=*/false, /*spread=*/false};
  ProfileStream calls_{settled_};
  EventStacksStream stacks_;
};

}  // namespace detail

// All facts, and what is wanted of calls, in one reading of the recording, and another one of the
// parts with heap events if references are wanted. Adds what could not be
// read to `problems`. The result does not depend on the number of workers. REQUIRES: calls only if
// the filter keeps every call of a thread; stacks not with like_mprof.
template <EventSource Source>
RuntimeAnswer collect_runtime_facts(const Source& source, const RuntimeFactsOptions& options,
                                    CallsWanted wanted, ProblemLog& problems) {
  const size_t workers = worker_count(options.workers);
  const auto shards = list_shards(source.streams(), CallFilter());
  const auto streams = source.streams();
  std::vector<ProblemLog> logs(workers);
  std::deque<ProfileTable> tables;
  for (size_t i = 0; i < workers; ++i) tables.emplace_back(/*exact=*/false, /*spread=*/false);

  detail::RuntimeAnswerParts<Source> parts(source, options);
  using Part = typename detail::RuntimeAnswerParts<Source>::Part;
  HeapReferences references;
  const auto take = [&](size_t item, Part&& part) {
    const auto& [stream, shard] = shards[item];
    const bool last_shard = item + 1 == shards.size() || shards[item + 1].first != stream;
    if (options.references) references.note(shards[item], part.extents, part.facts.shots);
    parts.add(stream, shard, last_shard, std::move(part));
  };
  InOrder<Part, decltype(take)> in_order(shards.size(), take);
  parallel_for(shards.size(), workers, [&](size_t item, size_t worker) {
    const auto& [stream, shard] = shards[item];
    const bool kept = options.filter.keeps_thread(streams[stream].thread);
    const auto play = [&](auto sink) {
      source.play(stream, shard, sink, logs[worker]);
      Part part{sink.take(), sink.extents(), {}, {}};
      if constexpr (requires { sink.calls(); }) {
        sink.calls().end_shard();
        part.carry = sink.calls().carry();
      }
      if constexpr (requires { sink.take_stacks(); }) part.stacks = sink.take_stacks();
      in_order.put(item, std::move(part));
    };
    if (wanted == CallsWanted::none || !kept) {
      play(RuntimeFactsSink(options, kept));
    } else if (wanted == CallsWanted::profile) {
      play(RuntimeFactsAndCallsSink(options, kept, tables[worker]));
    } else {
      play(TracedRuntimeFactsSink(options, kept, tables[worker]));
    }
  });
  for (const ProblemLog& log : logs) problems.merge(log);
  RuntimeAnswer answer = parts.take(wanted, tables);
  if (options.references) {
    using Since = HeapShotRoots::Since;
    answer.facts.shots = references.collect(
        source, options.like_mprof ? Since::shot_before : Since::its_begin, workers);
  }
  return answer;
}

}  // namespace telltale
