#include "recorded_calls.h"

#include "begin.h"
#include "syscalls.h"

namespace telltale::recorder {
namespace {

// Above all places; no function.
constexpr uint64_t kOutermost = ~kFunctionOfCall;

// One instruction, which no handler interrupts. False: a handler that ran since `used` was read
// removed calls.
bool cut(RecordedCalls& calls, uint64_t used, uint64_t to) {
  return claim(reinterpret_cast<std::byte*>(&calls.used), used, to);
}

// The innermost word equal to `word` in the bits of `mask`; 0: none.
uint64_t find(const RecordedCalls& calls, uint64_t used, uint64_t word, uint64_t mask) {
  for (uint64_t i = used; --i > 0;) {
    if ((calls.words[i] & mask) == word) return i;
  }
  return 0;
}

// Pages that are zero in a forked child, where the calls are those of no recording.
RecordedCalls* make_calls() {
  const sys::BlockSignals blocked;
  if (thread_state.recorded_calls != nullptr) return thread_state.recorded_calls;
  auto* const calls = static_cast<RecordedCalls*>(sys::map_private(sizeof(RecordedCalls)));
  if (calls == nullptr) return nullptr;
  sys::call(SYS_madvise, calls, sizeof(RecordedCalls), MADV_WIPEONFORK);
  calls->whole = true;
  thread_state.recorded_calls = calls;
  return calls;
}

}  // namespace

RecordedCalls* begin_recorded_calls() {
  RecordedCalls* const calls = make_calls();
  if (calls == nullptr) return nullptr;
  const sys::BlockSignals blocked;
  if (calls->epoch == state.epoch) return calls;
  calls->words[0] = kOutermost;
  calls->used = 1;
  look_for_dropped(*calls);
  if (calls->epoch != 0) calls->whole = false;
  calls->epoch = state.epoch;
  return calls;
}

TELLTALE_HOOK __attribute__((noinline, cold, force_align_arg_pointer)) RecordedCalls*
renewed_calls() {
  if (thread_state.busy != 0) return nullptr;
  if (state.fork_mark->alive == 0) begin_from_hook();
  return state.recording ? begin_recorded_calls() : nullptr;
}

TELLTALE_HOOK __attribute__((noinline, cold)) void remove_ended(RecordedCalls& calls, uint64_t word,
                                                                bool inlined) {
  for (;;) {
    const uint64_t used = calls.used;
    const uint64_t found = find(calls, used, word & ~kBelowPlace, ~kBelowPlace);
    if (found == 0 || cut(calls, used, inlined ? found + 1 : found)) return;
  }
}

TELLTALE_HOOK __attribute__((noinline, cold)) bool make_room(RecordedCalls& calls, uint64_t word) {
  uint64_t used;
  uint64_t left;
  do {
    left = used = calls.used;
    while (calls.words[left - 1] <= (word | kBelowPlace)) --left;
  } while (left != used && !cut(calls, used, left));
  calls.whole = false;
  return !is_full(calls);
}

TELLTALE_HOOK __attribute__((noinline, cold)) uint64_t remove_call(RecordedCalls& calls,
                                                                   uint64_t word, uint64_t mask) {
  for (;;) {
    const uint64_t used = calls.used;
    const uint64_t found = find(calls, used, word, mask);
    const uint64_t call = found == 0 ? 0 : calls.words[found];
    if (found == 0 || cut(calls, used, found)) return call;
  }
}

TELLTALE_HOOK __attribute__((noinline, cold)) bool records_other_exit(RecordedCalls& calls,
                                                                      uint32_t function,
                                                                      uint64_t word) {
  // Calls are in the order of their places, except those that ended without an exit, and those on
  // other stacks of the thread.
  const bool is_inside = calls.words[calls.used - 1] > (word | kBelowPlace);
  if (is_inside && (is_full(calls) || (is_dropped(function) && !holds_dropped(calls))))
    return false;
  if (remove_call(calls, word, ~uint64_t{0}) == 0) return records_unknown_exit(calls, function);
  if (is_dropped(function)) look_for_dropped(calls);
  return true;
}

TELLTALE_HOOK __attribute__((noinline, cold)) bool holds_dropped(RecordedCalls& calls) {
  if (calls.drop_rounds != current_drop_rounds()) look_for_dropped(calls);
  return calls.holds_dropped;
}

TELLTALE_HOOK __attribute__((noinline, cold)) void look_for_dropped(RecordedCalls& calls) {
  // Until the calls have been looked at, a handler takes the longer way.
  calls.holds_dropped = true;
  asm volatile("" : : : "memory");
  // While functions are being dropped, every look is followed by another.
  calls.drop_rounds = current_drop_rounds() & ~1U;
  bool found = false;
  for (uint64_t i = calls.used; --i > 0 && !found;) {
    const uint64_t word = calls.words[i];
    found = (word & kNotRecorded) == 0 && is_dropped(static_cast<uint32_t>(word & kFunctionOfCall));
  }
  calls.holds_dropped = found;
}

void forget_recorded_calls() {
  if (thread_state.recorded_calls == nullptr) return;
  sys::call(SYS_munmap, thread_state.recorded_calls, sizeof(RecordedCalls));
  thread_state.recorded_calls = nullptr;
}

}  // namespace telltale::recorder
