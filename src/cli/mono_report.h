#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "cli/options/command.h"
#include "cli/options/reading_options.h"
#include "import/recording.h"
#include "model/clock.h"

namespace telltale::cli {

// What `report` takes for Mono recordings: mprof-report's options, and the ways to differ from it.
struct MonoReportOptions {
  std::string reports;  // comma-separated; empty: all
  bool traces = false;
  size_t max_frames = 6;
  std::string method_sort = "total";
  std::string alloc_sort = "bytes";
  std::string counters_sort = "time";
  std::string track;
  std::string find;
  bool verbose = false;
  bool debug = false;  // first every record
  bool like_mprof = false;
  std::string gate;            // empty: none
  std::optional<size_t> rows;  // of each table; none: all

  [[nodiscard]] bool any() const;  // something was asked that only Mono recordings have
  // A report was asked for that shows names of threads beside what they did.
  [[nodiscard]] bool needs_thread_names() const;
};

// What times, and --time, are counted from: the recording's first event, or what mprof-report
// takes.
Ticks zero_time(const RuntimeEvents& source, const MonoReportOptions& options);

void add_mono_report_options(Command verb, MonoReportOptions& options);

// Answers with every report of mprof-report; docs/analysis/mono.md defines each figure. REQUIRES:
// a recording with runtime events.
int report_mono(const Recording& recording, const ReadingOptions& reading,
                const MonoReportOptions& options, const CallFilter& filter);

}  // namespace telltale::cli
