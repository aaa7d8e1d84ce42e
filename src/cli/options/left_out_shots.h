#pragma once

#include <span>

#include "analysis/heap/heap_shot_roots.h"
#include "model/clock.h"

namespace telltale::cli {

// Prints on standard error the unfinished and damaged shots among those that a report ignores;
// ignoring shots at exit is expected. Prints times in nanoseconds since `start`.
void remark_shots_in_part(std::span<const HeapShotLeftOut> shots, Ticks start);

}  // namespace telltale::cli
