#pragma once

// The option `auto`: which of a thread's open calls are in the recording. An exit is recorded only
// if the entry of the same call was, whatever was dropped between the two.
//
// Signal handlers record calls, too, and may interrupt any code here. They return with the same
// calls open, so an open call is one word, and adding or removing it is one store to `used`: what a
// handler does above is undone when it returns. A call is added after its entry was recorded, and
// removed before its exit is: a handler that does not return (siglongjmp) leaves no word here for a
// call that is not open in the recording.

#include "frequent_functions.h"
#include "record.h"

namespace telltale::recorder {

struct RecordedCalls {
  static constexpr uint64_t kMost = uint64_t{1} << 19;

  uint64_t used;         // words in use, with the first, which is above all calls
  uint32_t epoch;        // State::epoch when the calls began; 0 in a forked child
  uint32_t drop_rounds;  // when `holds_dropped` was set
  bool holds_dropped;    // a recorded call of a dropped function is open
  bool whole;            // the thread's open calls all began in this recording, and had room here
  uint64_t words[kMost];
};

// A word: where the call was entered, in steps of 16 bytes; whether it is not recorded; function.
constexpr unsigned kPlaceShift = 29;
constexpr uint64_t kBelowPlace = (uint64_t{1} << kPlaceShift) - 1;
constexpr uint64_t kNotRecorded = uint64_t{1} << 28;
constexpr uint64_t kFunctionOfCall = kNotRecorded - 1;
static_assert(xray::kMaxFdrFunctionId <= kFunctionOfCall);

constexpr uint64_t kMostPlace = ~uint64_t{0} >> kPlaceShift;

inline uint64_t place_of(uint64_t stack) { return stack >> 4 & kMostPlace; }
inline uint64_t call_word(uint32_t function, uint64_t stack) {
  return stack >> 4 << kPlaceShift | function;
}

// The thread's calls, made if there are none, emptied if they are of an earlier recording; begins
// the recording of a forked child, and of a program without sleds. Null: no memory, or no
// recording.
TELLTALE_HOOK __attribute__((noinline, cold)) RecordedCalls* renewed_calls();
TELLTALE_HOT RecordedCalls* recorded_calls() {
  RecordedCalls* const calls = thread_state.recorded_calls;
  if (__builtin_expect(calls != nullptr && calls->epoch == state.epoch, 1)) return calls;
  return renewed_calls();
}

// Makes and empties the calling thread's calls for the recording that begins. Null: no memory.
// REQUIRES: drops_functions().
RecordedCalls* begin_recorded_calls();

// Frees the calling thread's calls. Call at the thread's end.
void forget_recorded_calls();

// Calls that ended without an exit (exceptions, longjmp) are found by a call that is entered where
// they were: removes those inside the innermost such call, and that one too, unless `inlined`.
TELLTALE_HOOK __attribute__((noinline, cold)) void remove_ended(RecordedCalls& calls, uint64_t word,
                                                                bool inlined);
// Whether there is room for a call. If not, removes those that were entered at its place or below.
TELLTALE_HOOK __attribute__((noinline, cold)) bool make_room(RecordedCalls& calls, uint64_t word);
// Removes the innermost call that is equal to `word` in the bits of `mask`, and those inside it.
// Returns it; 0: there is none.
TELLTALE_HOOK __attribute__((noinline, cold)) uint64_t remove_call(RecordedCalls& calls,
                                                                   uint64_t word, uint64_t mask);
// Whether the exit of a sled is to be recorded whose call, `word`, is not the innermost one.
TELLTALE_HOOK __attribute__((noinline, cold)) bool records_other_exit(RecordedCalls& calls,
                                                                      uint32_t function,
                                                                      uint64_t word);
// Whether a recorded call of a dropped function is open; looks at the calls if functions were
// dropped since it last did.
TELLTALE_HOOK __attribute__((noinline, cold)) bool holds_dropped(RecordedCalls& calls);
TELLTALE_HOOK __attribute__((noinline, cold)) void look_for_dropped(RecordedCalls& calls);

inline bool is_full(const RecordedCalls& calls) { return calls.used == RecordedCalls::kMost; }

TELLTALE_HOT bool may_hold_dropped(const RecordedCalls* calls) {
  return calls != nullptr && (calls->holds_dropped || calls->drop_rounds != current_drop_rounds());
}
// Whether an exit is to be recorded whose call is not here. With several stacks in a thread
// (swapcontext), calls of one may have been removed when a call of another one ended.
TELLTALE_HOT bool records_unknown_exit(const RecordedCalls& calls, uint32_t function) {
  return calls.whole && !is_dropped(function);
}

// REQUIRES: !is_full().
TELLTALE_HOT void put_call(RecordedCalls& calls, uint64_t word) {
  const uint64_t at = calls.used;
  uint64_t* const place = &calls.words[at];
  do {
    *place = word;
    asm volatile("" : : : "memory");
    calls.used = at + 1;
    asm volatile("" : : : "memory");
    // Before `used` was raised, a handler may have put its own call there.
  } while (__builtin_expect(*place != word, 0));
}

// Whether an entry is to be recorded. `calls` is null only if there is no memory.
TELLTALE_HOT bool records_entry(RecordedCalls* calls, uint32_t function, uint64_t stack) {
  if (is_dropped(function)) return false;
  return calls == nullptr || __builtin_expect(!is_full(*calls), 1) ||
         make_room(*calls, call_word(function, stack));
}

// For sleds, which know where their call was entered, and are deactivated for entries of dropped
// functions. After the entry was recorded:
TELLTALE_HOT void add_call(RecordedCalls& calls, uint32_t function, uint64_t stack) {
  const uint64_t word = call_word(function, stack);
  if (__builtin_expect(calls.words[calls.used - 1] <= (word | kBelowPlace), 0))
    remove_ended(calls, word, false);
  put_call(calls, word);
}
// Whether the exit is to be recorded.
TELLTALE_HOT bool records_exit(RecordedCalls* calls, uint32_t function, uint64_t stack) {
  if (__builtin_expect(calls == nullptr, 0)) return !is_dropped(function);
  const uint64_t word = call_word(function, stack);
  const uint64_t at = calls->used - 1;
  const uint64_t top = calls->words[at];
  if (__builtin_expect(top == word, 1)) {
    calls->used = at;
    asm volatile("" : : : "memory");
    return true;
  }
  return records_other_exit(*calls, function, word);
}

TELLTALE_HOT bool counts_left_out() {
  Control& control = *thread_state.current;
  if (control.kind != ControlKind::recording) return false;
  add_to(control.count, 1);
  return true;
}
// Counts the exit of a dropped function in the usual case: no call that it might end is open. Uses
// few registers, which a hook has to save.
TELLTALE_HOT bool leaves_out_exit(uint32_t function, uint64_t stack) {
  if (!is_dropped(function)) return false;
  const RecordedCalls* const calls = thread_state.recorded_calls;
  if (calls == nullptr || calls->epoch != state.epoch) return false;
  if (calls->words[calls->used - 1] >> kPlaceShift <= place_of(stack) || may_hold_dropped(calls))
    return false;
  return counts_left_out();
}

// The following are for gcc's hooks. An exit does not know where its call was entered: it ends the
// innermost open call of its function. While a recorded call of a dropped function is open, calls
// that are not recorded are therefore added, too. Calls of inlined functions are entered at the
// place of their caller.

// Counts an event of a dropped function in the usual case: no recorded call of one is open.
TELLTALE_HOT bool leaves_out_called(uint32_t function) {
  if (!is_dropped(function)) return false;
  const RecordedCalls* const calls = thread_state.recorded_calls;
  if (calls == nullptr || calls->epoch != state.epoch || may_hold_dropped(calls)) return false;
  return counts_left_out();
}
TELLTALE_HOT void add_called(RecordedCalls& calls, uint64_t word) {
  if (__builtin_expect(calls.words[calls.used - 1] < (word & ~kBelowPlace), 0))
    remove_ended(calls, word, true);
  put_call(calls, word);
}
TELLTALE_HOT void add_recorded_called(RecordedCalls& calls, uint32_t function, uint64_t place) {
  add_called(calls, call_word(function, place));
  // Another thread may have dropped the function since this one looked it up.
  if (__builtin_expect(is_dropped(function), 0)) calls.holds_dropped = true;
}
TELLTALE_HOT void add_dropped_called(RecordedCalls* calls, uint32_t function, uint64_t place) {
  if (__builtin_expect(!may_hold_dropped(calls), 1)) return;
  const uint64_t word = call_word(function, place) | kNotRecorded;
  if (holds_dropped(*calls) && (!is_full(*calls) || make_room(*calls, word)))
    add_called(*calls, word);
}
TELLTALE_HOT bool records_called_exit(RecordedCalls* calls, uint32_t function) {
  if (__builtin_expect(calls == nullptr, 0)) return !is_dropped(function);
  const uint64_t at = calls->used - 1;
  uint64_t word = calls->words[at];
  if (__builtin_expect((word & kFunctionOfCall) == function, 1)) {
    calls->used = at;
    asm volatile("" : : : "memory");
  } else {
    if (is_dropped(function) && !may_hold_dropped(calls)) return false;
    word = remove_call(*calls, function, kFunctionOfCall);
    if (word == 0) return records_unknown_exit(*calls, function);
  }
  if ((word & kNotRecorded) != 0) return false;
  if (__builtin_expect(is_dropped(function), 0)) look_for_dropped(*calls);
  return true;
}

}  // namespace telltale::recorder
