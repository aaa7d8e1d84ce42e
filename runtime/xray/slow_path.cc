#include <pthread.h>

#include "begin.h"
#include "cells.h"
#include "clock.h"
#include "control.h"
#include "events.h"
#include "frequent_functions.h"
#include "record.h"
#include "signals.h"
#include "syscalls.h"
#include "thread_name.h"

namespace telltale::recorder {

State state = {};
uint32_t gap_ticks = 0;
Control unregistered = {};
__thread ThreadState thread_state = {&unregistered, nullptr, nullptr, nullptr, nullptr, 0, 0, {}, 0,
                                     false};

uint64_t clock_now() {
  return state.clock == ClockKind::monotonic ? static_cast<uint64_t>(sys::clock_ns(CLOCK_MONOTONIC))
                                             : read_counter();
}

// How long this thread has not run since it began, in nanoseconds.
uint64_t waited_ns() {
  const long now = sys::clock_ns(CLOCK_MONOTONIC);
  return static_cast<uint64_t>(now - sys::clock_ns(CLOCK_THREAD_CPUTIME_ID));
}

namespace {

// How many events a thread without a buffer loses before it tries to get one again.
constexpr uint64_t kAskAgainAfter = 1024;
// The value of Control::cpu if the next record must contain its absolute time.
constexpr uint32_t kTimeUnknown = 0xFFFF'FFF0;
// Shorter waits are as likely errors of the two clocks.
constexpr uint64_t kLeastWaitNs = 10'000;

// An event recorded outside the hot path.
struct Event {
  enum class Kind : uint8_t { plain, argument, custom, typed };
  Kind kind = Kind::plain;
  uint32_t head = 0;
  uint64_t argument = 0;
  const void* payload = nullptr;
  uint64_t payload_bytes = 0;
  uint64_t time = 0;  // 0: now
  uint16_t type = 0;

  [[nodiscard]] uint64_t bytes() const {
    switch (kind) {
      case Kind::plain:
        return xray::kFunctionRecordBytes;
      case Kind::argument:
        return xray::kFunctionRecordBytes + xray::kMetadataRecordBytes;
      default:
        return xray::kMetadataRecordBytes + payload_bytes;
    }
  }
};

// In buffers that nothing interrupts: signals are blocked.
class Appender {
 public:
  Appender(Control& control, std::byte* at)
      : control_(control), at_(at), last_(control.last), begun_at_(control.last) {}

  void metadata(const Metadata& record) {
    put(at_, record);
    at_ += xray::kMetadataRecordBytes;
    bytes_ += xray::kMetadataRecordBytes;
    other_ += xray::kMetadataRecordBytes;
  }
  void set_time(uint64_t now) { last_ = now; }
  [[nodiscard]] std::byte* end() const { return at_; }
  void event(const Event& event, uint64_t now) {
    const uint64_t delta = now - last_;
    last_ = now;
    switch (event.kind) {
      case Event::Kind::plain:
        word(delta << 32 | event.head);
        break;
      case Event::Kind::argument:
        word(delta << 32 | event.head);
        metadata(metadata_record(xray::MetadataKind::call_argument, event.argument, 0));
        break;
      case Event::Kind::custom:
        if (state.has_extents) {
          marker(metadata_record(xray::MetadataKind::custom_event_marker,
                                 event.payload_bytes | delta << 32, delta >> 32),
                 event);
        } else {
          marker(metadata_record(xray::MetadataKind::custom_event_marker,
                                 event.payload_bytes | now << 32, now >> 32),
                 event);
          last_ -=
              delta;  // before version 5 an event does not change the time that deltas count from
        }
        break;
      case Event::Kind::typed:
        marker(metadata_record(xray::MetadataKind::typed_event_marker,
                               event.payload_bytes | delta << 32, event.type),
               event);
        break;
    }
  }
  // The extents last, so that they never include missing bytes.
  void finish() {
    add_to(control_.other_bytes, other_);
    asm volatile("" : : : "memory");
    add_claimed(control_, bytes_, last_ - begun_at_);
  }

 private:
  void word(uint64_t value) {
    __builtin_memcpy(at_, &value, sizeof(value));
    at_ += sizeof(value);
    bytes_ += sizeof(value);
  }
  void marker(const Metadata& record, const Event& event) {
    copy_bytes(at_ + xray::kMetadataRecordBytes, event.payload, event.payload_bytes);
    std::byte* const after = at_ + event.bytes();
    if (!state.has_extents && event.bytes() % 8 != 0) {
      fill_words(after, state.free_word, static_cast<uint64_t>(control_.end - after) / 8);
      put(control_.end, {state.free_word, state.free_word});
    }
    put(at_, record);
    at_ = after;
    bytes_ += event.bytes();
    other_ += event.bytes() - xray::kFunctionRecordBytes;
  }

  Control& control_;
  std::byte* at_;
  uint64_t last_;
  uint64_t begun_at_;
  uint64_t bytes_ = 0;
  uint64_t other_ = 0;
};

bool sampled_out() {
  const Locked locked(state.lock);
  return state.threads_seen++ % state.options.thread_every != 0;
}

// How many microseconds of the time between the thread's last event and this one, which happens
// now, it did not run: what its processor clock has lacked since it was last read. All short waits
// since then count for this gap; the reader knows the gap and limits it. 0: no gap, or no wait.
uint32_t wait_before(const Control& control, const Event& event, uint64_t now) {
  if (!state.waits) return 0;
  if (control.kind == ControlKind::unregistered) {
    // With filters the thread began earlier, with the first call that it may leave out.
    if (thread_state.open_calls == nullptr) thread_state.waited_ns = waited_ns();
    return 0;
  }
  if (control.kind != ControlKind::recording || now - control.last <= kGapTicks ||
      static_cast<int64_t>(now - control.last) < 0)
    return 0;
  // An event of the past: what the clock says now is also about the time since then.
  if (event.time != 0 && clock_now() - event.time > (now - control.last) / 2) return 0;
  const uint64_t before = thread_state.waited_ns;
  const uint64_t waited = thread_state.waited_ns = waited_ns();
  // In a child of vfork, the processor clock is another thread's.
  if (waited < before + kLeastWaitNs) return 0;
  return static_cast<uint32_t>(least((waited - before) / 1000, UINT32_MAX));
}

// The thread's Control with room for `bytes`; null: there is none.
Control* control_with_room(uint64_t bytes, uint64_t now, Tail& tail) {
  Control* control = thread_state.current;
  if (control->kind == ControlKind::unregistered) {
    watch_thread_end();
    if (state.options.thread_every > 1 && sampled_out()) {
      Control* const ignored = take_control(ControlKind::ignored);
      if (ignored != nullptr) thread_state.current = ignored;
      return ignored;
    }
  }
  if (control->kind == ControlKind::recording) {
    tail = tail_of(*control);
    if (tail.open && bytes <= static_cast<uint64_t>(control->end - tail.at)) return control;
    count_frequent_functions(*control, tail, now);
  }
  control = take_buffer(control, now);
  thread_state.current = control == nullptr ? &unregistered : control;
  if (control != nullptr) tail = {control->next, true, false};
  note_thread_name();
  return control;
}

// An event's time, no earlier than the previous one for an event in the past, or if the counters of
// two CPUs differ slightly.
uint64_t settle_time(const Event& event, uint64_t now, uint64_t last) {
  if (static_cast<int64_t>(now - last) >= 0) return now;
  if (event.time != 0) return last;
  __atomic_fetch_add(&state.side->clock_anomalies, 1, __ATOMIC_RELAXED);
  return last - now < kMostMarkerDelta ? last : now;
}
// The range of the event's delta.
uint64_t reach_of(const Event& event) {
  return event.kind == Event::Kind::plain || event.kind == Event::Kind::argument ? kMostDelta
                                                                                 : kMostMarkerDelta;
}

void append(const Event& event) {
  const uint32_t epoch = __atomic_load_n(&state.epoch, __ATOMIC_RELAXED);
  // Room for a NewCPUId and a TSCWrap before the event.
  const uint64_t most_bytes = event.bytes() + uint64_t{2} * xray::kMetadataRecordBytes;
  if (most_bytes + 8 * xray::kMetadataRecordBytes > state.options.cell_bytes) {
    count_lost(state.side->lost_too_large);
    return;
  }
  uint64_t now = event.time != 0 ? event.time : clock_now();
  Tail tail{};
  const uint32_t wait = wait_before(*thread_state.current, event, now);
  // A wait lies between two events; a new buffer begins after the first of them, not after both.
  const uint64_t opened = wait == 0 ? now : thread_state.current->last + 1;
  Control* const control = control_with_room(most_bytes, opened, tail);
  if (control == nullptr || control->kind == ControlKind::starved) {
    // If recording was stopped while the event was on its way, it is not lost.
    if (state.recording && epoch == __atomic_load_n(&state.epoch, __ATOMIC_RELAXED))
      count_lost(state.side->lost_no_space);
    return;
  }
  if (control->kind == ControlKind::ignored) {
    ++control->count;
    return;
  }
  Appender to(*control, tail.at);
  const uint64_t last = control->last;
  const uint32_t cpu = current_cpu();
  if (tail.pending || control->cpu == kTimeUnknown) {
    // Until the interrupted code has added its time, each record's time is absolute.
    to.metadata(new_cpu_record(cpu_number(), now));
    to.set_time(now);
    control->cpu = tail.pending ? kTimeUnknown : cpu;
  } else {
    now = settle_time(event, now, last);
    if (wait != 0) {
      to.metadata(metadata_record(xray::MetadataKind::tsc_wrap, now, wait));
      to.set_time(now);
    }
    if (cpu != control->cpu) {
      to.metadata(new_cpu_record(cpu_number(), now));
      to.set_time(now);
      control->cpu = cpu;
    } else if (wait == 0 && now - last > reach_of(event)) {
      to.metadata(metadata_record(xray::MetadataKind::tsc_wrap, now, 0));
      to.set_time(now);
    }
  }
  // With a sparse clock a delta of zero marks an untimed event.
  if (state.sparse_interval != 0 && now == last) ++now;
  control->sparse_tick = gap_ticks;
  to.event(event, now);
  to.finish();
  control->read_clock_after(to.end(), state.untimed_words);
  // A server's thread may be named, and then wait for long before its next buffer.
  if (wait != 0) note_thread_name();
}

void append_blocked(const Event& event) {
  if (__builtin_expect(thread_state.current->kind == ControlKind::measured, 0)) {
    ++thread_state.current->count;
    return;
  }
  if (__builtin_expect(!state.recording, 0)) return;
  if (__builtin_expect(state.fork_mark->alive == 0, 0)) {
    if (thread_state.busy != 0) {
      count_lost(state.side->lost_reentrant);
      return;
    }
    const sys::BlockSignals blocked;
    thread_state.busy = 1;
    begin_recording();
    thread_state.busy = 0;
    if (!state.recording) return;
  }
  Control& control = *thread_state.current;
  if (control.kind == ControlKind::ignored) {
    if ((++control.count & 1023) == 0) {
      __atomic_fetch_add(&state.side->left_out, control.count, __ATOMIC_RELAXED);
      control.count = 0;
    }
    return;
  }
  if (control.kind == ControlKind::starved && ++control.count % kAskAgainAfter != 0) {
    count_lost(state.side->lost_no_space);
    return;
  }
  if (thread_state.busy != 0) {
    count_lost(state.side->lost_reentrant);
    return;
  }
  const sys::BlockSignals blocked;
  thread_state.busy = 1;
  append(event);
  thread_state.busy = 0;
}

}  // namespace

// The stack may be unaligned when hooks are called.
TELLTALE_HOOK __attribute__((force_align_arg_pointer)) void record_slowly(uint32_t head) {
  Event event;
  event.head = head;
  append_blocked(event);
}
TELLTALE_HOOK void record_sparse_timed(uint32_t head) { record_sparse_now(head); }
TELLTALE_HOOK __attribute__((force_align_arg_pointer)) void record_past(uint32_t head,
                                                                        uint64_t time) {
  Event event;
  event.head = head;
  event.time = time;
  append_blocked(event);
}
TELLTALE_HOOK __attribute__((force_align_arg_pointer)) void record_past_argument(uint32_t head,
                                                                                 uint64_t argument,
                                                                                 uint64_t time) {
  Event event;
  event.kind = Event::Kind::argument;
  event.head = head;
  event.argument = argument;
  event.time = time;
  append_blocked(event);
}
TELLTALE_HOOK __attribute__((force_align_arg_pointer)) void record_argument_slowly(
    uint32_t head, uint64_t argument) {
  Event event;
  event.kind = Event::Kind::argument;
  event.head = head;
  event.argument = argument;
  append_blocked(event);
}
TELLTALE_HOOK __attribute__((force_align_arg_pointer)) void record_custom(const void* payload,
                                                                          size_t bytes) {
  Event event;
  event.kind = Event::Kind::custom;
  event.payload = payload;
  event.payload_bytes = bytes;
  append_blocked(event);
}
TELLTALE_HOOK __attribute__((force_align_arg_pointer)) void record_typed(size_t type,
                                                                         const void* payload,
                                                                         size_t bytes) {
  if (!state.has_extents) {
    if (state.recording) count_lost(state.side->lost_too_large);
    return;
  }
  Event event;
  event.kind = Event::Kind::typed;
  event.payload = payload;
  event.payload_bytes = bytes;
  event.type = static_cast<uint16_t>(type);
  append_blocked(event);
}

void watch_thread_end() {
  if (state.options.notes_crashes()) give_signal_stack();
  note_thread_for_control();
  if (state.thread_key >= 0)
    pthread_setspecific(static_cast<pthread_key_t>(state.thread_key), &thread_state);
}

}  // namespace telltale::recorder
