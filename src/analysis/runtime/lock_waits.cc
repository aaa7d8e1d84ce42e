#include "analysis/runtime/lock_waits.h"

#include <algorithm>

namespace telltale {

void LockWaits::end(const Wait& wait, const Outcome& outcome) {
  Lock& lock = by_object_[wait.object];
  const Ticks time = outcome.time > wait.since ? outcome.time - wait.since : 0;
  ++(outcome.acquired ? lock.acquired : lock.failed);
  lock.wait += time;
  lock.longest = std::max(lock.longest, time);
}

void LockWaits::on(const MonitorEvent& event) {
  const auto kind = static_cast<size_t>(event.kind);
  if (kind >= events_.size()) return;
  ++events_[kind];
  Thread& thread = threads_[stream_];
  if (event.kind == MonitorEvent::Kind::contended) {
    ++by_object_[to_number(event.object)].contentions;
    thread.waiting = Wait{to_number(event.object), event.time};
    thread.contended = true;
    return;
  }
  by_object_[to_number(event.object)];
  const Outcome outcome{event.time, event.kind == MonitorEvent::Kind::acquired};
  if (thread.waiting) {
    end(*thread.waiting, outcome);
    thread.waiting.reset();
  } else if (!thread.contended && !thread.first) {
    thread.first = outcome;
  }
}

void LockWaits::append(const LockWaits& next) {
  for (const auto& [object, theirs] : next.by_object_) {
    Lock& lock = by_object_[object];
    lock.contentions += theirs.contentions;
    lock.acquired += theirs.acquired;
    lock.failed += theirs.failed;
    lock.wait += theirs.wait;
    lock.longest = std::max(lock.longest, theirs.longest);
  }
  for (size_t i = 0; i < events_.size(); ++i) events_[i] += next.events_[i];
  for (const auto& [id, theirs] : next.threads_) {
    Thread& thread = threads_[id];
    if (theirs.first && thread.waiting) {
      end(*thread.waiting, *theirs.first);
      thread.waiting.reset();
    } else if (theirs.first && !thread.contended && !thread.first) {
      thread.first = theirs.first;
    }
    if (theirs.contended) thread.waiting = theirs.waiting;
    thread.contended |= theirs.contended;
  }
}

}  // namespace telltale
