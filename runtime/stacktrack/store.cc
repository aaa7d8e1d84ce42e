#include "store.h"

#include <cstring>

#include "clock.h"

namespace telltale::st {
namespace {

static_assert(kSharedChunk / detail::kSlotBytes == detail::kSlotNumbers);  // of a ring's chunk

// A full one's state is kFull plus the number of events in it. That of one with an event that a
// signal handler has interrupted is kUncommitted plus the number of its slots.
enum ChunkState : uint32_t { kFree, kFilling, kPinned, kFull, kUncommitted = 1U << 31 };

uint64_t round_up(uint64_t number, uint64_t step) { return (number + step - 1) / step * step; }

uint64_t whole_chunk(Layout layout, uint64_t bytes) {
  return round_up(bytes, layout == Layout::wide ? kSmallestChunk : kClassicChunk);
}

uint64_t first_word(const uint8_t* slot) {
  return __atomic_load_n(reinterpret_cast<const uint64_t*>(slot), __ATOMIC_ACQUIRE);
}

bool all_committed(Layout layout, const uint8_t* begin, const uint8_t* end) {
  const size_t step = slot_bytes(layout);
  const uint8_t* slot = begin;
  // A ring gets here with every record.
  for (; slot + 3 * step < end; slot += 4 * step) {
    if (first_word(slot) == 0 || first_word(slot + step) == 0 || first_word(slot + 2 * step) == 0 ||
        first_word(slot + 3 * step) == 0) {
      return false;
    }
  }
  for (; slot < end; slot += step) {
    if (first_word(slot) == 0) return false;
  }
  return true;
}

// For a chunk of a ring, which is wide.
uint32_t count_events(const uint8_t* begin, const uint8_t* end) {
  uint32_t events = 0;
  for (const uint8_t* slot = begin; slot < end; slot += detail::kSlotBytes) {
    const bool is_hit =
        (first_word(slot) & stacktrack::kTypeMask) == static_cast<uint64_t>(RecordType::hit);
    events += is_hit ? 1 : 0;
  }
  return events;
}

// A thread may be about to store into a truncated store: the last few remain findable.
constexpr uint32_t kCutStores = 64;
Store* cut_stores[kCutStores];
uint32_t cut_count = 0;
void keep_cut_store(Store* store) {
  const uint32_t index = __atomic_fetch_add(&cut_count, 1, __ATOMIC_RELAXED);
  __atomic_store_n(&cut_stores[index % kCutStores], store, __ATOMIC_RELEASE);
}

void raise_to(uint64_t* most, uint64_t value) {
  uint64_t before = __atomic_load_n(most, __ATOMIC_RELAXED);
  while (before < value && !__atomic_compare_exchange_n(most, &before, value, true,
                                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

// Extends the file by a chunk. The caller maps it.
int extend(Store& store, uint64_t bytes, int* file, uint64_t* offset) {
  *file = open_file(store.path, O_RDWR | O_NOFOLLOW);
  if (*file < 0) return *file;
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t size = 0;
  const uint64_t at_least = __atomic_load_n(&store.allocated, __ATOMIC_ACQUIRE);
  int error = identify_file(*file, &device, &inode, &size);
  // Another file may be in its place, or the file may be truncated.
  if (error == 0 && (device != store.device || inode != store.inode)) error = -ESTALE;
  if (error == 0 && size < at_least) {
    __atomic_store_n(&store.cut, 1, __ATOMIC_SEQ_CST);
    error = -EFBIG;
  }
  if (error == 0) {
    *offset = __atomic_load_n(&store.end, __ATOMIC_RELAXED);
    do {
      if (store.most_bytes != 0 && *offset + bytes > store.most_bytes) error = -EFBIG;
    } while (error == 0 && !__atomic_compare_exchange_n(&store.end, offset, *offset + bytes, true,
                                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  }
  if (error == 0) {
    error = allocate_file(*file, *offset, bytes);
    if (error == 0) raise_to(&store.allocated, *offset + bytes);
    if (error != 0) {
      // Gives the place back if no chunk follows it; otherwise it stays a gap, which readers skip.
      uint64_t expected = *offset + bytes;
      __atomic_compare_exchange_n(&store.end, &expected, *offset, false, __ATOMIC_RELAXED,
                                  __ATOMIC_RELAXED);
      if (error == -EFBIG) error = -ENOSPC;
    }
  }
  if (error != 0) close_file(*file);
  return error;
}

// Do not retry for a while.
void put_off(Store& store) {
  constexpr uint64_t kTriesPerSecond = 100;
  __atomic_store_n(&store.full_until, Clock::ticks() + Clock::frequency() / kTriesPerSecond,
                   __ATOMIC_RELAXED);
}

int take_from_file(Store& store, uint64_t bytes, Chunk* chunk) {
  int file = -1;
  uint64_t offset = 0;
  chunk->bytes = whole_chunk(store.layout, bytes);
  int error = extend(store, chunk->bytes, &file, &offset);
  if (error == 0) {
    chunk->base = static_cast<uint8_t*>(map_file(file, offset, chunk->bytes));
    if (chunk->base == nullptr) error = -ENOMEM;
    close_file(file);
  }
  if (error != 0 && error != -EFBIG) put_off(store);
  return error;
}

// Clears a chunk, its head first: from then on readers ignore the rest.
void clear_chunk(const Chunk& chunk) {
  for (uint8_t* slot = chunk.base; slot < chunk.base + chunk.bytes; slot += detail::kSlotBytes)
    __atomic_store_n(reinterpret_cast<uint64_t*>(slot), 0, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
}

// Sets the state of a ring's chunk.
void set_state(const Store& ring, const Chunk& chunk, uint32_t state) {
  const uint64_t index = static_cast<uint64_t>(chunk.base - ring.ring.base) / ring.chunk_bytes;
  __atomic_store_n(ring.chunk_states + index, state, __ATOMIC_RELEASE);
}

// Sets `events` to the number of events in a chunk that nobody fills. False: one of them is not
// committed yet.
bool count_finished(const Chunk& chunk, uint32_t state, uint64_t* events) {
  *events = state - kFull;
  if (state < kUncommitted) return true;
  const uint8_t* const end = chunk.base + uint64_t{state - kUncommitted} * detail::kSlotBytes;
  *events = count_events(chunk.base, end);
  return all_committed(Layout::wide, chunk.base, end);
}

int take_from_ring(Store& store, ChunkState state, Chunk* chunk, uint64_t* overwritten) {
  for (uint64_t attempt = 0; attempt < store.chunk_count; ++attempt) {
    const uint64_t index = __atomic_fetch_add(&store.turn, 1, __ATOMIC_RELAXED) % store.chunk_count;
    uint32_t* const place = store.chunk_states + index;
    uint32_t before = __atomic_load_n(place, __ATOMIC_RELAXED);
    if (before != kFree && before < kFull) continue;
    if (!__atomic_compare_exchange_n(place, &before, kFilling, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED))
      continue;
    chunk->base = store.ring.base + index * store.chunk_bytes;
    chunk->bytes = store.chunk_bytes;
    if (before >= kFull) {
      uint64_t events = 0;
      if (!count_finished(*chunk, before, &events)) {
        __atomic_store_n(place, before, __ATOMIC_RELEASE);
        continue;
      }
      *overwritten += events;
      clear_chunk(*chunk);
    }
    __atomic_store_n(place, state, __ATOMIC_RELAXED);
    return 0;
  }
  return -ENOSPC;
}

// `state`: of a ring's chunk.
bool fill_shared(Store& store, uint64_t bytes, ChunkState state, SharedChunk* shared) {
  if (__atomic_load_n(&store.full_until, __ATOMIC_RELAXED) > Clock::ticks()) return false;
  uint64_t overwritten = 0;
  const int error = store.chunk_bytes == 0
                        ? take_from_file(store, bytes, &shared->chunk)
                        : take_from_ring(store, state, &shared->chunk, &overwritten);
  if (overwritten != 0 && store.lost[2] != nullptr)
    __atomic_fetch_add(store.lost[2], overwritten, __ATOMIC_RELAXED);
  if (error != 0) return false;
  if (store.layout == Layout::wide) {
    store_stream(shared->chunk.base, store.pid, 0, 0, shared->chunk.bytes);
    shared->used = detail::kSlotBytes;
  }
  return true;
}

void retire_shared(Store& store, SharedChunk* shared) {
  if (shared == &store.first_shared) return;
  const bool stays = store.chunk_bytes != 0;
  shared->retired = {nullptr,
                     {shared, stays ? nullptr : shared->chunk.base},
                     {kSmallestChunk, shared->chunk.bytes}};
  Inside::retire(&shared->retired);
}

int make_ring(Store& store, int file, uint64_t ring_bytes) {
  const uint64_t bytes = round_up(ring_bytes, kSmallestRing);
  // Small enough for many threads to hold one each, large enough that changing chunks costs
  // nothing.
  store.chunk_bytes = kSmallestChunk;
  while (store.chunk_bytes < kSharedChunk && bytes / store.chunk_bytes > 64) store.chunk_bytes *= 2;
  store.chunk_count = bytes / store.chunk_bytes;
  store.ring.bytes = store.chunk_count * store.chunk_bytes;
  if (file >= 0) {
    const int error = allocate_file(file, 0, store.ring.bytes);
    if (error != 0) return error;
    store.ring.base = static_cast<uint8_t*>(map_file(file, 0, store.ring.bytes));
  } else {
    store.ring.base = static_cast<uint8_t*>(map_memory(store.ring.bytes));
  }
  store.chunk_states = static_cast<uint32_t*>(
      map_memory(round_up(store.chunk_count * sizeof(uint32_t), kSmallestChunk)));
  return store.ring.base == nullptr || store.chunk_states == nullptr ? -ENOMEM : 0;
}

}  // namespace

Store* make_store(Layout layout, const char* path, uint64_t ring_bytes, uint64_t most_bytes,
                  int* error) {
  const size_t own_bytes = round_up(sizeof(Store), kSmallestChunk);
  Store* const store = static_cast<Store*>(map_memory(own_bytes));
  if (store == nullptr) {
    *error = -ENOMEM;
    return nullptr;
  }
  static uint64_t last_id = 0;
  store->id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
  store->layout = layout;
  store->pid = process_id();
  store->most_bytes = most_bytes;
  int file = -1;
  uint64_t size = 0;
  *error = 0;
  if (path != nullptr) {
    std::strncpy(store->path, path, kPathBytes - 1);
    file = open_file(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
    *error = file < 0 ? file : identify_file(file, &store->device, &store->inode, &size);
  }
  if (*error == 0 && ring_bytes != 0) *error = make_ring(*store, file, ring_bytes);
  if (*error == 0) {
    store->shared = &store->first_shared;
    if (!fill_shared(*store, smallest_file(layout), kPinned, store->shared)) *error = -ENOSPC;
  }
  if (file >= 0) {
    close_file(file);
    if (*error != 0) remove_file(path);
  }
  if (*error == 0) return store;
  if (store->ring.base != nullptr) unmap(store->ring.base, store->ring.bytes);
  unmap(store, own_bytes);
  return nullptr;
}

void retire_store(Store* store) {
  if (__atomic_load_n(&store->cut, __ATOMIC_RELAXED) != 0) return keep_cut_store(store);
  retire_shared(*store, store->shared);
  if (store->interrupting != nullptr) retire_shared(*store, store->interrupting);
  const bool stays = store->chunk_bytes != 0;
  const Chunk& first = store->first_shared.chunk;
  store->retired = {nullptr,
                    {store, stays ? nullptr : first.base},
                    {round_up(sizeof(Store), kSmallestChunk), first.bytes}};
  if (stays) return;  // threads may read a ring's description at any time
  Inside::retire(&store->retired);
}

bool let_go_if_holds(const Chunk& chunk, const void* address) {
  const auto* const at = static_cast<const uint8_t*>(address);
  if (chunk.base == nullptr || at < chunk.base || at >= chunk.base + chunk.bytes) return false;
  uint8_t* const page =
      chunk.base + static_cast<uint64_t>(at - chunk.base) / kSmallestChunk * kSmallestChunk;
  return replace_with_memory(page, static_cast<size_t>(chunk.base + chunk.bytes - page));
}

bool let_go_if_holds(Store& store, const void* address) {
  const SharedChunk* const shared = __atomic_load_n(&store.shared, __ATOMIC_ACQUIRE);
  if (!let_go_if_holds(shared->chunk, address) &&
      !let_go_if_holds(store.first_shared.chunk, address) &&
      !let_go_if_holds(store.ring, address)) {
    return false;
  }
  __atomic_store_n(&store.cut, 1, __ATOMIC_SEQ_CST);
  return true;
}

bool let_go_if_replaced_holds(const void* address) {
  for (Store* const& place : cut_stores) {
    Store* const store = __atomic_load_n(&place, __ATOMIC_ACQUIRE);
    if (store != nullptr && let_go_if_holds(*store, address)) return true;
  }
  return false;
}

int take_chunk(Store& store, uint64_t bytes, Chunk* chunk, uint64_t* overwritten) {
  if (__atomic_load_n(&store.full_until, __ATOMIC_RELAXED) > Clock::ticks()) return -ENOSPC;
  if (__atomic_load_n(&store.cut, __ATOMIC_RELAXED) != 0)
    return -EFBIG;  // the store has to continue in the next file
  return store.chunk_bytes == 0 ? take_from_file(store, bytes, chunk)
                                : take_from_ring(store, kFilling, chunk, overwritten);
}

void give_up_for_now(Store& store) {
  put_off(store);
  tell_cut_events(store, store);
}

void tell_cut_events(Store& from, const Store& to) {
  if (__atomic_load_n(&from.cut_events, __ATOMIC_RELAXED) == 0) return;
  const uint64_t events = __atomic_exchange_n(&from.cut_events, 0, __ATOMIC_RELAXED);
  uint64_t* const in_file = to.lost[static_cast<uint32_t>(LostReason::no_space)];
  if (in_file != nullptr) __atomic_fetch_add(in_file, events, __ATOMIC_RELAXED);
}

void finish_chunk(Store* ring, Layout layout, const Chunk& chunk, const uint8_t* end,
                  uint32_t others, uint32_t known) {
  const bool committed = all_committed(layout, chunk.base, end);
  if (ring == nullptr) {
    if (committed) unmap(chunk.base, chunk.bytes);
    return;
  }
  const uint32_t slots =
      static_cast<uint32_t>(end - chunk.base) / static_cast<uint32_t>(detail::kSlotBytes);
  if (!committed) return set_state(*ring, chunk, kUncommitted + slots);
  // An interrupted thread may have counted text in the next chunk.
  set_state(*ring, chunk,
            kFull + (others > known ? count_events(chunk.base, end) : slots - others));
}

void fill_slot(uint8_t* slot, uint32_t pid, uint32_t tid, uint32_t thread) {
  if (first_word(slot) == 0) store_stream(slot, pid, tid, thread, 0);
}

void fill_finished_slot(Store& ring, const Chunk& finished, uint64_t number, uint32_t tid,
                        uint32_t thread) {
  const uint64_t index = static_cast<uint64_t>(finished.base - ring.ring.base) / ring.chunk_bytes;
  uint32_t state = __atomic_load_n(ring.chunk_states + index, __ATOMIC_RELAXED);
  // Nobody may reuse it meanwhile.
  if (state < kUncommitted || number >= state - kUncommitted ||
      !__atomic_compare_exchange_n(ring.chunk_states + index, &state, kFilling, false,
                                   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
    return;
  fill_slot(finished.base + number * detail::kSlotBytes, ring.pid, tid, thread);
  set_state(ring, finished, state);
}

bool is_wiped(const Chunk& chunk) { return first_word(chunk.base) == 0; }

namespace {

// Takes slots from the chunk at `place`, or from the next one, which then takes its place. In a
// ring, `state` is the next one's.
uint8_t* take_slots(Store& store, SharedChunk** place, ChunkState state, size_t count) {
  if (__atomic_load_n(&store.cut, __ATOMIC_RELAXED) != 0) return nullptr;
  const uint64_t bytes = count * slot_bytes(store.layout);
  for (int attempt = 0; attempt < 8; ++attempt) {
    SharedChunk* shared = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    if (shared != nullptr) {
      const uint64_t at = __atomic_fetch_add(&shared->used, bytes, __ATOMIC_RELAXED);
      if (at + bytes <= shared->chunk.bytes) return shared->chunk.base + at;
      // Only one thread finds the chunk's end: nobody takes slots of it any more.
      if (state == kFilling && at <= shared->chunk.bytes)
        set_state(store, shared->chunk,
                  kUncommitted + static_cast<uint32_t>(at / detail::kSlotBytes));
    }
    // It is a separate mapping, which is released with the chunk.
    SharedChunk* const next = static_cast<SharedChunk*>(map_memory(kSmallestChunk));
    if (next == nullptr) return nullptr;
    if (!fill_shared(store, kSharedChunk, state, next)) {
      unmap(next, kSmallestChunk);
      return nullptr;
    }
    if (__atomic_compare_exchange_n(place, &shared, next, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED)) {
      if (shared != nullptr) retire_shared(store, shared);
    } else {
      // Another thread was faster; this chunk stays empty.
      if (state == kFilling) set_state(store, next->chunk, kFull);
      retire_shared(store, next);
    }
  }
  return nullptr;
}

}  // namespace

uint8_t* take_shared_slots(Store& store, size_t count) {
  return take_slots(store, &store.shared, kPinned, count);
}

uint8_t* take_event_slots(Store& store, size_t count) {
  if (store.chunk_bytes == 0) return take_shared_slots(store, count);
  return take_slots(store, &store.interrupting, kFilling, count);
}

void store_stream(uint8_t* slot, uint32_t pid, uint32_t tid, uint32_t thread,
                  uint64_t chunk_bytes) {
  const stacktrack::wide::Stream fields{tid, static_cast<uint32_t>(chunk_bytes), thread, 0};
  const RecordHead head{
      type_flags(RecordType::stream, chunk_bytes != 0 ? stacktrack::kChunkStart : 0),
      static_cast<uint16_t>(thread), pid, 0};
  store_record(Layout::wide, slot, head, to_payload(fields));
}

int dump_ring(const Store& store, int file) {
  constexpr size_t kWords = detail::kSlotBytes / sizeof(uint64_t);
  uint64_t buffer[kSmallestChunk / 4 / sizeof(uint64_t)];
  size_t filled = 0;
  for (const uint8_t* slot = store.ring.base; slot < store.ring.base + store.ring.bytes;
       slot += detail::kSlotBytes) {
    const uint64_t* const words = reinterpret_cast<const uint64_t*>(slot);
    uint64_t* const copy = buffer + filled;
    for (size_t i = 0; i < kWords; ++i) copy[i] = __atomic_load_n(words + i, __ATOMIC_ACQUIRE);
    // A record that was replaced meanwhile has another sequence number by now: leave an empty slot.
    const bool same = copy[0] == __atomic_load_n(words, __ATOMIC_RELAXED) &&
                      copy[1] == __atomic_load_n(words + 1, __ATOMIC_RELAXED);
    if (!same) std::memset(copy, 0, detail::kSlotBytes);
    filled += kWords;
    if (filled < sizeof(buffer) / sizeof(buffer[0])) continue;
    const int error = write_all(file, buffer, sizeof(buffer));
    if (error != 0) return error;
    filled = 0;
  }
  return 0;
}

}  // namespace telltale::st
