#pragma once

#include <cstdint>

namespace telltale {

// Items that parallel_for() has finished since the process began, in all loops together.
uint64_t parallel_items_done();

}  // namespace telltale
