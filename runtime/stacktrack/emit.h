#pragma once

#include <cstdint>

namespace telltale::st {

// Whether this thread is inside the library now (0: no), and how deep.
uint32_t depth_in_library();
// In a forked child: its thread has no node, whatever its parent's had.
void forget_this_thread();

}  // namespace telltale::st
