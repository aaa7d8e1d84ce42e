#include "cli/options/left_out_shots.h"

#include <fmt/format.h>

#include <cstdio>

#include "output/table/table.h"

namespace telltale::cli {

void remark_unfinished(std::span<const HeapShotLeftOut> shots, Ticks start) {
  for (const HeapShotLeftOut& shot : shots) {
    if (shot.why != HeapShotLeftOut::Why::unfinished) continue;
    fmt::print(stderr,
               "telltale: heap shot {}, at {}, is ignored: its end is missing from the recording\n",
               shot.number, show_duration(static_cast<double>(shot.begin - start)));
  }
}

}  // namespace telltale::cli
