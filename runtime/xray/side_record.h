#pragma once

// The records of TRACE.side. They are kept in memory, too, so that a forked child and a snapshot
// can write them again.

#include <stdint.h>

#include <cstddef>

namespace telltale::recorder {

enum class SideKind : uint32_t {
  object = 1,
  unload = 2,
  assigned = 3,
  thread = 4,
  dropped = 5,
  chosen = 7
};

// Appends a record of a kind and length with the given parts, zero-padded to a multiple of 8 bytes.
// Async-signal-safe; call with all signals blocked and not from within append_side. False: no
// memory for it.
bool append_side(SideKind kind, const void* first, size_t first_bytes, const void* second = nullptr,
                 size_t second_bytes = 0);
// For a forked child, whose parent's threads may have been in append_side.
void reset_side_lock();
// Copies all records so far to the side file just opened.
void rewrite_side();
// Releases the unused part of the side file.
void cut_side_record();
// The records so far, for a snapshot: `bytes` of them.
const void* side_records(size_t& bytes);

// For programs without a map (gcc): the next free id for the function at `address`. Each call
// assigns a new id; the caller remembers it. 0: none left. Async-signal-safe.
uint32_t assign_function_id(uint64_t address);

}  // namespace telltale::recorder
