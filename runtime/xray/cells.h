#pragma once

// Buffers for threads: takes them from the trace's cells and returns them. Call with all signals
// blocked.

#include "state.h"

namespace telltale::recorder {

// Gives the calling thread a Control with a buffer opened at `now`, and closes its previous buffer.
// If no buffer is available, the Control is of kind `starved`; null: no Control is available
// either.
Control* take_buffer(Control* had, uint64_t now);

// A new Control without a buffer for the calling thread; null: none left.
Control* take_control(ControlKind kind);

// At the end of the calling thread: closes the buffer of its Control, if any, and frees that
// Control and those that the thread kept.
void release_controls(Control* control);

// The end of a buffer's records.
struct Tail {
  std::byte* at;  // after the last record
  bool open;      // a word fits there
  bool pending;   // interrupted code of this thread has claimed records before `at` and not
                  // added them yet: neither `next` nor `last` is reliable
};
// The end of the records in a Control's buffer; its owner may be adding events.
Tail tail_of(const Control& control);

// Frees the Controls of threads that ended without running the key's destructor. Needs the lock.
void release_dead_threads();

// Closes the threads' buffers; no buffer is available from now on.
void space_is_gone();

// Takes all buffers from their threads. Events in progress still go to the old ones. Needs the
// lock.
void take_all_buffers();

// Adds the filtered events of all threads' buffers to the side record.
void tell_all_left_out();

// The start of cell `index`.
std::byte* cell_begin(uint32_t index);

// A metadata record of 16 bytes.
struct Metadata {
  uint64_t low;
  uint64_t high;
};
// `body`, `body_high`: the 15 bytes after the record's first, little-endian.
Metadata metadata_record(xray::MetadataKind kind, uint64_t body, uint64_t body_high);
Metadata new_cpu_record(uint32_t cpu, uint64_t ticks);
// Writes a record to `at`. The half with its kind comes last, so that readers never see a half of
// it.
void put(std::byte* at, const Metadata& record);

// The number of the CPU that the calling thread runs on.
uint32_t cpu_number();

}  // namespace telltale::recorder
