#include "analysis/runtime/runtime_timeline.h"

#include <algorithm>
#include <iterator>

#include "base/sort_rows.h"

namespace telltale {
namespace {

template <typename T>
void add_all(std::vector<T>& to, std::vector<T>& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

void RuntimeTimeline::append(RuntimeTimeline&& next) {
  const std::vector<StackTable::Id> here = stacks.merge(next.stacks);
  for (Wait& wait : next.waits) wait.stack = here[static_cast<uint32_t>(wait.stack)];
  for (Throw& one : next.throws) one.stack = here[static_cast<uint32_t>(one.stack)];
  add_all(pauses, next.pauses);
  add_all(collection_marks, next.collection_marks);
  add_all(heap_sizes, next.heap_sizes);
  add_all(waits, next.waits);
  add_all(throws, next.throws);
  add_all(shots, next.shots);
  threads.merge(next.threads);
  counters.append(next.counters);
  program_end.append(next.program_end);
  last_activity.merge(next.last_activity);
  address_bits = std::min(address_bits, next.address_bits);
}

void RuntimeTimeline::finish(std::span<const EventStream> streams) {
  sort_rows(pauses, {}, &Pause::begin);
  collections = pair_collections(collection_marks, streams);
  sort_rows(heap_sizes, {}, &HeapSize::time);
  sort_rows(waits, {}, &Wait::begin);
  sort_rows(throws, {}, &Throw::time);
  sort_rows(shots, {}, &Shot::begin);
  const std::map<size_t, Ticks> ends = program_end.by_process(streams);
  for (Pause& pause : pauses) pause.shutdown = is_at_exit(pause.begin, pause.stream, ends, streams);
  std::map<size_t, size_t> last;  // by process: index of its last pause
  for (size_t i = 0; i < pauses.size(); ++i) last[streams[pauses[i].stream].process] = i;
  for (const auto& [process, index] : last) {
    Pause& pause = pauses[index];
    pause.shutdown = pause.shutdown || !pause.end || had_ended(pause, process, streams);
  }
}

bool RuntimeTimeline::had_ended(const Pause& last, size_t process,
                                std::span<const EventStream> streams) const {
  bool profiler_ended = false;
  bool profiler_runs = false;
  for (const auto& [stream, thread] : threads) {
    if (!thread.profiler || streams[stream].process != process) continue;
    (thread.ended && last.end && *thread.ended <= *last.end ? profiler_ended : profiler_runs) =
        true;
  }
  // If a profiler's thread keeps running, the program did not end, however idle it was.
  if (profiler_ended || profiler_runs) return profiler_ended && !profiler_runs;
  Ticks activity = 0;
  for (const auto& [stream, time] : last_activity)
    if (streams[stream].process == process) activity = std::max(activity, time);
  return activity != 0 && activity <= last.begin;
}

// Steps of one pause never go back in time, even if the recorded times do.
void RuntimeTimelineSink::on(const CollectionEvent& event) {
  seen(event.time);
  using Step = CollectionStep;
  Ticks time = event.time;
  if (pause_ && event.step != Step::stopping_world)
    time = std::max(
        {time, pause_->begin, pause_->stopped.value_or(0), pause_->restarting.value_or(0)});
  switch (event.step) {
    case Step::stopping_world:
      if (pause_) all_.pauses.push_back(*pause_);
      pause_ = RuntimeTimeline::Pause{.begin = event.time, .stream = stream_};
      break;
    case Step::stopped_world:
      if (pause_) pause_->stopped = time;
      break;
    case Step::starting_world:
      if (pause_) pause_->restarting = time;
      break;
    case Step::started_world:
      if (!pause_) break;
      pause_->end = time;
      all_.pauses.push_back(*pause_);
      pause_.reset();
      break;
    case Step::start:
      all_.collection_marks.push_back({event.time, stream_, event.generation, true});
      if (!pause_) break;
      ++pause_->collections;
      pause_->generation = std::max(pause_->generation, event.generation);
      break;
    case Step::end:
      all_.collection_marks.push_back({event.time, stream_, event.generation, false});
      break;
    default:
      break;
  }
}

void RuntimeTimelineSink::on(const MonitorEvent& event) {
  program_event(event.time);
  if (event.kind == MonitorEvent::Kind::contended) {
    if (wait_) all_.waits.push_back(*wait_);
    wait_ = RuntimeTimeline::Wait{.begin = event.time,
                                  .end = {},
                                  .stream = stream_,
                                  .object = event.object,
                                  .stack = stack_.of(event.stack)};
    thread_.waits += static_cast<uint64_t>(window_.holds(event.time));
  } else if (wait_) {
    wait_->end = std::max(event.time, wait_->begin);
    wait_->acquired = event.kind == MonitorEvent::Kind::acquired;
    if (window_.holds(wait_->begin)) thread_.waited += *wait_->end - wait_->begin;
    all_.waits.push_back(*wait_);
    wait_.reset();
  }
}

void RuntimeTimelineSink::on(const HeapShotEvent& event) {
  seen(event.time);
  if (event.begin) {
    all_.shots.push_back({.begin = event.time, .end = event.time, .stream = stream_});
  } else if (in_shot_) {
    all_.shots.back().end = event.time;
    all_.shots.back().ended = !shot_is_damaged_;
  }
  in_shot_ = event.begin;
  shot_is_damaged_ = false;
}

// A thread's own start and end events.
void RuntimeTimelineSink::on(const LoadEvent& event) {
  if (event.kind != LoadEvent::Kind::thread) return;
  seen(event.time);
  all_.program_end.on(event);
  if (event.has_name) thread_.profiler |= event.name.starts_with("Profiler ");
  if (event.action == LoadEvent::Action::loaded && !thread_.started) thread_.started = event.time;
  if (event.action == LoadEvent::Action::unloaded) thread_.ended = event.time;
}

RuntimeTimeline RuntimeTimelineSink::take() {
  if (pause_) all_.pauses.push_back(*pause_);
  if (wait_) all_.waits.push_back(*wait_);
  all_.last_activity.emplace(stream_, last_program_event_);
  all_.threads.emplace(stream_, thread_);
  return std::move(all_);
}

}  // namespace telltale
