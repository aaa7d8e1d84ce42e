#pragma once

// The threads that record: one node each, found again when its thread is gone, never unmapped.
// Nothing is called when a thread ends, so it may record to its very end; its node and the rest of
// its chunks go to the next thread.

#include <cstdint>
#include <telltale/stacktrack_control.hpp>

#include "store.h"

namespace telltale::st {

constexpr int kMaxSinks = 4;

// A chunk that a thread fills in one sink.
struct Stream {
  Chunk chunk;
  Store* ring;     // null: a growing file
  uint64_t next;   // address of the next slot, if the inlined code does not hold it in Thread::next
  uint64_t limit;  // 0: there is no chunk
  uint64_t wanted;  // size of its next chunk
  uint64_t others;  // slots of the chunk that hold no event
  uint64_t store;   // Store::id
  Layout layout;
  uint64_t wiped;  // events that went with chunks before and are not counted yet
};

// What only the library looks at follows what the inlined code does.
struct Node : detail::Thread {
  uint64_t sequence;  // the last that it used, unless the inlined code goes on from `base`
  uint64_t pushed;    // the last limit that the inlined code was given
  uint32_t tid32;
  uint32_t number;      // from 1, never used again in this process
  uint32_t countdown;   // events until the clock is read, if sequence numbers are counted
  uint32_t generation;  // Settings::generation that it follows
  uint32_t fast;        // 1 + the sink whose stream Thread::next and limit stand for; 0: none
  uint32_t taken;       // a thread has it
  void* signal_stack;   // for whichever thread has it; null: none was needed
  Stream streams[kMaxSinks];
};

class Threads {
 public:
  // A node for the calling thread: of a thread that is gone, or a new one. `inherited`: it has the
  // streams of its predecessor. Null: out of memory.
  static Node* attach(uint32_t pid, uint32_t tid, bool* inherited);
  // All threads ask the library at their next event.
  static void interrupt_all();
  // Each node there is; `visit` says whether to go on. Async-signal-safe.
  template <typename Visit>
  static void for_each(Visit&& visit) {
    for (uint32_t i = 0; Node* const node = at(i); ++i) {
      if (!visit(*node)) return;
    }
  }
  // In a forked child: there are no threads.
  static void forget_all();
  // What threads have before they have a node: no limit, so that they ask.
  static detail::Thread none;

 private:
  // Null behind the last.
  static Node* at(uint32_t index);
};

}  // namespace telltale::st
