#pragma once

#include <cstdint>

namespace telltale::st {

// How deep this thread is nested inside the library (0: not at all).
uint32_t depth_in_library();
// During its lifetime, checkpoints of this thread are nested in the library: callbacks are not
// called for them.
class InLibrary {
 public:
  InLibrary();
  ~InLibrary();
  InLibrary(const InLibrary&) = delete;
  InLibrary& operator=(const InLibrary&) = delete;
};
// Whether this thread is reading what it has stored; otherwise a fault during recording concerns an
// event.
bool is_looking_back();
// In a forked child: its thread has no node, even if its parent had one.
void forget_this_thread();

}  // namespace telltale::st
