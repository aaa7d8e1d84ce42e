#pragma once

// The hot path: puts one function event into the buffer. Vector registers, errno and flags are not
// touched (compiled with -mgeneral-regs-only).

#include "state.h"

namespace telltale::recorder {

// Hooks are called from code that expects all registers to be preserved.
#define TELLTALE_HOOK __attribute__((no_caller_saved_registers))
// By default clang does not inline functions without that attribute into those with it, and
// tail-calls them without preserving registers; sibling calls are therefore disabled, too
// (CMakeLists.txt).
#define TELLTALE_HOT __attribute__((always_inline)) inline

// An event that the hot path could not record: no buffer, no room, another CPU, a clock that
// jumped, a fork. `head`: function id << 4 | action << 1.
TELLTALE_HOOK __attribute__((noinline, cold)) void record_slowly(uint32_t head);
TELLTALE_HOOK __attribute__((noinline, cold)) void record_argument_slowly(uint32_t head,
                                                                          uint64_t argument);

// Events in the past: `time` on the trace's clock, not 0; recorded no earlier than the thread's
// last one.
TELLTALE_HOOK __attribute__((noinline, cold)) void record_past(uint32_t head, uint64_t time);
TELLTALE_HOOK __attribute__((noinline, cold)) void record_past_argument(uint32_t head,
                                                                        uint64_t argument,
                                                                        uint64_t time);

inline uint64_t read_counter() {
  uint32_t low;
  uint32_t high;
  // Loads stay on their side: a signal between them must be detected.
  asm volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
  return uint64_t{high} << 32 | low;
}
inline uint32_t current_cpu() {
  uint32_t cpu;
  asm volatile("movl %%fs:(%1), %0" : "=r"(cpu) : "r"(state.rseq_cpu));
  return cpu;
}

inline uint32_t head_of(uint32_t function, xray::FunctionAction action) {
  return function << 4 | static_cast<uint32_t>(action) << 1;
}

// Stores `word` if the place contains `expected`. False: it contains something else.
inline bool claim(std::byte* at, uint64_t expected, uint64_t word) {
  bool done;
  auto* const place = reinterpret_cast<uint64_t*>(at);
  asm volatile("cmpxchgq %3, %1"
               : "=@cce"(done), "+m"(*place), "+a"(expected)
               : "r"(word)
               : "memory");
  return done;
}
// The place in the buffer at which the next word is to be claimed.
inline std::byte* next_word(const Control& control) {
  std::byte* const at = control.next;
  asm volatile("" : : : "memory");
  return at;
}
// Whether it still is, once `at` has been compared with the Control's limit. A handler that runs
// between the two reads may change buffers, and the comparison then used another buffer's limit:
// `at` may be the end of the old buffer, where a word looks free that no event must claim. A
// handler that runs later leaves no free word at `at`.
inline bool is_still_next(const Control& control, const std::byte* at) {
  asm volatile("" : : : "memory");
  return control.next == at;
}
inline void add_to(std::byte* place, uint64_t value) {
  asm volatile("addq %1, %0" : "+m"(*reinterpret_cast<uint64_t*>(place)) : "re"(value) : "memory");
}
inline void add_to(uint64_t& place, uint64_t value) {
  add_to(reinterpret_cast<std::byte*>(&place), value);
}
// `next` last: code that interrupts before that finds the claimed bytes before the free ones, and
// leaves the Control to this thread until they are counted, even if the buffer is closed.
inline void add_claimed(Control& control, uint64_t bytes, uint64_t ticks) {
  add_to(control.last, ticks);
  add_to(control.extents, bytes);
  asm volatile("addq %1, %0" : "+m"(control.next) : "re"(bytes) : "memory");
}

// Every event with its time, `now` on the trace's clock.
TELLTALE_HOT void record_at(uint32_t head, std::byte* at, Control& control, uint64_t now) {
  const uint64_t delta = now - control.last;
  if (__builtin_expect(
          delta > state.most_delta || !claim(at, control.free_word, delta << 32 | head), 0)) {
    record_slowly(head);
    return;
  }
  add_claimed(control, xray::kFunctionRecordBytes, delta);
}
// An event whose time has been read already.
TELLTALE_HOT void record_read(uint32_t head, uint64_t time) {
  Control& control = *thread_state.current;
  std::byte* const at = next_word(control);
  const uint64_t delta = time - control.last;
  if (__builtin_expect(at >= control.limit || current_cpu() != control.cpu || delta == 0 ||
                           delta > state.most_delta || !is_still_next(control, at) ||
                           !claim(at, control.free_word, delta << 32 | head),
                       0)) {
    record_past(head, time);
    return;
  }
  add_claimed(control, xray::kFunctionRecordBytes, delta);
}
TELLTALE_HOT void record_timed(uint32_t head) {
  Control& control = *thread_state.current;
  std::byte* const at = next_word(control);
  if (__builtin_expect(
          at >= control.limit || current_cpu() != control.cpu || !is_still_next(control, at), 0)) {
    record_slowly(head);
    return;
  }
  record_at(head, at, control, read_counter());
}

// Every N-th event with its time, the first one after a gap, and events that record_untimed could
// not record.
TELLTALE_HOT void record_sparse_now(uint32_t head) {
  Control& control = *thread_state.current;
  std::byte* const at = next_word(control);
  if (__builtin_expect(
          at >= control.limit || current_cpu() != control.cpu || !is_still_next(control, at), 0)) {
    record_slowly(head);
    return;
  }
  const uint32_t tick = gap_ticks;
  const uint64_t delta = read_counter() - control.last;
  // A delta of zero would mark an untimed event.
  if (__builtin_expect(delta - 1 >= kMostDelta || !claim(at, control.free_word, delta << 32 | head),
                       0)) {
    record_slowly(head);
    return;
  }
  // While the word is claimed and not counted: a handler that runs now records absolute times, and
  // leaves this Control to its thread.
  control.sparse_tick = tick;
  control.read_clock_after(at + xray::kFunctionRecordBytes, state.untimed_words);
  asm volatile("" : : : "memory");
  add_claimed(control, xray::kFunctionRecordBytes, delta);
}
TELLTALE_HOOK __attribute__((noinline)) void record_sparse_timed(uint32_t head);
// False: the place contains something else by now.
TELLTALE_HOT bool record_untimed(Control& control, std::byte* at, uint32_t head) {
  if (__builtin_expect(!claim(at, control.free_word, head), 0)) return false;
  add_to(control.extents, xray::kFunctionRecordBytes);
  asm volatile("addq $8, %0" : "+m"(control.next) : : "memory");
  return true;
}
TELLTALE_HOT void record_sparse(uint32_t head) {
  Control& control = *thread_state.current;
  std::byte* const at = next_word(control);
  if (__builtin_expect(
          at >= control.clock_at || gap_ticks != control.sparse_tick || !is_still_next(control, at),
          0) ||
      __builtin_expect(!record_untimed(control, at, head), 0)) {
    record_sparse_timed(head);
  }
}

// CLOCK_MONOTONIC in nanoseconds, from the vDSO.
TELLTALE_HOOK uint64_t monotonic_now();
TELLTALE_HOT void record_monotonic(uint32_t head) {
  Control& control = *thread_state.current;
  std::byte* const at = next_word(control);
  if (__builtin_expect(
          at >= control.limit || current_cpu() != control.cpu || !is_still_next(control, at), 0)) {
    record_slowly(head);
    return;
  }
  record_at(head, at, control, monotonic_now());
}

// An entry with one argument; always timed.
TELLTALE_HOT void record_argument(uint32_t head, uint64_t argument) {
  Control& control = *thread_state.current;
  std::byte* const at = next_word(control);
  constexpr uint64_t kBytes = xray::kFunctionRecordBytes + xray::kMetadataRecordBytes;
  if (__builtin_expect(at >= control.limit || control.end - at < static_cast<int64_t>(kBytes) ||
                           current_cpu() != control.cpu || state.clock == ClockKind::monotonic ||
                           !is_still_next(control, at),
                       0)) {
    record_argument_slowly(head, argument);
    return;
  }
  const uint64_t now = read_counter();
  const uint64_t delta = now - control.last;
  if (__builtin_expect(
          delta - 1 >= state.most_delta || !claim(at, control.free_word, delta << 32 | head), 0)) {
    record_argument_slowly(head, argument);
    return;
  }
  constexpr auto kKind = static_cast<uint64_t>(xray::MetadataKind::call_argument) << 1 | 1;
  const uint64_t words[2] = {kKind | argument << 8, argument >> 56};
  __builtin_memcpy(at + 8, &words[0], 8);
  __builtin_memcpy(at + 16, &words[1], 8);
  add_to(control.other_bytes, xray::kMetadataRecordBytes);
  add_claimed(control, kBytes, delta);
}

}  // namespace telltale::recorder
