#pragma once

// One sink's records: a file that grows chunk by chunk, or a ring of chunks in memory or in a file.
// Async-signal-safe and without locks, except making one.

#include <cstddef>
#include <cstdint>

#include "guard.h"
#include "records.h"
#include "system.h"

namespace telltale::st {

// A piece of a store that one thread fills, or all threads.
struct Chunk {
  uint8_t* base = nullptr;
  uint64_t bytes = 0;
};

// A chunk that all threads fill.
struct SharedChunk {
  Retired retired;
  Chunk chunk;
  uint64_t used;  // bytes; may be larger than the chunk
};

constexpr uint64_t kSmallestChunk = 4096;
constexpr uint64_t kLargestChunk = 1U << 20;
constexpr uint64_t kSharedChunk = 1U << 16;
constexpr uint64_t kClassicChunk = stacktrack::classic::kSmallestFile;
// A growing file's first chunk.
constexpr uint64_t smallest_file(Layout layout) {
  return layout == Layout::wide ? stacktrack::wide::kSmallestFile : kClassicChunk;
}
constexpr uint64_t kSmallestRing = 1U << 16;

// Lives in its own mapping, from make_store() to retire_store().
struct Store {
  Retired retired;
  Layout layout;
  uint32_t pid;
  uint64_t id;     // unique among all stores of the process
  uint32_t cycle;  // the write cycle that begins with it: checkpoints posted earlier are
                   // not posted in it
                   //
                   // A growing file. It is reopened for each chunk: a program that closes all
                   // descriptors and opens files of its own never affects ours.
  char path[kPathBytes];  // absolute; empty: memory
  uint64_t device;
  uint64_t inode;
  uint64_t end;         // of the chunks, in bytes
  uint64_t allocated;   // the file's minimum size
  uint64_t most_bytes;  // limit for the end of chunks; 0: none
  uint64_t full_until;  // in ticks: do not retry before
  uint32_t cut;         // another process has truncated the file: nothing is added to it
  uint32_t stuck;       // the thread that makes the next file does not finish: nobody waits for it
  uint64_t cut_events;  // lost when a file was truncated, and not counted in a file yet
  // A ring.
  Chunk ring;
  uint64_t chunk_bytes;  // > 0: it is a ring
  uint64_t chunk_count;
  uint64_t turn;           // chunks requested so far
  uint32_t* chunk_states;  // [chunk_count]
  uint64_t reclaimed;      // in ticks: when chunks of ended threads were looked for
  uint64_t reclaim_ticks;  // and how long that took
  // For events of signal handlers that interrupt the recorder. Unlike `shared`, it is overwritten
  // like chunks of threads. Null: none yet, or not a ring.
  SharedChunk* interrupting;
  // Written by all threads.
  SharedChunk* shared;
  SharedChunk first_shared;                      // as long as the store: it contains the next two
  uint64_t* frequency;                           // TIMETYPE.tdiv in the first chunk; null: none
  uint64_t refined;                              // ticks of the last measurement
  uint64_t* lost[stacktrack::kLostReasons + 1];  // counts in the first chunk; null: classic
};

// A new growing file at `path` (absolute, must not exist); or with `ring_bytes` a ring there, or in
// memory if `path` is null. Null: `error` is a negative errno value, and no file is left behind.
Store* make_store(Layout layout, const char* path, uint64_t ring_bytes, uint64_t most_bytes,
                  int* error);

// Unmaps a store that no thread can reach any more, when no thread is inside. The file's contents
// stay. A ring's chunks stay mapped, because threads may be storing into them.
void retire_store(Store* store);

// The file ends before `address`, which is in `chunk`: replaces the rest by anonymous memory.
// False: `address` is not in the chunk.
bool let_go_if_holds(const Chunk& chunk, const void* address);
// The same for a store's shared chunks, and for its ring; nothing is added to the store afterwards.
bool let_go_if_holds(Store& store, const void* address);
// The same for truncated stores that were replaced by others.
bool let_go_if_replaced_holds(const void* address);

// A zeroed chunk of about `bytes`, according to the store's kind and layout; for a ring with its
// chunk size. Events that a ring overwrites are added to `overwritten`. Returns 0, -EFBIG at
// most_bytes, or another negative errno value.
int take_chunk(Store& store, uint64_t bytes, Chunk* chunk, uint64_t* overwritten);
// The next file could not be made: no thread retries for a while.
void give_up_for_now(Store& store);
// Counts the events that were lost with the truncated `from` in the file of `to`.
void tell_cut_events(Store& from, const Store& to);
// A thread is done with a chunk and its slots up to `end`. Slots in which a record is being stored
// (a signal handler may be in the slow path, above an event that it interrupted) keep it from being
// unmapped or reused until they are stored. `others`: slots that contain no event, of which
// `known` certainly are in this chunk.
void finish_chunk(Store* ring, Layout layout, const Chunk& chunk, const uint8_t* end,
                  uint32_t others, uint32_t known);

// Stores a record without meaning into a slot, if it is empty, which its thread will not use.
void fill_slot(uint8_t* slot, uint32_t pid, uint32_t tid, uint32_t thread);
// The same for slot `number` of a finished chunk, unless it has been reused or has so few.
void fill_finished_slot(Store& ring, const Chunk& finished, uint64_t number, uint32_t tid,
                        uint32_t thread);

// Whether somebody truncated the file below a chunk with contents, and extended it again: stores
// there raise no SIGBUS, unlike stores past the file's end.
bool is_wiped(const Chunk& chunk);

// `count` consecutive slots of the chunk that all threads fill, for what must not be overwritten;
// null if there is no space.
uint8_t* take_shared_slots(Store& store, size_t count);
// The same for events, of threads without a chunk or in a signal handler that interrupted its use.
uint8_t* take_event_slots(Store& store, size_t count);

// A wide chunk's first record, or (chunk_bytes 0) the record by which a thread takes over the rest.
void store_stream(uint8_t* slot, uint32_t pid, uint32_t tid, uint32_t thread, uint64_t chunk_bytes);

// Writes a ring's contents to `file`, only whole records, while threads continue. 0 or a negative
// errno value.
int dump_ring(const Store& store, int file);

}  // namespace telltale::st
