#pragma once

// The open sinks, and records posted to them that belong to no thread. Writing is async-signal-safe
// and without locks; one thread at a time opens and closes.

#include <cstdint>
#include <telltale/stacktrack_control.hpp>

#include "names.h"
#include "store.h"
#include "threads.h"

namespace telltale::st {

enum class SinkKind : uint32_t { file, ring, callback };
enum SinkState : uint32_t { kClosed, kOpen, kWaitingForChild, kOpening };

// How a file is named and made; strings of the user are copied.
struct FilePlan {
  char directory[kPathBytes];  // absolute
  char path[kPathBytes];       // absolute; empty: by name
  char stem[300];              // <program>_<date>_<time>_<pid>
  uint64_t rotate_bytes;
  uint64_t limit_bytes;  // of a file that is not rotated: later events are lost; 0: none
  uint64_t ring_bytes;
  uint32_t keep_files;
  uint32_t number;  // of the last file
  bool follow_fork;
};

struct Sink {
  uint32_t state;
  uint32_t kind;    // SinkKind
  uint32_t layout;  // Layout
  Sequence sequence;
  uint32_t rotating;
  Store* store;  // null: callback
  CallbackOptions callback;
  uint32_t callback_users;  // threads inside it
  FilePlan plan;
  // kWaitingForChild: the count of unrecorded processes in the parent's file; may be null.
  uint64_t* parents_count;
  uint64_t lost[stacktrack::kLostReasons + 1];
};

struct Settings {
  uint32_t generation;  // raised by every change of the set of open sinks
  uint32_t fast;        // 1 + the only sink, if the inlined code can serve it; otherwise 0
  uint32_t counted;     // sequence numbers are counted
  uint32_t clock_every;
  uint32_t pid;
  uint32_t last_cycle;  // the last write cycle that was begun
  uint64_t sequence;    // the last counted sequence number
  Sink sinks[kMaxSinks];
};
extern Settings settings;

inline bool is_open(const Sink& sink) {
  return __atomic_load_n(&sink.state, __ATOMIC_ACQUIRE) == kOpen;
}

// A sink's slot may be reused for another sink while a thread reads it: the worst that the thread
// can read is the other sink's data.
inline Layout layout_of(const Sink& sink) {
  return static_cast<Layout>(__atomic_load_n(&sink.layout, __ATOMIC_RELAXED));
}
inline SinkKind kind_of(const Sink& sink) {
  return static_cast<SinkKind>(__atomic_load_n(&sink.kind, __ATOMIC_RELAXED));
}

struct Moment {
  uint64_t sequence;
  uint64_t when;
  bool held;  // the clock was not read
};

// The open sinks as one checkpoint sees them. Other threads may open, close and rotate meanwhile:
// the stores stay mapped while any thread is Inside, and a checkpoint's context and its event go to
// the same ones.
struct View {
  uint32_t cycle;
  bool nested;  // during another event of the same thread
  bool open[kMaxSinks];
  Store* stores[kMaxSinks];  // null: closed, or a callback
};
View look(uint32_t cycle, bool nested);

void lose(Sink& sink, Store* store, LostReason reason, uint64_t count);

// Posts a record with text to the chunks of all threads, or (without a store) to the callback.
// False: there was no space.
bool post(Sink& sink, Store* store, const RecordHead& head, const Payload& payload,
          const char* text, size_t bytes, bool nested);
// PROLOGUE, PROCINFO, TIMETYPE and TIMEINFO; in a store's first chunk also the loss counts.
void post_header(Sink& sink, Store* store, uint32_t cycle, bool first);
// Posts a checkpoint's context to all sinks.
void post_context(Site& site, const View& view, uint64_t sequence);
// The site's number, assigned at its first execution.
uint32_t scope_index(Site& site);

// Called before and after a change of the open sinks: look() detects either. Threads then read the
// set of open sinks again before they continue on the inlined path.
void raise_generation();
// A number for a write cycle that begins now.
uint32_t new_cycle();
// From now on checkpoints use `store` (null: none) in this sink, and all threads notice. Retires
// the previous store.
void replace_store(Sink& sink, Store* store);
// From now on checkpoints use this sink.
void publish(Sink& sink, Store* store);
// All threads read the open sinks again; then the write cycle is `cycle` or a later one (0: nothing
// is recorded).
void announce(uint32_t cycle);

// Makes the sink's next file by its plan; 0 or a negative errno value.
int make_file(Sink& sink, Store** store);
enum class Rotation : uint32_t {
  done,    // the current file is another one than `full`
  busy,    // another thread is in rotate()
  failed,  // the next file cannot be made, or there is none
};
// Continues in the next file if `full` is still the current one.
Rotation rotate(Sink& sink, const Store& full);
// Writes a later, more precise measurement of the clock's frequency to the file.
void refine_frequency(Store* store);
// The same, if the last time is long ago.
void refine_frequency_now_and_then(Store* store);

}  // namespace telltale::st
