#pragma once

// Where one sink's records stand: a file that grows chunk by chunk, or a ring of chunks in memory
// or in a file. Async-signal-safe and without locks, but for making one.

#include <cstddef>
#include <cstdint>

#include "guard.h"
#include "records.h"
#include "system.h"

namespace telltale::st {

// A piece of a store that one thread fills, or all.
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
constexpr uint64_t kClassicChunk =
    12288;  // the smallest multiple of a page and of a classic record
constexpr uint64_t kSmallestRing = 1U << 16;

// Lives in its own mapping, from make_store() to retire_store().
struct Store {
  Retired retired;
  Layout layout;
  uint32_t pid;
  uint64_t id;     // of all stores of the process
  uint32_t cycle;  // the write cycle that begins with it: checkpoints that were posted before are
                   // not posted in it
  // A growing file. It is opened anew for each chunk: a program that closes all descriptors and
  // opens files of its own never meets ours.
  char path[kPathBytes];  // absolute; empty: memory
  uint64_t device;
  uint64_t inode;
  uint64_t end;         // of the chunks, in bytes
  uint64_t allocated;   // the file was this large at least
  uint64_t most_bytes;  // chunks must end before; 0: no limit
  uint64_t full_until;  // in ticks: no use to try before
  uint32_t cut;         // somebody has cut the file: nothing is added to it
  uint64_t cut_events;  // that were lost when a file was cut, and are not counted in a file yet
  // A ring.
  Chunk ring;
  uint64_t chunk_bytes;  // > 0: it is a ring
  uint64_t chunk_count;
  uint64_t turn;           // chunks that were asked for
  uint32_t* chunk_states;  // [chunk_count]
  // What all threads write.
  SharedChunk* shared;
  SharedChunk first_shared;                      // as long as the store: it holds the next two
  uint64_t* frequency;                           // TIMETYPE.tdiv in the first chunk; null: none
  uint64_t refined;                              // ticks when it was measured last
  uint64_t* lost[stacktrack::kLostReasons + 1];  // counts in the first chunk; null: classic
};

// A file of its own at `path` (absolute, must not exist), which grows; or with `ring_bytes` a ring
// there, or in memory if `path` is null. Null: `error` is a negative errno value, and no file is
// left behind.
Store* make_store(Layout layout, const char* path, uint64_t ring_bytes, uint64_t most_bytes,
                  int* error);

// Out of everybody's reach: unmaps it when nobody is inside. What is in its file stays. A ring's
// chunks stay mapped, because threads may be storing into them.
void retire_store(Store* store);

// The file ends before `address`, which is in `chunk`: from there on memory takes its place. False:
// it is not in the chunk.
bool let_go_if_holds(const Chunk& chunk, const void* address);
// The same for what all threads write in a store, and for its ring; nobody adds to the store then.
bool let_go_if_holds(Store& store, const void* address);
// For stores that were cut and replaced by others.
bool let_go_if_replaced_holds(const void* address);

// A chunk of zeros of about `bytes`, as a store's kind and layout has it; for a ring with its chunk
// size. What a ring overwrites is counted in `overwritten`. Returns 0, -EFBIG at most_bytes, or
// another negative errno value.
int take_chunk(Store& store, uint64_t bytes, Chunk* chunk, uint64_t* overwritten);
// The next file could not be made: nobody tries for a while.
void give_up_for_now(Store& store);
// Counts the events that went when `from` was cut in the file of `to`.
void tell_cut_events(Store& from, const Store& to);
// A thread is done with a chunk and its slots up to `end`. Slots in which a record is being stored
// (a signal handler may be asking, above an event that it interrupted) keep it from being unmapped
// or used again. `others`: slots that hold no event.
void finish_chunk(Store* ring, Layout layout, const Chunk& chunk, const uint8_t* end,
                  uint32_t others);

// Whether somebody cut the file below a chunk in which there was something, and made it long again:
// what is stored there is not seen to go, as it would be behind the file's end.
bool is_wiped(const Chunk& chunk);

// `count` neighbouring slots among those that all threads fill; null if there is no space.
uint8_t* take_shared_slots(Store& store, size_t count);

// A wide chunk's first record, or (chunk_bytes 0) that a thread takes over the rest.
void store_stream(uint8_t* slot, uint32_t pid, uint32_t tid, uint32_t thread, uint64_t chunk_bytes);

// Writes what a ring holds to `file`, whole records only, while threads go on. 0 or a negative
// errno value.
int dump_ring(const Store& store, int file);

}  // namespace telltale::st
