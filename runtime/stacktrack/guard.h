#pragma once

// When memory that other threads may be looking at can be given back, without a lock: whoever works
// on shared things is counted, and what was replaced meanwhile is unmapped by somebody who is
// alone. Async-signal-safe.

#include <cstddef>
#include <cstdint>

namespace telltale::st {

// Two ranges to unmap; stands in one of them. A null base is left out.
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

  // `item` must be out of everybody's reach already; only those inside now may still hold it.
  static void retire(Retired* item);
  // In a forked child, which has one thread: nobody else is inside, whoever was when it was copied;
  // the thread `times`.
  static void reset(uint32_t times);
};

}  // namespace telltale::st
