#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/heap_shot_roots.h"
#include "model/call_filter.h"
#include "output/measured_tree.h"

namespace telltale {

// What an export of calls is asked to do.
struct ExportOptions {
  CallFilter filter;
  size_t jobs = 0;                  // 0: one per core
  Measure measure = Measure::time;  // of exports by path
  bool compress = false;            // perfetto: compress packets inside the trace
};

// What an export did not do as one would expect.
struct ExportRemarks {
  uint64_t flattened = 0;  // calls that were too deep for their nesting to be kept
  bool nothing = false;    // a tree without paths
  std::vector<HeapShotLeftOut> left_out = {};  // later than the heap shot that is measured
  std::string
      estimated;  // what the format has no place for: that times are estimated, and how many
};

}  // namespace telltale
