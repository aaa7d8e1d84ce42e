#pragma once

#include <span>

#include "analysis/heap_shot_roots.h"
#include "model/clock.h"

namespace telltale::cli {

// Names on standard error the unfinished heap shots among those that an answer leaves out; those at
// exit are as it should be. Times of nanosecond clocks, told since `start`.
void remark_unfinished(std::span<const HeapShotLeftOut> shots, Ticks start);

}  // namespace telltale::cli
