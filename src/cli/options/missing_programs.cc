#include "cli/options/missing_programs.h"

#include <fmt/format.h>

#include <cstdio>

#include "base/system_library.h"
#include "cli/options/message.h"
#include "output/escape.h"

namespace telltale::cli {

bool tell_missing_programs(const ProblemLog& problems) {
  constexpr size_t kMost = 3;
  size_t told = 0;
  for (const Problem& problem : problems.kept()) {
    // The message begins with the program's path.
    if (problem.record != "mapped file" || is_system_library(problem.message)) continue;
    if (++told > kMost) break;
    print_message("telltale: {}\n", visible(problem.message));
  }
  return told != 0;
}

}  // namespace telltale::cli
