#include "analysis/runtime/weighted_stacks.h"

#include <algorithm>

namespace telltale {

void WeightedStacks::append(WeightedStacks&& next) {
  const std::vector<StackTable::Id> here = stacks.merge(next.stacks);
  for (const auto& [stream, sums] : next.by_stream) by_stream[stream].merge(sums, here);
  types.append(std::move(next.types));
  code.append(next.code);
  shots.append(std::move(next.shots));
  end.append(next.end);
  for (const auto& [address, theirs] : next.symbols) {
    const auto [ours, fresh] = symbols.try_emplace(address, theirs);
    if (!fresh && ours->second.place < theirs.place) ours->second = theirs;
  }
}

void WeightedStacksSink::on(const MonitorEvent& event) {
  if (metric_ != StackMetric::waits) return;
  if (event.kind == MonitorEvent::Kind::contended) {
    waiting_ = Wait{stack_.of(event.stack), event.time};
  } else if (waiting_) {
    if (chosen(waiting_->since)) {
      const Ticks waited = event.time > waiting_->since ? event.time - waiting_->since : 0;
      all_.by_stream[stream_].add(0, waiting_->stack, waited);
    }
    waiting_.reset();
  }
}

void WeightedStacksSink::on(const SampleEvent& event) {
  if (metric_ != StackMetric::samples || !window_.holds(event.time)) return;
  const size_t stream = event.has_thread ? stream_of(event.thread) : stream_;
  if (!filter_.keeps_thread(streams_[stream].thread)) return;
  // The stack of another thread: the open calls of the recording thread do not count.
  const RecordedStack recorded{true, event.stack.functions};
  const uint64_t address = event.addresses.empty() ? 0 : event.addresses.front();
  all_.by_stream[stream].add(address, stack_.of(recorded), 1);
}

uint64_t WeightedStacksSink::type_of_recent(uint64_t object) const {
  for (size_t back = 1; back <= std::min(next_recent_, recent_.size()); ++back) {
    const Recent& recent = recent_[(next_recent_ - back) % recent_.size()];
    if (recent.object == object) return recent.type;
  }
  return 0;
}

// The stream of a thread of the same process; the recording thread's if the thread has none.
size_t WeightedStacksSink::stream_of(int64_t tid) const {
  ThreadKey key = streams_[stream_].thread;
  key.tid = tid;
  for (auto found = std::ranges::lower_bound(streams_, key, {}, &EventStream::thread);
       found != streams_.end() && found->thread == key; ++found) {
    if (found->process == streams_[stream_].process)
      return static_cast<size_t>(found - streams_.begin());
  }
  return stream_;
}

}  // namespace telltale
