#include "frequent_functions.h"

#include "loader.h"
#include "side_record.h"
#include "syscalls.h"

namespace telltale::recorder {

uint32_t* dropped_functions = nullptr;
uint32_t drop_rounds = 0;

namespace {

using xray::FunctionAction;
using xray::MetadataKind;

constexpr uint32_t kClosingsASample = 8;
constexpr uint64_t kWindowsASecond = 100;  // at most
constexpr uint32_t kPlaces = 4096;         // functions counted in a window
constexpr uint32_t kMostTries = 32;
constexpr uint32_t kMostDepth = 1024;  // of calls in a buffer
// The weight of the calls of a buffer; lower if the buffer began before the window.
constexpr uint64_t kWholeWeight = 256;

struct Count {
  uint64_t calls;  // weighted
  uint64_t ticks;  // weighted
  uint32_t function;
};
struct BufferCall {
  uint64_t entered;
  uint32_t function;
};

// What one window has so far. Protected by the lock.
struct Window {
  SpinLock lock;
  uint32_t closings;
  uint32_t epoch;
  uint64_t begin;
  Count counts[kPlaces];
  BufferCall calls[kMostDepth];
};
Window window = {};

// The record of a dropped function in the side record.
struct DroppedRecord {
  uint32_t function;
  uint32_t zero;
  uint64_t time;
  uint64_t calls_a_second;
  uint64_t call_ps;  // picoseconds that a call took on average
};

uint64_t word_at(const std::byte* at) {
  uint64_t word;
  __builtin_memcpy(&word, at, sizeof(word));
  return word;
}

// Calls on.call(function, action, time) for each function event between two records of a buffer,
// and returns the time of the last event.
template <typename Use>
uint64_t for_each_event(const std::byte* at, const std::byte* end, uint64_t time, Use use) {
  while (end - at >= 8) {
    const uint64_t low = word_at(at);
    if ((low & 1) == 0) {
      time += low >> 32;
      use(static_cast<uint32_t>(low) >> 4, static_cast<FunctionAction>(low >> 1 & 7), time);
      at += xray::kFunctionRecordBytes;
      continue;
    }
    if (low == xray::kClosingWord || end - at < 16) break;
    const uint64_t high = word_at(at + 8);
    at += xray::kMetadataRecordBytes;
    switch (static_cast<MetadataKind>((low & 0xFF) >> 1)) {
      case MetadataKind::new_cpu_id:
        time = low >> 24 | high << 40;
        break;
      case MetadataKind::tsc_wrap:
        time = low >> 8 | high << 56;
        break;
      case MetadataKind::custom_event_marker:
      case MetadataKind::typed_event_marker:
        at += low >> 8 & 0xFFFF'FFFF;
        // Before version 5 the marker has a time that deltas do not count from.
        if (state.has_extents) time += low >> 40;
        break;
      default:
        break;
    }
  }
  return time;
}

Count* count_of(uint32_t function) {
  for (uint32_t i = 0; i < kMostTries; ++i) {
    Count& count = window.counts[(function * 2654435761U + i) % kPlaces];
    if (count.function == function) return &count;
    if (count.function != 0) continue;
    count.function = function;
    return &count;
  }
  return nullptr;
}

void count_call(uint32_t function, uint64_t ticks, uint64_t weight) {
  Count* const count = count_of(function);
  if (count == nullptr) return;
  count->calls += weight;
  count->ticks += weight * ticks;
}

// Counts the calls that begin and end in the buffer.
void count_calls(const std::byte* begin, const std::byte* end, uint64_t weight) {
  uint32_t depth = 0;
  for_each_event(begin, end, 0, [&](uint32_t function, FunctionAction action, uint64_t time) {
    if (action == FunctionAction::enter || action == FunctionAction::enter_args) {
      if (depth < kMostDepth) window.calls[depth] = {time, function};
      ++depth;
      return;
    }
    uint32_t at = depth < kMostDepth ? depth : kMostDepth;
    while (at != 0 && window.calls[at - 1].function != function) --at;
    if (at == 0) return;
    depth = at - 1;
    count_call(function, time - window.calls[depth].entered, weight);
  });
}

void begin_window(uint64_t begin) {
  window.begin = begin;
  fill_words(window.counts, 0, kPlaces * (sizeof(Count) / sizeof(uint64_t)));
}

// Picoseconds that a call took on average. Without a division of 128 bits, which is a call.
uint64_t average_ps(const Count& count, uint64_t ticks_a_us) {
  const uint64_t thousandths =
      count.ticks / count.calls * 1000 + count.ticks % count.calls * 1000 / count.calls;
  return thousandths * 1000 / ticks_a_us;
}

void drop(const Count& count, uint64_t calls_a_second, uint64_t ticks_a_us, uint64_t now) {
  __atomic_fetch_or(&dropped_functions[count.function >> 5], 1U << (count.function & 31),
                    __ATOMIC_RELAXED);
  const DroppedRecord record = {count.function, 0, now, calls_a_second,
                                average_ps(count, ticks_a_us)};
  append_side(SideKind::dropped, &record, sizeof(record));
}

// Drops the functions that were called too often, too shortly, in the window that ends now.
void judge(uint64_t now) {
  const uint64_t frequency = state.side->frequency;
  const uint64_t ticks_a_us = most(frequency / 1'000'000, 1);
  const uint64_t window_us = most((now - window.begin) / ticks_a_us, 1);
  bool any = false;
  for (const Count& count : window.counts) {
    if (count.calls == 0) continue;
    const uint64_t calls_a_second =
        count.calls * kClosingsASample / kWholeWeight * 1'000'000 / window_us;
    const bool brief =
        Wide{count.ticks} * 1'000'000'000 < Wide{state.options.auto_ns} * frequency * count.calls;
    if (calls_a_second <= state.options.auto_calls || !brief || is_dropped(count.function))
      continue;
    if (!any) __atomic_fetch_add(&drop_rounds, 1, __ATOMIC_ACQ_REL);
    drop(count, calls_a_second, ticks_a_us, now);
    any = true;
  }
  if (!any) return;
  __atomic_fetch_add(&drop_rounds, 1, __ATOMIC_ACQ_REL);
  unpatch_dropped();
}

}  // namespace

bool prepare_dropping() {
  if (dropped_functions == nullptr) {
    dropped_functions =
        static_cast<uint32_t*>(sys::map_private((uint64_t{xray::kMaxFdrFunctionId} + 1) / 8));
  }
  return dropped_functions != nullptr;
}

void count_frequent_functions(const Control& control, const Tail& tail, uint64_t now) {
  if (!drops_functions() || tail.pending || state.side->frequency == 0) return;
  if (__atomic_add_fetch(&window.closings, 1, __ATOMIC_RELAXED) % kClosingsASample != 0) return;
  if (!window.lock.try_lock()) return;
  if (window.epoch != state.epoch) {
    window.epoch = state.epoch;
    begin_window(state.start_ticks);
  }
  uint64_t first = 0;
  const uint64_t last =
      for_each_event(control.begin, tail.at, 0, [&](uint32_t, FunctionAction, uint64_t time) {
        if (first == 0) first = time;
      });
  // Of a buffer that was begun before the window, a share counts.
  uint64_t weight = kWholeWeight;
  if (first < window.begin && first < last)
    weight = last <= window.begin ? 0 : weight * (last - window.begin) / (last - first);
  if (weight != 0) count_calls(control.begin, tail.at, weight);
  if (now > window.begin && now - window.begin >= state.side->frequency / kWindowsASecond) {
    judge(now);
    begin_window(now);
  }
  window.lock.unlock();
}

void reset_frequent_functions() {
  window.lock.reset();
  // Another thread of the parent may have been dropping functions.
  drop_rounds += drop_rounds & 1;
}

}  // namespace telltale::recorder
