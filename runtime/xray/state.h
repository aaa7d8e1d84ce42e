#pragma once

// The recorder's data: one Control for each recording thread, one State for the process.
//
// How an event is recorded (record.h, slow_path.cc): a thread owns a buffer in the mapped trace.
// Its words are free_word until an event claims the first free one with a compare-and-exchange in
// one instruction, which makes it atomic towards signal handlers of the same thread, which may
// record, too. Claimed bytes are then added to next, extents and last, each with one instruction:
// in whatever order interrupted and interrupting events finish, the sums are right. No atomic
// (locked) operation is needed, because no other thread writes there.

#include <stdint.h>

#include <cstddef>

#include "formats/xray/recorder_limits.h"
#include "formats/xray/wire.h"
#include "plain.h"

namespace telltale::recorder {

constexpr size_t kControlBytes = 128;
constexpr uint32_t kMostControls = 1U << 20;
constexpr uint32_t kMostObjects = 4096;
// The largest limit of depth.
constexpr uint32_t kMostDepthLimit = xray::kMostDepth;
// Positive as a signed number: the range that every reader accepts for a delta.
constexpr uint64_t kMostDelta = 0x7FFF'FFFF;
// After this many ticks without an event, the thread's processor clock tells whether it waited:
// about 0.1 ms, so that asking costs less than a hundredth of the time.
constexpr uint64_t kGapTicks = uint64_t{1} << 18;
// The size limit of event markers in the word that claims them.
constexpr uint64_t kMostMarkerDelta = 0xFF'FFFF;

enum class ControlKind : uint8_t {
  unregistered,  // the thread has no buffer yet
  recording,
  starved,   // there is no buffer for it; its events are counted
  ignored,   // not sampled
  retired,   // closed; interrupted code has yet to count what it claimed there
  spare,     // was retired; the thread keeps it for its next buffer
  measured,  // of measure_call_cost: events that are not recorded quickly are only counted
};

// A thread's buffer. In a forked child all of them are zero (MADV_WIPEONFORK), which means "no
// room", so that no child writes to its parent's file.
struct alignas(kControlBytes) Control {
  std::byte* next;     // the first free word, or before it while an event is added
  std::byte* limit;    // a word fits if it begins below
  uint64_t last;       // time of the last timed event
  std::byte* extents;  // where the bytes of the buffer are counted: in the trace, or extents_here
  uint64_t free_word;
  uint32_t cpu;          // from rseq
  uint32_t sparse_tick;  // tick at which the clock was read
  std::byte* clock_at;   // the clock is read for a word that begins here or later; <= limit
  ControlKind kind;
  uint8_t pad[3];
  uint64_t other_bytes;   // of the buffer's bytes, those that are not 8 an event
  std::byte* begin;       // of the buffer, after BufferExtents; retired: final value of `next`
  std::byte* end;         // of the cell, less the bytes that must follow the last event
  uint64_t extents_here;  // version 1
  uint32_t cell;
  int32_t tid;
  uint64_t count;  // starved: events lost. Otherwise: filtered events not yet reported
  uint32_t next_unused;
  uint32_t index;

  // This many words from `from` on need no time of their own.
  void read_clock_after(std::byte* from, uint32_t words) {
    std::byte* const next_read = from + uint64_t{words} * xray::kFunctionRecordBytes;
    clock_at = next_read < limit ? next_read : limit;
  }
};
static_assert(sizeof(Control) == kControlBytes);

enum class Mode : uint8_t { continuous, ring, snapshot };
enum class ClockKind : uint8_t { automatic, tsc, monotonic, sparse };

// TELLTALE_XRAY, parsed.
struct Options {
  char file[xray::kMostPathBytes + 1] = "%p.%i.%n.xray";
  char functions[xray::kMostListBytes + 1] = "";
  Mode mode = Mode::continuous;
  ClockKind clock = ClockKind::automatic;
  uint8_t sparse_interval = 16;
  uint16_t version = 5;
  uint64_t size = 0;
  uint64_t cell_bytes = 0;  // 0, before options are complete: by mode and size
  uint32_t depth = 0;       // 0: no limit
  uint64_t min_ns = 0;
  uint64_t auto_calls =
      0;                 // a second; functions that are called more often may be dropped; 0: none
  uint64_t auto_ns = 0;  // if their calls take less than this on average
  uint32_t thread_every = 1;
  int signal = 0;  // 0: none
  bool follow_forks = true;
  bool waits = true;
  bool crash = false;  // notes the faulting thread in the other modes, too
  bool control = false;

  // Whether each event has to be checked against the thread's open calls.
  [[nodiscard]] bool has_filters() const { return depth != 0 || min_ns != 0; }
  [[nodiscard]] bool notes_crashes() const { return crash || mode == Mode::snapshot; }
};

// The side record's header (docs/formats/xray-recorder.md).
struct SideHeader {
  char mark[8];
  uint16_t version;
  uint16_t header_bytes;
  uint32_t flags;
  uint64_t committed;
  uint32_t pid;
  uint32_t parent_pid;
  uint64_t start_ticks;
  uint64_t start_realtime_ns;
  uint64_t start_monotonic_ns;
  uint64_t frequency;
  uint32_t frequency_source;
  uint32_t frequency_uncertainty;  // parts in 10^9
  uint32_t sparse_interval;
  uint32_t cell_bytes;
  uint64_t lost_overwritten;
  uint64_t lost_no_space;
  uint64_t lost_reentrant;
  uint64_t lost_too_large;
  uint64_t lost_in_snapshot;
  uint64_t left_out;
  uint64_t clock_anomalies;
  uint64_t unnamed;
  // The fatal signal that ended the process, unless the program handled it before us.
  uint32_t end_signal;
  uint32_t end_tid;
  uint64_t end_ticks;
  uint64_t end_address;
  // Written by `telltale run` when the process has ended.
  uint32_t end_kind;
  uint32_t end_status;
  uint64_t end_monotonic_ns;
  uint64_t user_ns;
  uint64_t system_ns;
  // What recording a call costs, in thousandths of a tick: between the times of its two events, and
  // before and after them. Both 0: not measured.
  uint32_t cost_inside;
  uint32_t cost_outside;
  uint64_t stop_ticks;  // when recording was stopped; 0: never
  uint32_t part;        // 1 for the process's first recording, 2 after it was stopped and started
  // Written by forked children.
  uint32_t unrecorded_children;  // that could not create files of their own
  uint32_t unrecorded_error;     // errno of the last one
  uint8_t zero[28];
};
static_assert(sizeof(SideHeader) == 256);
enum SideFlags : uint32_t {
  kSideExited = 1,
  kSideRing = 2,
  kSideSnapshot = 4,
  kSideLoaderNotWatched = 8,
  kSideNotAllPatched = 16,
  kSideStopped = 32,
  kSideLinkageNames = 64,
};

// The trace's header.
struct TraceHeader {
  uint16_t version;
  uint16_t type;
  uint32_t bits;
  uint64_t frequency;
  uint64_t buffer_bytes;
  uint16_t mark;
  uint8_t flags;
  uint8_t sparse_interval;
  uint32_t lost;
};
static_assert(sizeof(TraceHeader) == xray::kFileHeaderBytes);

// TraceHeader::bits: the counter is constant and nonstop, and the file has this many parts (cells,
// or buffers in a file without cells).
constexpr uint32_t header_bits(uint64_t parts) {
  return 3 | static_cast<uint32_t>(parts < xray::kMostParts ? parts : xray::kMostParts)
                 << xray::kPartsShift;
}

// State of one process, not of its forked children: the kernel zeroes this memory in a child.
struct ForkMark {
  uint64_t alive;      // the process's own files are open, or cannot be
  uint64_t beginning;  // a thread is about to open them
  uint64_t control;    // the control thread runs
  uint64_t timers;     // threads of sparse clocks, also those of recordings that have just ended
  SpinLock lifecycle;  // recording is being started or stopped
};

struct State {
  // Read by hot paths.
  int64_t rseq_cpu;  // offset from the thread pointer to a word that changes with the CPU
  uint32_t sparse_interval;
  uint32_t untimed_words;  // between two readings of a sparse clock; 0: hooks always read it
  bool recording;
  bool has_extents;     // version 5
  uint64_t most_delta;  // larger ones are for the slow path: kGapTicks or kMostDelta

  // Set at start.
  Options options;
  bool waits;  // waits between events are recorded
  ClockKind clock;
  uint64_t free_word;
  ForkMark* fork_mark;
  Control* controls;            // kMostControls of them
  int thread_key;               // -1: none
  bool compares_linkage_names;  // the patterns of options.functions, for want of a demangler
  uint64_t min_ticks;
  int pid;
  int parent_pid;
  uint32_t epoch;  // raised whenever recording starts, also in a forked child
  uint32_t part;   // of this process's recordings, the number of the current one
  uint64_t start_ticks;
  uint64_t start_raw_ns;
  uint64_t start_bracket;  // ticks within which start_raw_ns was read
  uint64_t next_calibration;

  // Protected by the lock.
  SpinLock lock;
  uint32_t controls_used;
  uint32_t first_unused_control;  // index + 1
  uint32_t threads_seen;
  uint32_t cells;       // how many the file has room for
  uint32_t cells_used;  // started so far
  uint32_t* closed;     // ring: cells without an owner, oldest first; `cells` entries
  uint32_t closed_first;
  uint32_t closed_count;
  uint64_t* cell_events;  // ring: by cell, the events that overwriting it loses
  uint64_t* cell_opened;  // ring: by cell, how often it was taken
  uint32_t partial[64];   // cells with room after the last buffer, which ended
  std::byte* partial_at[64];
  uint32_t partial_count;
  bool space_gone;  // no buffer will be available any more

  SideHeader* side;  // never null: spare_side while there is no file
  SideHeader spare_side;
  TraceHeader* header;  // never null
  TraceHeader spare_header;
};

#define TELLTALE_OURS __attribute__((visibility("hidden")))
extern State state TELLTALE_OURS;
// Raised every millisecond while the clock is sparse. A separate variable, so that hot paths
// compare it in one instruction.
extern uint32_t gap_ticks TELLTALE_OURS;

constexpr size_t kThreadNameBytes = 16;  // the kernel's limit, with the zero

struct ThreadState {
  Control* current;
  Control* kept;                         // retired and spare ones, in a list by next_unused
  struct OpenCalls* open_calls;          // filters; null until the first filtered event
  struct RecordedCalls* recorded_calls;  // the option `auto`; null until the first event
  void* signal_stack;                    // snapshot mode: ours; null: the thread had one
  uint32_t busy;                         // inside the slow path
  uint32_t same_cpu;                     // rseq_cpu points to this if there is no rseq
  char name[kThreadNameBytes];           // as the side record has it
  uint64_t waited_ns;                    // of the thread's life, when that was last asked
  bool has_own_descriptors;  // numbers of descriptors mean other files here: the control thread
};
extern __thread ThreadState thread_state TELLTALE_OURS __attribute__((tls_model("initial-exec")));
extern Control unregistered TELLTALE_OURS;

// The trace's clock. For code outside of hooks.
uint64_t clock_now();
// How long this thread has not run since it began, in nanoseconds.
uint64_t waited_ns();

// Add to the side record's `lost` counters only through this: the trace's header contains their
// total.
void count_lost(uint64_t& counter, uint64_t events);
inline void count_lost(uint64_t& counter) { count_lost(counter, 1); }

}  // namespace telltale::recorder
