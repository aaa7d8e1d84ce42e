// The slow path of a checkpoint: gives the thread a place to write, posts the checkpoint's context,
// writes text, serves several sinks, callbacks and the classic layout. Async-signal-safe, without
// locks.

#include "emit.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "clock.h"
#include "configure.h"
#include "crash.h"
#include "fork.h"
#include "sinks.h"
#include "thread_names.h"
#include "threads.h"

namespace telltale::st {

namespace detail {
extern "C" {
Control telltale_st_control_v1;
__thread Thread* telltale_st_thread_v1 __attribute__((tls_model("initial-exec"))) = &Threads::none;
}
}  // namespace detail

namespace {

__thread uint32_t depth __attribute__((tls_model("initial-exec"))) = 0;
__thread bool looking_back __attribute__((tls_model("initial-exec"))) = false;

class Working {
 public:
  Working() : nested(depth++ != 0) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
  ~Working() {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    --depth;
  }
  Working(const Working&) = delete;
  Working& operator=(const Working&) = delete;

  const bool nested;

 private:
  const Inside inside_;
};

struct Event {
  Site* site;
  uint32_t flags;
  const char* text;
  size_t bytes;
  Moment moment;
  uint32_t tid;
  uint16_t stream;
};

void drop_chunk(Stream& stream) {
  if (stream.limit == 0) return;
  const uint64_t end = stream.next < stream.limit ? stream.next : stream.limit;
  stream.limit = 0;
  looking_back = true;
  finish_chunk(stream.ring, stream.layout, stream.chunk, reinterpret_cast<const uint8_t*>(end),
               static_cast<uint32_t>(stream.others), stream.known);
  looking_back = false;
  stream.finished = stream.ring != nullptr ? stream.chunk : Chunk{};
  stream.chunk = {};
}

// Slots that a signal handler's events made unusable for the event that it interrupted would stay
// empty, and keep their chunk from being unmapped or reused. They are in the chunk that the thread
// has, or in the one that the handler finished; `number` is that of the first.
void fill_unused_slots(Node& node, Stream& stream, uint64_t number, uint32_t count) {
  const uint64_t base = reinterpret_cast<uintptr_t>(stream.chunk.base);
  const uint64_t finished = reinterpret_cast<uintptr_t>(stream.finished.base);
  for (uint32_t i = 0; i < count; ++i, ++number) {
    // The last one with this number that was taken.
    const uint64_t ago = (stream.next / detail::kSlotBytes - number) % detail::kSlotNumbers;
    const uint64_t slot = stream.next - ago * detail::kSlotBytes;
    if (stream.layout == Layout::wide && ago != 0 && slot >= base && slot < stream.limit)
      fill_slot(reinterpret_cast<uint8_t*>(slot), settings.pid, tid_of(node), node.number);
    if (stream.ring != nullptr && finished != 0)
      fill_finished_slot(*stream.ring, stream.finished,
                         (number - finished / detail::kSlotBytes) % detail::kSlotNumbers,
                         tid_of(node), node.number);
  }
}

// Returns the slots that were taken last, some of which may be past the end, unless a signal
// handler ran in between and took others. An empty slot would keep its chunk from being unmapped.
void give_back_slots(Node& node, Stream& stream, uint32_t taken) {
  const uint32_t count = taken % 4;
  const uint32_t number = taken / 4;
  const uint64_t first = stream.next - uint64_t{count} * detail::kSlotBytes;
  looking_back = true;
  if (first / detail::kSlotBytes % detail::kSlotNumbers != number) {
    fill_unused_slots(node, stream, number, count);
  } else if (first >= reinterpret_cast<uintptr_t>(stream.chunk.base) && first < stream.limit) {
    stream.next = first;
  }
  looking_back = false;
}

// An address above those of all slots.
constexpr uint64_t kNoSlots = UINT64_MAX / 2;

// The inlined code must not touch the node while the library works on it: signal handlers then take
// the slow path, and are nested. `taken`: slots that the inlined code took and cannot use, for
// which it called the slow path.
void pull(Node& node, uint32_t generation, uint32_t taken) {
  // First of all the slots end: what a signal handler adds before the limit is 0 are not slots.
  const uint64_t next = detail::exchange_local(node.next, kNoSlots);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  __atomic_store_n(&node.limit, 0, __ATOMIC_RELAXED);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (node.fast != 0) {
    Stream& stream = node.streams[node.fast - 1];
    stream.next = next;
    node.sequence = node.base + next / detail::kSlotBytes - 1;
    stream.others += std::exchange(node.texts, 0);
    if (taken != 0) give_back_slots(node, stream, taken);
  }
  node.fast = 0;
  if (node.generation == generation) return;
  node.generation = generation;
  if (crash_is_watched()) give_signal_stack(node);
  node.every = __atomic_load_n(&settings.clock_every, __ATOMIC_RELAXED);
  node.countdown = 0;
  node.when = node.sequence + 2;  // the next event reads the clock
}

// Lets the inlined code write the thread's next events. Does nothing between the publication of a
// new store and the beginning of its cycle: the inlined code compares with the old cycle, in which
// checkpoints were posted to another store.
void push(Node& node, uint32_t generation, uint32_t cycle) {
  const uint32_t fast = __atomic_load_n(&settings.fast, __ATOMIC_RELAXED);
  if (fast == 0 ||
      __atomic_load_n(&detail::telltale_st_control_v1.cycle, __ATOMIC_SEQ_CST) != cycle)
    return;
  const Stream& stream = node.streams[fast - 1];
  if (stream.limit == 0) return;
  // Within a chunk it never decreases: an interrupted event may use it for a slot that it has
  // already taken.
  const uint64_t base = node.sequence + 1 - stream.next / detail::kSlotBytes;
  if (node.pushed != stream.limit || static_cast<int64_t>(base - node.base) > 0) node.base = base;
  node.pushed = stream.limit;
  node.fast = fast;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  __atomic_store_n(&node.limit, stream.limit, __ATOMIC_SEQ_CST);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  // Last: until now signal handlers find no slots.
  __atomic_store_n(&node.next, stream.next, __ATOMIC_RELAXED);
  if (__atomic_load_n(&settings.generation, __ATOMIC_SEQ_CST) != generation) {
    __atomic_store_n(&node.limit, 0, __ATOMIC_RELAXED);
  }
}

Node* attach() {
  bool inherited = false;
  const uint32_t tid = thread_id();
  Node* const node = Threads::attach(settings.pid, tid, &inherited);
  if (node == nullptr) return nullptr;
  if (inherited) pull(*node, 0, 0);
  for (Stream& stream : node->streams) {
    if (!inherited || stream.limit == 0 || stream.layout != Layout::wide) continue;
    uint8_t* const slot = take_slots(stream, 1);
    if (slot == nullptr) {
      drop_chunk(stream);
      continue;
    }
    store_stream(slot, settings.pid, tid, node->number, 0);
    ++stream.others;
  }
  node->generation = 0;
  detail::telltale_st_thread_v1 = node;
  return node;
}

Node* this_node(bool nested) {
  detail::Thread* const thread = detail::telltale_st_thread_v1;
  if (thread != &Threads::none) return static_cast<Node*>(thread);
  return nested ? nullptr : attach();
}

// A nested event always reads the clock: numbers just above the last one may already be in use.
Moment take_moment(Node* node, bool nested) {
  Moment moment{0, 0, false};
  const bool counted = __atomic_load_n(&settings.counted, __ATOMIC_RELAXED) != 0;
  if (counted) moment.sequence = __atomic_add_fetch(&settings.sequence, 1, __ATOMIC_RELAXED);
  if (node == nullptr) {
    moment.when = Clock::ticks();
    if (!counted) moment.sequence = moment.when;
    return moment;
  }
  moment.held =
      !nested && (counted ? node->countdown > 1 : node->sequence + 1 - node->when < node->every);
  if (moment.held) {
    if (counted) --node->countdown;
    moment.when = node->when;
  } else {
    moment.when = Clock::ticks();
    node->when = moment.when;
    node->countdown = static_cast<uint32_t>(node->every);
  }
  if (counted) return moment;
  if (moment.held || moment.when <= node->sequence) {
    moment.sequence = detail::fetch_add_local(node->sequence, 1) + 1;
  } else {
    moment.sequence = moment.when;
    node->sequence = moment.when;
  }
  return moment;
}

uint64_t next_size(const Store& store, uint64_t wanted, size_t count) {
  const uint64_t least = (count + 1) * slot_bytes(store.layout);
  if (wanted < kSmallestChunk) wanted = kSmallestChunk;
  // A file that is rotated is shared by several chunks.
  if (store.most_bytes != 0 && wanted > store.most_bytes / 16) wanted = store.most_bytes / 16;
  return wanted < least ? least : wanted;
}

// Continues in the next file, which another thread may be making. False: there is none.
bool move_on(Sink& sink, Store& full) {
  constexpr int kYields = 100;
  constexpr int kSleeps = 10'000;
  constexpr long kSleepNs = 100'000;
  Rotation rotation = rotate(sink, full);
  for (int i = 0; rotation == Rotation::busy && i < kYields + kSleeps; ++i) {
    if (__atomic_load_n(&full.stuck, __ATOMIC_RELAXED) != 0) return false;
    i < kYields ? yield_processor() : sleep_ns(kSleepNs);
    rotation = rotate(sink, full);
  }
  if (rotation == Rotation::busy) __atomic_store_n(&full.stuck, 1, __ATOMIC_RELAXED);
  return rotation == Rotation::done;
}

uint64_t wiped_store = 0;  // the last store found truncated

// The data that the thread had stored is gone: the store is truncated, and its events are to be
// counted.
void count_wiped(Store& store, Stream& stream) {
  if (stream.limit == 0) return;
  looking_back = true;
  const bool wiped = is_wiped(stream.chunk);
  looking_back = false;
  if (!wiped) return;
  if (stream.store == store.id && __atomic_load_n(&store.cut, __ATOMIC_RELAXED) == 0) {
    __atomic_store_n(&wiped_store, store.id, __ATOMIC_RELAXED);
    __atomic_store_n(&store.cut, 1, __ATOMIC_SEQ_CST);
  }
  if (stream.store != __atomic_load_n(&wiped_store, __ATOMIC_RELAXED)) return;
  const uint64_t end = stream.next < stream.limit ? stream.next : stream.limit;
  const uint64_t bytes = end - reinterpret_cast<uintptr_t>(stream.chunk.base);
  stream.wiped += bytes / slot_bytes(stream.layout) - stream.others;
}

// Ends chunks of a ring that ended threads have left, so that they are overwritten: without that,
// the living would overwrite their own, newer events. `urgent`: there is no other chunk. The search
// takes a hundredth of the time, or a tenth.
void reclaim_chunks(Store& ring, const Node& own, bool urgent) {
  const uint64_t begin = Clock::ticks();
  const uint64_t pause =
      __atomic_load_n(&ring.reclaim_ticks, __ATOMIC_RELAXED) * (urgent ? 10 : 100);
  if (begin < __atomic_load_n(&ring.reclaimed, __ATOMIC_RELAXED) + pause) return;
  Threads::for_each_ended(settings.pid, own, [&](Node& node) {
    pull(node, node.generation, 0);
    for (Stream& stream : node.streams)
      if (stream.limit != 0 && stream.ring == &ring) drop_chunk(stream);
  });
  const uint64_t end = Clock::ticks();
  __atomic_store_n(&ring.reclaimed, end, __ATOMIC_RELAXED);
  __atomic_store_n(&ring.reclaim_ticks, end - begin, __ATOMIC_RELAXED);
}

// Makes sure that the thread has `count` slots in this sink. False: there is no space, and the file
// cannot be rotated; `again`: the set of open sinks has changed.
bool make_room(Sink& sink, Store& store, Node& node, Stream& stream, size_t count, bool* again) {
  count_wiped(store, stream);
  const bool cut = __atomic_load_n(&store.cut, __ATOMIC_RELAXED) != 0;
  if (stream.limit != 0 && (stream.store != store.id || cut)) drop_chunk(stream);
  if (!cut) tell_cut_events(store, store);
  const uint64_t needed = count * slot_bytes(store.layout);
  if (stream.limit != 0 && stream.next + needed <= stream.limit) return true;
  drop_chunk(stream);
  Chunk chunk;
  uint64_t overwritten = 0;
  const uint64_t size = next_size(store, stream.wanted, count);
  if (store.chunk_bytes != 0) reclaim_chunks(store, node, false);
  int error = take_chunk(store, size, &chunk, &overwritten);
  if (error == -ENOSPC && store.chunk_bytes != 0) {
    reclaim_chunks(store, node, true);
    error = take_chunk(store, size, &chunk, &overwritten);
  }
  lose(sink, &store, LostReason::overwritten, overwritten);
  if (error == -EFBIG) {
    *again = move_on(sink, store);
    if (!*again && cut) give_up_for_now(store);
  }
  // Another thread has replaced the store since this one looked, and perhaps removed its file.
  if (error != 0 && __atomic_load_n(&sink.store, __ATOMIC_ACQUIRE) != &store) *again = true;
  if (!*again) lose(sink, &store, LostReason::no_space, std::exchange(stream.wiped, 0));
  if (error != 0 || chunk.bytes < needed + detail::kSlotBytes) return false;
  stream = {chunk,
            store.chunk_bytes != 0 ? &store : nullptr,
            reinterpret_cast<uintptr_t>(chunk.base),
            0,
            0,
            0,
            0,
            store.id,
            store.layout,
            stream.wiped,
            false,
            stream.finished};
  stream.wanted = size >= kLargestChunk / 4 ? kLargestChunk : size * 4;
  stream.limit = stream.next + chunk.bytes;
  if (store.layout == Layout::wide) {
    store_stream(take_slots(stream, 1), store.pid, tid_of(node), node.number, chunk.bytes);
    stream.others = stream.known = 1;
  }
  refine_frequency_now_and_then(&store);
  return true;
}

// A view in which the thread has room in every sink that is able to provide it.
View make_room_everywhere(Node& node, uint32_t cycle, size_t count) {
  // Other threads may fill each new file before this one gets a chunk.
  constexpr int kPatience = 1000;
  for (int attempt = 0;; ++attempt) {
    View view = look(cycle, false);
    bool again = false;
    for (int i = 0; i < kMaxSinks; ++i) {
      if (view.stores[i] != nullptr)
        make_room(settings.sinks[i], *view.stores[i], node, node.streams[i], count, &again);
    }
    if (!again || attempt == kPatience) return view;
  }
}

Payload hit_payload(Layout layout, const Event& event, uint32_t index) {
  if (layout == Layout::wide)
    return to_payload(stacktrack::wide::Hit{event.moment.when, index, event.tid});
  return to_payload(stacktrack::classic::Hit{event.moment.when, static_cast<uint16_t>(index),
                                             static_cast<uint16_t>(event.tid), 0});
}

void record(Sink& sink, Store* store, Node* node, Stream* stream, const Event& event) {
  const Layout layout = store != nullptr ? store->layout : layout_of(sink);
  const uint32_t index = __atomic_load_n(&event.site->index, __ATOMIC_RELAXED);
  if (layout == Layout::classic && (index > kLastClassicScope || event.tid > 0xffff ||
                                    event.moment.sequence > kLastClassicSequence)) {
    return lose(sink, store, LostReason::unfit, 1);
  }
  const uint32_t bits = event.flags | (event.moment.held ? stacktrack::kHeldTime : 0);
  const RecordHead head{type_flags(RecordType::hit, bits), event.stream, settings.pid,
                        event.moment.sequence};
  const Payload payload = hit_payload(layout, event, index);
  if (store == nullptr) {
    const bool done = post(sink, store, head, payload, event.text, event.bytes, node == nullptr);
    return lose(sink, store, LostReason::reentered, done ? 0 : 1);
  }
  const size_t count = 1 + info_records(event.bytes);
  const bool own = stream != nullptr && stream->store == store->id;
  uint8_t* slots = own ? take_slots(*stream, count) : nullptr;
  if (slots == nullptr && stream == nullptr) slots = take_event_slots(*store, count);
  if (slots == nullptr) return lose(sink, store, LostReason::no_space, 1);
  if (own) stream->others += count - 1;
  store_group(store->layout, slots, head, payload, event.text, event.bytes);
}

void emit(Site* site, uint32_t flags, const char* text, size_t bytes) {
  uint32_t cycle = __atomic_load_n(&detail::telltale_st_control_v1.cycle, __ATOMIC_SEQ_CST);
  if (cycle == 0) return;
  const KeepErrno keep;
  take_memory();
  const Working working;
  if (!working.nested && child_is_waiting()) {
    if (!open_in_child()) return;
    cycle = __atomic_load_n(&detail::telltale_st_control_v1.cycle, __ATOMIC_SEQ_CST);
  }
  const uint32_t generation = __atomic_load_n(&settings.generation, __ATOMIC_SEQ_CST);
  Node* const node = this_node(working.nested);
  Node* const own = working.nested ? nullptr : node;
  const bool cut = bytes > kMaxTextBytes;
  bytes = truncated(text, bytes);
  if (own != nullptr) pull(*own, generation, flags / detail::kTookSlot);
  const size_t count = 1 + info_records(bytes);
  const View view = own != nullptr ? make_room_everywhere(*own, cycle, count) : look(cycle, true);
  const Event event{site,
                    flags % detail::kTookSlot,
                    text,
                    bytes,
                    take_moment(node, working.nested),
                    node != nullptr ? tid_of(*node) : thread_id(),
                    static_cast<uint16_t>(node != nullptr ? node->number : 0)};
  if (__atomic_load_n(&site->cycle, __ATOMIC_ACQUIRE) != view.cycle)
    post_context(*site, view, event.moment.sequence);
  if (own != nullptr) post_thread_name(*own, view, event.moment.sequence, count);
  for (int i = 0; i < kMaxSinks; ++i) {
    if (!view.open[i]) continue;
    Sink& sink = settings.sinks[i];
    if (cut) lose(sink, view.stores[i], LostReason::cut_text, 1);
    record(sink, view.stores[i], own, own != nullptr ? &own->streams[i] : nullptr, event);
  }
  if (own != nullptr) push(*own, generation, view.cycle);
  if (own != nullptr && __tsan_release != nullptr)
    __tsan_release(static_cast<detail::Thread*>(own));
  hand_memory_on();
}

}  // namespace

uint32_t depth_in_library() { return depth; }
bool is_looking_back() { return looking_back; }
InLibrary::InLibrary() { ++depth; }
InLibrary::~InLibrary() { --depth; }
void forget_this_thread() { detail::telltale_st_thread_v1 = &Threads::none; }

// Runs before the program's own constructors, whose checkpoints are recorded from the first on.
__attribute__((constructor(101))) void begin() { open_from_environment(); }

namespace detail {
extern "C" {
void telltale_st_hit_v1(Site* site, uint32_t flags) { hit(*site, flags); }
void telltale_st_hit_slow_v1(Site* site, uint32_t flags) { emit(site, flags, nullptr, 0); }
void telltale_st_value_v1(Site* site, const char* text, size_t bytes) {
#ifdef TELLTALE_ST_INLINE
  if (bytes != 0 && bytes <= kInfoBytes) return hit_short_text(*site, short_text(text, bytes));
#endif
  emit(site, 0, text, bytes);
}
void telltale_st_value_slow_v1(Site* site, const char* text, size_t bytes, uint32_t slots) {
  emit(site, slots * kTookSlot, text, bytes);
}
}
}  // namespace detail

}  // namespace telltale::st
