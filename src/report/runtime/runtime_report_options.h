#pragma once

#include <cstddef>
#include <optional>
#include <string>

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
  bool for_programs = false;   // whole stacks, every value of every counter ...
  size_t workers = 0;          // threads; 0: all cores
};

}  // namespace telltale
