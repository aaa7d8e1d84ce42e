#pragma once

// Buffers for threads: taken from the trace's cells and given back. Call with all signals blocked.

#include "state.h"

namespace telltale::recorder {

// Gives the calling thread a Control with a buffer that has been opened at `now`: the one it had is
// closed. Without a buffer to be had, the Control is of kind `starved`; null: not even a Control.
Control* take_buffer(Control* had, uint64_t now);

// A new Control for the calling thread without a buffer; null: none left.
Control* take_control(ControlKind kind);

// The calling thread ends: closes the buffer of its Control, if it has one, and frees it and those
// that the thread kept.
void release_controls(Control* control);

// Where a buffer's records end.
struct Tail {
  std::byte* at;  // behind the last record
  bool open;      // a word fits there
  bool pending;   // code of this thread that is interrupted has claimed records before `at` and not
                  // yet added them: neither `next` nor `last` can be relied on
};
Tail tail_of(const Control& control);

// Frees the Controls of threads that ended without a word. Needs the lock.
void release_dead_threads();

// No buffer is to be had from now on, and what threads have is closed.
void space_is_gone();

// Adds what filters left out of all threads' buffers to the side record.
void tell_all_left_out();

// Where cell `index` begins.
std::byte* cell_begin(uint32_t index);

// A metadata record of 16 bytes.
struct Metadata {
  uint64_t low;
  uint64_t high;
};
Metadata metadata_record(xray::MetadataKind kind, uint64_t body, uint64_t body_high);
Metadata new_cpu_record(uint32_t cpu, uint64_t ticks);
void put(std::byte* at, const Metadata& record);

uint32_t cpu_number();

}  // namespace telltale::recorder
