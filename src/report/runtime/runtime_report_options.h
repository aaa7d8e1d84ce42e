#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "import/runtime_events.h"
#include "model/clock.h"

namespace telltale {

// How the reports on runtime events are made: mprof-report's options, and the ways to differ from
// it.
struct RuntimeReportOptions {
  bool traces = false;
  size_t max_frames = 6;
  std::string method_sort = "total";
  std::string alloc_sort = "bytes";
  std::string counters_sort = "time";
  std::string track;
  std::string find;
  bool verbose = false;
  bool like_mprof = false;
  std::optional<size_t> rows;  // of each table; none: all
};

// What times, and --time, are counted from: the recording's first event, or what mprof-report
// takes.
Ticks zero_time(const RuntimeEvents& source, const RuntimeReportOptions& options);

}  // namespace telltale
