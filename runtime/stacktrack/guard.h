#pragma once

// Releases memory that other threads may be reading, without a lock: threads inside the library are
// counted, and memory that was replaced meanwhile is unmapped by a thread that is alone.
// Async-signal-safe.

#include <cstddef>
#include <cstdint>

namespace telltale::st {

// Two ranges to unmap; this struct is in one of them. A null base is skipped.
struct Retired {
  Retired* link;
  void* base[2];
  size_t bytes[2];
};

class Inside {
 public:
  Inside();
  ~Inside();  // the last one out unmaps
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  // `item` must be unreachable already; only threads inside now may still hold it.
  static void retire(Retired* item);
  // In a forked child, which has one thread: only that thread is inside, `times` times, whatever
  // the parent's count was.
  static void reset(uint32_t times);
};

}  // namespace telltale::st
