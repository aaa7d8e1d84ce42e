#include "cli/options/left_out_shots.h"

#include <fmt/format.h>

#include <cstdio>

#include "cli/options/message.h"
#include "output/table/table.h"

namespace telltale::cli {

void remark_shots_in_part(std::span<const HeapShotLeftOut> shots, Ticks start) {
  for (const HeapShotLeftOut& shot : shots) {
    using Why = HeapShotLeftOut::Why;
    if (shot.why == Why::at_exit) continue;
    print_message("telltale: heap shot {}, at {}, is ignored: {} is missing from the recording\n",
                  shot.number, show_duration(static_cast<double>(shot.begin - start)),
                  shot.why == Why::unfinished ? "its end" : "a part of it");
  }
}

}  // namespace telltale::cli
