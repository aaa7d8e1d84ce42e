#pragma once

// Checks of all fuzz targets. A check that fails aborts.

#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "base/problem.h"
#include "bytes/as_bytes.h"
#include "bytes/block_writer.h"
#include "bytes/cursor.h"

namespace telltale::fuzz {

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

inline ByteSink into(std::string& out) {
  return [&out](std::string_view block) -> Result<void> {
    out += block;
    return {};
  };
}

inline void require_placed(const ProblemLog& problems, Bytes file) {
  for (const Problem& problem : problems.kept()) {
    require(problem.offset <= file.size(), "a problem is placed inside the input");
  }
}

}  // namespace telltale::fuzz
