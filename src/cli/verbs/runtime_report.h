#pragma once

#include <string>

#include "cli/options/command.h"
#include "cli/options/reading_options.h"
#include "import/recording.h"
#include "model/call_filter.h"
#include "report/runtime/runtime_report_options.h"

namespace telltale::cli {

// What `report` takes for recordings with runtime events.
struct MonoReportOptions : RuntimeReportOptions {
  std::string reports;  // comma-separated; empty: all
  bool debug = false;   // first every record
  std::string gate;     // empty: none

  [[nodiscard]] bool any() const;  // something was asked that only runtime events answer
  // A report was asked for that shows names of threads beside what they did.
  [[nodiscard]] bool needs_thread_names() const;
};

void add_mono_report_options(Command verb, MonoReportOptions& options);

// Answers with every report of mprof-report; docs/analysis/mono.md defines each figure. REQUIRES:
// a recording with runtime events.
int report_mono(const Recording& recording, const ReadingOptions& reading,
                const MonoReportOptions& options, const CallFilter& filter);

}  // namespace telltale::cli
