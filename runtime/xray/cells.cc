#include "cells.h"

#include "clock.h"
#include "record.h"
#include "syscalls.h"
#include "trace_file.h"

namespace telltale::recorder {
namespace {

// Written after the last event of a buffer that is closed before it is full, so that an event that
// is about to be claimed there retries elsewhere.
constexpr uint64_t kClosed = xray::kClosingWord;
// A smaller space is not worth a buffer's preamble.
constexpr uint64_t kLeastPartialBytes = 512;
constexpr uint64_t kEndOfBufferBytes = xray::kMetadataRecordBytes;

uint64_t word_at(const std::byte* at) {
  uint64_t word;
  __builtin_memcpy(&word, at, sizeof(word));
  return word;
}

Control* new_control() {
  if (state.first_unused_control != 0) {
    Control* const control = &state.controls[state.first_unused_control - 1];
    state.first_unused_control = control->next_unused;
    return control;
  }
  if (state.controls_used == kMostControls) return nullptr;
  Control* const control = &state.controls[state.controls_used];
  control->index = state.controls_used++;
  return control;
}

void reset(Control& control, ControlKind kind) {
  control.next = control.limit = control.clock_at = nullptr;
  control.kind = kind;
  control.tid = sys::tid();
  control.count = 0;
}

void cell_is_free(uint32_t cell) {
  if (state.closed == nullptr) return;
  state.closed[(state.closed_first + state.closed_count) % state.cells] = cell;
  ++state.closed_count;
}

// A cell or the rest of one. Empty: none is available.
struct Place {
  std::byte* at = nullptr;
  uint32_t cell = 0;
};

Place recycled_cell() {
  uint32_t cell;
  if (state.closed_count != 0) {
    cell = state.closed[state.closed_first];
    state.closed_first = (state.closed_first + 1) % state.cells;
    --state.closed_count;
  } else {
    return {};
  }
  count_lost(state.side->lost_overwritten, state.cell_events[cell]);
  state.cell_events[cell] = 0;
  __atomic_add_fetch(&state.cell_opened[cell], 1, __ATOMIC_ACQ_REL);
  std::byte* const at = cell_begin(cell);
  // The head first, so that readers of the file find no buffer from here on.
  __builtin_memset(at, 0, sizeof(uint64_t));
  asm volatile("" : : : "memory");
  fill_words(at, state.free_word, state.options.cell_bytes / sizeof(uint64_t));
  return {at, cell};
}

Place take_place() {
  if (state.partial_count != 0) {
    --state.partial_count;
    const uint32_t cell = state.partial[state.partial_count];
    return {state.partial_at[state.partial_count], cell};
  }
  if (state.space_gone) return {};
  if (state.cells_used < state.cells) {
    if (!grow_trace(state.cells_used + 1)) return {};
    const uint32_t cell = state.cells_used++;
    state.header->bits = header_bits(state.cells_used);
    if (!state.has_extents)
      fill_words(cell_begin(cell), state.free_word, state.options.cell_bytes / sizeof(uint64_t));
    return {cell_begin(cell), cell};
  }
  return state.closed == nullptr ? Place{} : recycled_cell();
}

Metadata wall_time_record() {
  const auto now = static_cast<uint64_t>(sys::clock_ns(CLOCK_MONOTONIC));
  return metadata_record(xray::MetadataKind::walltime_marker, now / 1'000'000'000,
                         now / 1000 % 1'000'000);
}

// Writes the records that open a buffer; the first byte last, because it marks the buffer.
void open_buffer(Control& control, const Place& place, uint64_t now) {
  std::byte* const cell_end = cell_begin(place.cell) + state.options.cell_bytes;
  std::byte* at = place.at;
  Metadata first =
      metadata_record(xray::MetadataKind::new_buffer, static_cast<uint32_t>(control.tid), 0);
  if (state.has_extents) {
    put(at + 16, first);
    first = metadata_record(xray::MetadataKind::buffer_extents, 64, 0);
    control.extents = place.at + 1;
    at += 16;
  } else {
    control.extents_here = 48;
    control.extents = reinterpret_cast<std::byte*>(&control.extents_here);
  }
  control.begin = at;
  put(at += 16, wall_time_record());
  if (state.has_extents)
    put(at += 16, metadata_record(xray::MetadataKind::pid, static_cast<uint32_t>(state.pid), 0));
  put(at += 16, new_cpu_record(cpu_number(), now));
  at += 16;
  asm volatile("" : : : "memory");
  put(place.at, first);
  control.cell = place.cell;
  control.end = state.has_extents ? cell_end : cell_end - kEndOfBufferBytes;
  control.free_word = state.free_word;
  control.last = now;
  control.cpu = current_cpu();
  control.other_bytes = static_cast<uint64_t>(at - control.begin);
  control.kind = ControlKind::recording;
  control.clock_at = at;
  control.limit = control.end - 7;
  control.next = at;
}

uint64_t events_in(const Control& control, const std::byte* end) {
  return (static_cast<uint64_t>(end - control.begin) - control.other_bytes) /
         xray::kFunctionRecordBytes;
}

// Ends the buffer. Interrupted code may still add what it has claimed; until then the cell is in
// use.
void close_buffer(Control& control, const Tail& tail, bool thread_ends) {
  if (state.cell_events != nullptr) {
    state.cell_events[control.cell] += events_in(control, tail.at);
  }
  const bool reusable = thread_ends && !tail.pending && state.has_extents && tail.open &&
                        static_cast<uint64_t>(control.end - tail.at) >= kLeastPartialBytes &&
                        state.partial_count < sizeof(state.partial) / sizeof(state.partial[0]);
  if (reusable) {
    state.partial[state.partial_count] = control.cell;
    state.partial_at[state.partial_count++] = tail.at;
  } else {
    if (tail.open) claim(tail.at, control.free_word, kClosed);
    if (!tail.pending || thread_ends) cell_is_free(control.cell);
  }
}

// Whether the trace was truncated below the buffer and extended again: the buffer's head is
// missing.
bool is_wiped(const Control& control) {
  const uint64_t head = word_at(control.begin - (state.has_extents ? 16 : 0));
  return (head & 0xFF) == 0;
}

void give_back(Control* control) {
  control->next = control->limit = control->clock_at = nullptr;
  control->kind = ControlKind::unregistered;
  control->next_unused = state.first_unused_control;
  state.first_unused_control = control->index + 1;
}

// Interrupted code of this thread still adds to it, so no other thread may get it or its cell.
void retire(Control& control, const Tail& tail) {
  control.kind = ControlKind::retired;
  control.begin = tail.at;
  control.limit = control.clock_at = nullptr;
  control.next_unused = thread_state.kept == nullptr ? 0 : thread_state.kept->index + 1;
  thread_state.kept = &control;
}

Control* next_kept(const Control& control) {
  return control.next_unused == 0 ? nullptr : &state.controls[control.next_unused - 1];
}

// For the thread's next buffer. Controls of other threads are not reused here: code that is
// interrupted between two instructions may hold any Control that was this thread's.
Control* spare_control() {
  Control* spare = nullptr;
  for (Control* kept = thread_state.kept; kept != nullptr; kept = next_kept(*kept)) {
    if (kept->kind == ControlKind::retired && kept->next == kept->begin) {
      cell_is_free(kept->cell);
      kept->kind = ControlKind::spare;
      kept->next = nullptr;
    }
    if (kept->kind == ControlKind::spare) spare = kept;
  }
  if (spare == nullptr) return nullptr;
  if (spare == thread_state.kept) {
    thread_state.kept = next_kept(*spare);
    return spare;
  }
  Control* before = thread_state.kept;
  while (next_kept(*before) != spare) before = next_kept(*before);
  before->next_unused = spare->next_unused;
  return spare;
}

void tell_left_out(Control& control) {
  if (control.kind != ControlKind::starved && control.count != 0)
    __atomic_fetch_add(&state.side->left_out, control.count, __ATOMIC_RELAXED);
  control.count = 0;
}

}  // namespace

void space_is_gone() {
  state.space_gone = true;
  state.partial_count = 0;
  for (uint32_t i = 0; i < state.controls_used; ++i)
    state.controls[i].limit = state.controls[i].clock_at = nullptr;
}

void take_all_buffers() {
  for (uint32_t i = 0; i < state.controls_used; ++i) {
    state.controls[i].limit = state.controls[i].clock_at = nullptr;
    state.controls[i].kind = ControlKind::unregistered;
  }
  state.first_unused_control = 0;
}

void tell_all_left_out() {
  for (uint32_t i = 0; i < state.controls_used; ++i) tell_left_out(state.controls[i]);
}

void SpinLock::lock() {
  for (int spins = 0; __atomic_exchange_n(&taken_, 1, __ATOMIC_ACQUIRE) != 0; ++spins) {
    if (spins > 100) sys::call(SYS_sched_yield);
    asm volatile("pause");
  }
}

void count_lost(uint64_t& counter, uint64_t events) {
  if (events == 0) return;
  __atomic_fetch_add(&counter, events, __ATOMIC_RELAXED);
  uint32_t before = __atomic_load_n(&state.header->lost, __ATOMIC_RELAXED);
  uint32_t after;
  do {
    after = static_cast<uint32_t>(least(before + events, UINT32_MAX));
  } while (!__atomic_compare_exchange_n(&state.header->lost, &before, after, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED));
}

std::byte* cell_begin(uint32_t index) {
  return reinterpret_cast<std::byte*>(state.header) + xray::kFileHeaderBytes +
         index * state.options.cell_bytes;
}

Metadata metadata_record(xray::MetadataKind kind, uint64_t body, uint64_t body_high) {
  return {(static_cast<uint64_t>(kind) << 1 | 1) | body << 8, body >> 56 | body_high << 8};
}
Metadata new_cpu_record(uint32_t cpu, uint64_t ticks) {
  return metadata_record(xray::MetadataKind::new_cpu_id, (cpu & 0xFFFF) | ticks << 16, ticks >> 48);
}
void put(std::byte* at, const Metadata& record) {
  __builtin_memcpy(at + 8, &record.high, 8);
  asm volatile("" : : : "memory");
  __builtin_memcpy(at, &record.low, 8);
}

uint32_t cpu_number() {
  unsigned cpu = 0;
  sys::call(SYS_getcpu, &cpu, static_cast<void*>(nullptr), static_cast<void*>(nullptr));
  return cpu;
}

Tail tail_of(const Control& control) {
  std::byte* at = control.next;
  while (at < control.limit) {
    const uint64_t word = word_at(at);
    if (word == control.free_word) return {at, true, at != control.next};
    const auto kind = static_cast<xray::MetadataKind>((word & 0xFF) >> 1);
    if ((word & 1) == 0) {
      const bool argument =
          (word >> 1 & 7) == static_cast<uint64_t>(xray::FunctionAction::enter_args);
      at += xray::kFunctionRecordBytes + (argument ? xray::kMetadataRecordBytes : 0);
    } else if (word != kClosed && (kind == xray::MetadataKind::custom_event_marker ||
                                   kind == xray::MetadataKind::typed_event_marker)) {
      at += xray::kMetadataRecordBytes + (word >> 8 & 0xFFFF'FFFF);
    } else {
      break;
    }
  }
  return {at, false, at != control.next};
}

Control* take_control(ControlKind kind) {
  const Locked locked(state.lock);
  Control* control = new_control();
  if (control == nullptr) {
    release_dead_threads();
    control = new_control();
  }
  if (control != nullptr) reset(*control, kind);
  return control;
}

Control* take_buffer(Control* had, uint64_t now) {
  const Locked locked(state.lock);
  Control* control = had->kind == ControlKind::starved ? had : nullptr;
  if (had->kind == ControlKind::recording) {
    tell_left_out(*had);
    const Tail tail = tail_of(*had);
    if (__builtin_expect(is_wiped(*had), 0)) {
      count_lost(state.side->lost_no_space, events_in(*had, had->next));
      space_is_gone();
    } else {
      close_buffer(*had, tail, false);
    }
    if (tail.pending) {
      retire(*had, tail);
    } else {
      control = had;
    }
  }
  if (control == nullptr) control = spare_control();
  if (control == nullptr) control = new_control();
  if (control == nullptr) return nullptr;
  reset(*control, ControlKind::starved);
  Place place = take_place();
  if (place.at == nullptr && !state.space_gone) {
    release_dead_threads();
    place = take_place();
  }
  if (place.at != nullptr) open_buffer(*control, place, now);
  calibrate_now_and_then();
  return control;
}

namespace {

// Frees a Control whose thread has ended.
void release(Control& control) {
  tell_left_out(control);
  if (control.kind == ControlKind::recording) close_buffer(control, tail_of(control), true);
  if (control.kind == ControlKind::retired) cell_is_free(control.cell);
  give_back(&control);
}

}  // namespace

void release_controls(Control* control) {
  const Locked locked(state.lock);
  if (control->kind != ControlKind::unregistered) release(*control);
  while (thread_state.kept != nullptr) {
    Control& kept = *thread_state.kept;
    thread_state.kept = next_kept(kept);
    if (kept.kind == ControlKind::retired || kept.kind == ControlKind::spare) release(kept);
  }
}

void release_dead_threads() {
  for (uint32_t i = 0; i < state.controls_used; ++i) {
    Control& control = state.controls[i];
    if (control.kind == ControlKind::unregistered) continue;
    if (sys::call(SYS_tgkill, state.pid, control.tid, 0) != -ESRCH) continue;
    release(control);
  }
}

}  // namespace telltale::recorder
