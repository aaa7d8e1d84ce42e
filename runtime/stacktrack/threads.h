#pragma once

// The recording threads: one node each, reused after its thread has ended, never unmapped. Nothing
// is called when a thread ends, so it may record until its very end; its node and the rest of its
// chunks go to the next thread.

#include <cstdint>
#include <telltale/stacktrack_control.hpp>

#include "store.h"
#include "system.h"

namespace telltale::st {

constexpr int kMaxSinks = 4;

// A chunk that a thread fills in one sink.
struct Stream {
  Chunk chunk;
  Store* ring;      // null: a growing file
  uint64_t next;    // address of the next slot, unless Thread::next contains it
  uint64_t limit;   // 0: no chunk
  uint64_t wanted;  // size of its next chunk
  uint64_t others;  // slots of the chunk that contain no event
  uint32_t known;   // of these: its first record, and the thread's name
  uint64_t store;   // Store::id
  Layout layout;
  uint64_t wiped;   // events lost with truncated chunks and not counted yet
  bool name_asked;  // since the chunk was begun
  Chunk finished;   // of a ring: the chunk before this one
};

// The next slots of the chunk; null without a chunk, or if it has no room for them.
inline uint8_t* take_slots(Stream& stream, size_t count) {
  const size_t bytes = count * slot_bytes(stream.layout);
  const uint64_t at = stream.next;
  if (stream.limit == 0 || at + bytes > stream.limit) return nullptr;
  stream.next = at + bytes;
  return reinterpret_cast<uint8_t*>(at);
}

// Fields that only the library uses follow those of the inlined code.
struct Node : detail::Thread {
  uint64_t sequence;  // the last one used, unless the inlined code continues from `base`
  uint64_t pushed;    // the last limit that the inlined code got
  uint32_t tid32;
  uint32_t number;      // from 1, never reused in this process
  uint32_t countdown;   // events until the clock is read, if sequence numbers are counted
  uint32_t generation;  // Settings::generation that it has seen
  uint32_t fast;        // 1 + the sink whose stream is in Thread::next and limit; 0: none
  uint32_t taken;       // in use by a thread
  char name[kThreadNameBytes];
  uint64_t named[kMaxSinks];  // Store::id of the store that has the name
  void* signal_stack;         // for the thread that uses the node; null: none was needed
  Stream streams[kMaxSinks];
};

// Other threads look at it, to find threads that have ended.
inline uint32_t tid_of(const Node& node) { return __atomic_load_n(&node.tid32, __ATOMIC_RELAXED); }

class Threads {
 public:
  // A node for the calling thread: that of an ended thread, or a new one. `inherited`: it has its
  // predecessor's streams. Null: out of memory.
  static Node* attach(uint32_t pid, uint32_t tid, bool* inherited);
  // Calls `visit` for nodes of threads that have ended, as if it were theirs. `own`: the calling
  // thread's. Async-signal-safe.
  template <typename Visit>
  static void for_each_ended(uint32_t pid, const Node& own, Visit&& visit) {
    for_each([&](Node& node) {
      const uint32_t owner = &node == &own ? 0 : take_over(node, pid, tid_of(own));
      if (owner == 0) return true;
      if (__tsan_acquire != nullptr) __tsan_acquire(static_cast<detail::Thread*>(&node));
      visit(node);
      if (__tsan_release != nullptr) __tsan_release(static_cast<detail::Thread*>(&node));
      __atomic_store_n(&node.tid32, owner, __ATOMIC_RELEASE);
      return true;
    });
  }
  // Makes all threads take the slow path at their next event.
  static void interrupt_all();
  // Visits each node; `visit` returns whether to continue. Async-signal-safe.
  template <typename Visit>
  static void for_each(Visit&& visit) {
    for (uint32_t i = 0; Node* const node = at(i); ++i) {
      if (!visit(*node)) return;
    }
  }
  // Forgets all threads. For a forked child, which has no other threads.
  static void forget_all();
  // The state of threads before they have a node: no limit, so that they take the slow path.
  static detail::Thread none;

 private:
  // The thread that had the node, if it has ended: nobody else has the node then. 0: it has not.
  static uint32_t take_over(Node& node, uint32_t pid, uint32_t tid);
  static Node* find_left_over(uint32_t pid, uint32_t tid);
  // Null after the last.
  static Node* at(uint32_t index);
};

}  // namespace telltale::st
