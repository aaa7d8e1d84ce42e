#pragma once

#include <cstdint>

namespace telltale::st {

// Whether this thread is inside the library now (0: no), and how deep.
uint32_t depth_in_library();
// While it lives, checkpoints of this thread are nested in the library: callbacks are not called
// for them.
class InLibrary {
 public:
  InLibrary();
  ~InLibrary();
  InLibrary(const InLibrary&) = delete;
  InLibrary& operator=(const InLibrary&) = delete;
};
// Whether this thread looks at what it has stored; else a fault in a recording is about an event.
bool is_looking_back();
// In a forked child: its thread has no node, whatever its parent's had.
void forget_this_thread();

}  // namespace telltale::st
