#pragma once

// Shared by <telltale/stacktrack.hpp> and the library: sinks, and the recording of one checkpoint.

#include <cstddef>
#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#define TELLTALE_ST_API extern "C" __attribute__((visibility("default")))

// ThreadSanitizer does not see that the library asks the kernel whether a thread is gone before
// another thread gets its place.
#if defined(__SANITIZE_THREAD__)
#define TELLTALE_ST_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TELLTALE_ST_TSAN 1
#endif
#endif
#ifdef TELLTALE_ST_TSAN
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace telltale::st {

enum class Layout : uint32_t {
  wide = 0,     // 32 bytes a record, 32-bit ids
  classic = 1,  // the 24 bytes of the specification: 16-bit ids; larger values are counted as lost
};
enum class Sequence : uint32_t {
  clock = 0,  // from the processor's counter: threads do not synchronise
  count = 1,  // 1, 2, 3 ... from one counter of the process; always with Layout::classic
};

// A file, or a ring of `ring_bytes` (the newest records are kept).
struct FileOptions {
  const char* directory =
      nullptr;  // for <program>_<date>_<time>_<pid>_<n>.tlg (UTC, hexadecimal pid); nullptr: "."
  const char* path = nullptr;  // use this file instead; it must not exist; no rotation
  uint64_t rotate_bytes =
      0;  // continue in file n + 1 before one exceeds this (64 KiB at least); 0: never
  uint32_t keep_files =
      0;  // with rotation: remove the oldest files so that this many remain; 0: keep all
  uint64_t ring_bytes = 0;       // > 0: a ring in a mapped file of this size (64 KiB at least)
  Layout layout = Layout::wide;  // a ring is always wide
  Sequence sequence = Sequence::clock;
  uint32_t clock_every = 1;  // read the clock on every Nth event of a thread, 1 to 65536; for all
                             // sinks the last open() decides
  bool follow_fork = true;   // a forked child that executes a checkpoint gets its own file;
                             // false: records nothing
};

struct RingOptions {
  uint64_t bytes = 16U << 20;           // size in memory; 64 KiB at least
  const char* dump_on_crash = nullptr;  // written, and replaced, when a fatal signal arrives
  uint32_t clock_every = 1;
};

// Called in the thread that executes a checkpoint, with `count` records of the layout; the records
// of one checkpoint may come in several calls. Checkpoints inside the callback are not recorded
// (counted as reentered).
using Callback = void (*)(const void* records, size_t count, void* user);
struct CallbackOptions {
  Callback callback = nullptr;
  void* user = nullptr;
  Layout layout = Layout::wide;
  uint32_t clock_every = 1;
};

// Events while a sink was open that are not in it; summed over sinks since the program began.
struct Statistics {
  uint64_t no_space = 0;     // disk, limit or memory full
  uint64_t overwritten = 0;  // replaced by later ones, in a ring
  uint64_t reentered = 0;    // made inside the recorder's own callback
  uint64_t unfit = 0;        // an id does not fit the classic layout
  uint64_t cut_text = 0;     // truncated texts; their events are recorded
  uint64_t names = 0;        // context for which there was no space, or that does not fit
};

namespace detail {
struct OpenRequest {
  uint32_t size;  // of this struct: later versions append
  uint32_t kind;  // 0 file, 1 ring in memory, 2 callback
  FileOptions file;
  RingOptions ring;
  CallbackOptions callback;
};
}  // namespace detail

TELLTALE_ST_API int telltale_st_open_v1(const detail::OpenRequest* request);
TELLTALE_ST_API int telltale_st_close_v1(int sink);
TELLTALE_ST_API int telltale_st_flush_v1(void);
TELLTALE_ST_API void telltale_st_next_cycle_v1(void);
TELLTALE_ST_API int telltale_st_dump_v1(int sink, const char* path);
TELLTALE_ST_API const char* telltale_st_path_v1(int sink);
TELLTALE_ST_API void telltale_st_statistics_v1(Statistics* result, size_t size);
TELLTALE_ST_API void telltale_st_property_v1(const char* file, const char* text);

// Opens and closes the sinks of checkpoints; up to four sinks at once. A failure returns a negative
// errno value and changes nothing. These functions run one thread at a time; checkpoints of other
// threads continue meanwhile. Not for signal handlers, except dump().
class sink_control {  // NOLINT(readability-identifier-naming): the specification calls it so
 public:
  // Returns the sink's number, 0 to 3.
  static int open(const FileOptions& options) {
    return open(detail::OpenRequest{sizeof(detail::OpenRequest), 0, options, {}, {}});
  }
  static int open(const RingOptions& options) {
    return open(detail::OpenRequest{sizeof(detail::OpenRequest), 1, {}, options, {}});
  }
  static int open(const CallbackOptions& options) {
    return open(detail::OpenRequest{sizeof(detail::OpenRequest), 2, {}, {}, options});
  }
  // Events that begin later are not recorded in this sink (-1: in any). Sorts a classic file.
  static int close(int sink = -1) { return telltale_st_close_v1(sink); }
  // Makes everything recorded so far survive a loss of power: waits for the disk.
  static int flush() { return telltale_st_flush_v1(); }
  // Begins a new write cycle: every checkpoint posts its context again at its next execution, so
  // that a reader that has only the records from here on understands all of them.
  static void next_cycle() { telltale_st_next_cycle_v1(); }
  // Writes the current contents of a ring to a new file. Async-signal-safe.
  static int dump(int sink, const char* path) { return telltale_st_dump_v1(sink, path); }
  // The file that a sink writes now; valid until the next call. nullptr: none.
  static const char* path(int sink) { return telltale_st_path_v1(sink); }
  static Statistics statistics() {
    Statistics result;
    telltale_st_statistics_v1(&result, sizeof(result));
    return result;
  }

 private:
  static int open(const detail::OpenRequest& request) { return telltale_st_open_v1(&request); }
};

// Kinds of checkpoints, numbered as in the specification's example.
enum Style : uint32_t { kFunctionStyle = 3, kBlockStyle = 4, kStepStyle = 5, kValueStyle = 6 };

// One checkpoint in the source. Constant-initialised, so it costs nothing until it is executed.
struct Site {
  const char* file;
  const char* name;
  uint32_t line;
  uint32_t style;
  uint32_t index;  // scope index; 0 until the first execution
  uint32_t cycle;  // the write cycle in which its context was last posted; 0: never
};

namespace detail {

inline constexpr uint32_t kExit =
    0x0400;  // as in src/formats/stacktrack/wire.h; the library asserts that
inline constexpr uint32_t kHeldTime = 0x0800;
inline constexpr uint32_t kInfo = 0x00ff;
inline constexpr uint32_t kHasInfo = 0x0100;
inline constexpr uint32_t kInfoEnd = 0x0200;
inline constexpr size_t kInfoBytes = 16;
// Only for telltale_st_hit_slow_v1, times `unused_slots`.
inline constexpr uint32_t kTookSlot = 0x1'0000;
inline constexpr size_t kSlotBytes = 32;
// As many as the largest chunk of a ring has.
inline constexpr uint32_t kSlotNumbers = 2048;

// Where a thread writes. Only that thread changes it, except `limit`.
struct alignas(64) Thread {
  uint64_t next;   // address of the slot to take
  uint64_t limit;  // end of the slots that it may take; 0: take the slow path
  uint64_t head;   // the first 8 bytes of its records, without flags
  uint64_t tid;    // in the upper 32 bits
  uint64_t base;   // sequence number = slot number (address / kSlotBytes) + this
  uint64_t when;   // its last reading of the clock; read again `every` numbers later
  uint64_t every;
  uint64_t texts;  // slots that it took for text since the library last looked
};

// On a page by itself.
struct alignas(4096) Control {
  uint32_t cycle;  // write cycle; 0: not recording
};

TELLTALE_ST_API void telltale_st_hit_v1(Site* site, uint32_t flags);  // does all of it
TELLTALE_ST_API void telltale_st_hit_slow_v1(Site* site,
                                             uint32_t flags);  // the slow path
TELLTALE_ST_API void telltale_st_value_v1(Site* site, const char* text, size_t bytes);
// The slow path of the inlined code; `slots`: `unused_slots`, or 0.
TELLTALE_ST_API void telltale_st_value_slow_v1(Site* site, const char* text, size_t bytes,
                                               uint32_t slots);
extern "C" {
// A page that the kernel zeroes in a forked child, however it is created, so that the child does
// not write to its parent's file.
// NOLINTBEGIN(bugprone-dynamic-static-initializers): declarations
extern Control telltale_st_control_v1 __attribute__((visibility("default")));
extern __thread Thread* telltale_st_thread_v1
    __attribute__((visibility("default"), tls_model("initial-exec")));
// NOLINTEND(bugprone-dynamic-static-initializers)
}

// Adds to a number of this thread in one instruction, which a signal handler cannot interrupt; not
// atomic for other threads, and without the cost of that. Returns the previous value.
inline uint64_t fetch_add_local(uint64_t& number, uint64_t add) noexcept {
#if defined(__x86_64__) && !defined(TELLTALE_ST_TSAN)
  __asm__ volatile("xaddq %0, %1" : "+r"(add), "+m"(number) : : "cc", "memory");
  return add;
#else
  return __atomic_fetch_add(&number, add, __ATOMIC_RELAXED);
#endif
}

// Replaces a number of this thread in the same way. Returns the previous value.
inline uint64_t exchange_local(uint64_t& number, uint64_t value) noexcept {
  // The processor makes this one atomic for other threads, too.
  return __atomic_exchange_n(&number, value, __ATOMIC_RELAXED);
}

// The same, without the value before.
inline void add_local(uint64_t& number, uint64_t add) noexcept {
#if defined(__x86_64__) && !defined(TELLTALE_ST_TSAN)
  __asm__ volatile("addq %1, %0" : "+m"(number) : "er"(add) : "cc", "memory");
#else
  __atomic_fetch_add(&number, add, __ATOMIC_RELAXED);
#endif
}

// Fills in a slot; storing its first 8 bytes commits it.
inline void store_slot(uint64_t slot, uint64_t head, uint64_t sequence, uint64_t when,
                       uint64_t where) noexcept {
  uint64_t* const words = reinterpret_cast<uint64_t*>(slot);
  __atomic_store_n(words + 1, sequence, __ATOMIC_RELAXED);
  __atomic_store_n(words + 2, when, __ATOMIC_RELAXED);
  __atomic_store_n(words + 3, where, __ATOMIC_RELAXED);
  __atomic_store_n(words, head, __ATOMIC_RELEASE);
}

#if (defined(__x86_64__) || defined(__aarch64__)) && !defined(TELLTALE_STACKTRACK_OUT_OF_LINE)
#define TELLTALE_ST_INLINE 1

inline uint64_t read_counter() noexcept {
#if defined(__x86_64__)
  return __rdtsc();
#else
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#endif
}

// Slots that were taken, and the common fields of their records. `slot` 0: they cannot be used, and
// `sequence` is their address.
struct Taken {
  uint64_t slot;
  uint64_t sequence;
  uint64_t when;
  uint32_t flags;
};

inline Taken take_slots(Thread& thread, uint64_t bytes, uint32_t flags) noexcept {
  // Reads the limit before and after, because a signal handler may come between and get another
  // chunk; the values read between belong to the slots.
  const uint64_t limit = __atomic_load_n(&thread.limit, __ATOMIC_RELAXED);
  const uint64_t slot = fetch_add_local(thread.next, bytes);
  uint64_t sequence = thread.base + slot / kSlotBytes;
  uint64_t when = thread.when;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (__builtin_expect(slot + (bytes - kSlotBytes) >= limit ||
                           limit != __atomic_load_n(&thread.limit, __ATOMIC_RELAXED),
                       0)) {
    return {0, slot, 0, 0};
  }
  if (slot == 0) __builtin_unreachable();
  const uint64_t since = sequence - when;
  if (since >= thread.every) {
    // Earlier than the last reading: `base` belongs to another chunk, which a signal handler has
    // got meanwhile. Far ahead may be right: the counter went back, but sequence numbers never do.
    if (static_cast<int64_t>(since) < 0) sequence = 0;
    when = read_counter();
    sequence = when > sequence ? when : sequence;
    thread.base = sequence - slot / kSlotBytes;
    thread.when = when;
  } else {
    flags |= kHeldTime;
  }
  return {slot, sequence, when, flags};
}

// Tells the slow path which 1 or 2 slots a checkpoint took and cannot use.
inline uint32_t unused_slots(uint64_t address, uint32_t count) noexcept {
  return count | static_cast<uint32_t>(address / kSlotBytes % kSlotNumbers) << 2;
}

inline void hit(Site& site, uint32_t flags) noexcept {
  const uint32_t cycle = __atomic_load_n(&telltale_st_control_v1.cycle, __ATOMIC_RELAXED);
  if (__builtin_expect(__atomic_load_n(&site.cycle, __ATOMIC_ACQUIRE) != cycle, 0)) {
    return telltale_st_hit_slow_v1(&site, flags);
  }
  Thread& thread = *telltale_st_thread_v1;
  const Taken taken = take_slots(thread, kSlotBytes, flags);
  if (__builtin_expect(taken.slot == 0, 0))
    return telltale_st_hit_slow_v1(&site, flags | kTookSlot * unused_slots(taken.sequence, 1));
  store_slot(taken.slot, thread.head | taken.flags, taken.sequence, taken.when,
             thread.tid | __atomic_load_n(&site.index, __ATOMIC_RELAXED));
#ifdef TELLTALE_ST_TSAN
  __tsan_release(&thread);
#endif
}

// A text of 1 to kInfoBytes bytes, padded with zeros. Passed by value, so that it stays in
// registers.
struct ShortText {
  uint64_t words[2];
  size_t bytes;
};
inline ShortText short_text(const char* text, size_t bytes) noexcept {
  ShortText copy{{}, bytes};
  __builtin_memcpy(copy.words, text, bytes);
  return copy;
}
__attribute__((noinline, cold)) inline void hit_short_text_slowly(Site& site, ShortText text,
                                                                  uint32_t slots) noexcept {
  telltale_st_value_slow_v1(&site, reinterpret_cast<const char*>(text.words), text.bytes, slots);
}

// Records a value whose text is short.
inline void hit_short_text(Site& site, ShortText text) noexcept {
  const uint32_t cycle = __atomic_load_n(&telltale_st_control_v1.cycle, __ATOMIC_RELAXED);
  if (__builtin_expect(__atomic_load_n(&site.cycle, __ATOMIC_ACQUIRE) != cycle, 0))
    return hit_short_text_slowly(site, text, 0);
  Thread& thread = *telltale_st_thread_v1;
  // g++ would keep a Taken in memory across the addition below.
  const auto [slot, sequence, when, flags] = take_slots(thread, 2 * kSlotBytes, kHasInfo);
  if (__builtin_expect(slot == 0, 0))
    return hit_short_text_slowly(site, text, unused_slots(sequence, 2));
  // Before the slots are committed: a chunk whose slots are all committed has counted them.
  add_local(thread.texts, 1);
  // The text first, so that no record is visible without it.
  store_slot(slot + kSlotBytes, thread.head | kInfo | kInfoEnd, sequence, text.words[0],
             text.words[1]);
  store_slot(slot, thread.head | flags, sequence, when,
             thread.tid | __atomic_load_n(&site.index, __ATOMIC_RELAXED));
#ifdef TELLTALE_ST_TSAN
  __tsan_release(&thread);
#endif
}
#else
inline void hit(Site& site, uint32_t flags) noexcept { telltale_st_hit_v1(&site, flags); }
#endif

}  // namespace detail

// Whether a checkpoint would be recorded now.
inline bool recording() noexcept {
  return __atomic_load_n(&detail::telltale_st_control_v1.cycle, __ATOMIC_RELAXED) != 0;
}

}  // namespace telltale::st
