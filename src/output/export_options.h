#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/heap/heap_shot_roots.h"
#include "model/call_filter.h"
#include "model/name_style.h"
#include "output/tree/measured_tree.h"

namespace telltale {

// Options of an export of calls.
struct ExportOptions {
  CallFilter filter;
  size_t jobs = 0;                  // 0: one per core
  Measure measure = Measure::time;  // of exports by path
  NameStyle names = NameStyle::full;
  bool compress = false;  // perfetto: compress packets inside the trace
};

// Deviations of an export from the expected result.
struct ExportRemarks {
  uint64_t flattened = 0;  // calls below the maximum depth, whose nesting is lost
  bool nothing = false;    // a tree without paths
  std::vector<HeapShotLeftOut> left_out = {};  // later than the heap shot that is measured
  std::string estimated;                       // estimated times, in a format that cannot mark them
};

}  // namespace telltale
