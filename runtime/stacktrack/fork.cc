#include "fork.h"

#include <pthread.h>
#include <sys/mman.h>

#include "configure.h"
#include "emit.h"

namespace telltale::st {
namespace {

enum Waiting : uint32_t { kNobody, kFirstEvent, kSomebodyOpens };
uint32_t waiting = kNobody;

// If a signal handler forks, both processes complete the interrupted event; the child's is
// discarded.
void detach_chunks() {
  detail::Thread* const thread = detail::telltale_st_thread_v1;
  if (thread == &Threads::none) return;
  for (const Stream& stream : static_cast<Node*>(thread)->streams) {
    if (stream.limit == 0) continue;
    (void)::mmap(stream.chunk.base, stream.chunk.bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  }
}

// Runs first in the child of fork(). The parent's files stay the parent's, except for the count of
// children that could not make files.
void become_child() {
  const KeepErrno keep;
  Configuring::reset();
  detach_chunks();
  forget_this_thread();
  Threads::forget_all();
  Inside::reset(depth_in_library());
  settings.pid = process_id();
  bool any = false;
  bool any_waits = false;
  for (Sink& sink : settings.sinks) {
    // A daemon forks again before its first event: the pending state stays pending.
    any_waits = any_waits || sink.state == kWaitingForChild;
    if (sink.state != kOpen) continue;
    sink.rotating = 0;
    sink.callback_users = 0;
    sink.parents_count = sink.store == nullptr
                             ? nullptr
                             : sink.store->lost[static_cast<uint32_t>(LostReason::processes)];
    sink.store = nullptr;
    if (kind_of(sink) != SinkKind::callback)
      sink.state = sink.plan.follow_fork ? kWaitingForChild : kClosed;
    any = any || sink.state == kOpen;
    any_waits = any_waits || sink.state == kWaitingForChild;
  }
  waiting = any_waits ? kFirstEvent : kNobody;
  settle();
  // The parent's cycle number was on the page that was zeroed; any value but 0 makes the first
  // event take the slow path.
  announce(any || any_waits ? new_cycle() : 0);
}

}  // namespace

void watch_forks() {
  static bool watched = false;
  if (watched) return;
  watched = true;
  // A child created without fork handlers (clone, _Fork) records nothing.
  ::madvise(&detail::telltale_st_control_v1, sizeof(detail::telltale_st_control_v1),
            MADV_WIPEONFORK);
  ::pthread_atfork(nullptr, nullptr, become_child);
}

void notice_copy() {
  const uint32_t pid = process_id();
  if (settings.pid == pid) return;
  if (settings.pid != 0) {
    become_child();
    for (Sink& sink : settings.sinks) sink.state = kClosed;
    waiting = kNobody;
    settle();
    announce(0);
  }
  settings.pid = pid;
}

bool child_is_waiting() { return __atomic_load_n(&waiting, __ATOMIC_ACQUIRE) != kNobody; }

bool open_in_child() {
  uint32_t expected = kFirstEvent;
  if (!__atomic_compare_exchange_n(&waiting, &expected, kSomebodyOpens, false, __ATOMIC_ACQUIRE,
                                   __ATOMIC_RELAXED)) {
    constexpr int kPatience = 100000;
    for (int i = 0; i < kPatience && child_is_waiting(); ++i) yield_processor();
    return !child_is_waiting();
  }
  const uint32_t cycle = new_cycle();
  bool any = false;
  for (Sink& sink : settings.sinks) {
    if (sink.state == kWaitingForChild) {
      name_files(sink.plan);
      // A file that the user named is the parent's; the child's gets a derived name in that folder.
      sink.plan.path[0] = 0;
      if (start_sink(sink, cycle) != 0) {
        sink.state = kClosed;
        if (sink.parents_count != nullptr) count_if_mapped(sink.parents_count);
      }
    }
    any = any || is_open(sink);
  }
  settle();
  announce(any ? cycle : 0);
  __atomic_store_n(&waiting, kNobody, __ATOMIC_RELEASE);
  return any;
}

}  // namespace telltale::st
