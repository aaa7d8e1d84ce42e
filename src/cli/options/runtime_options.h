#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/options/command.h"
#include "report/runtime/runtime_report_options.h"

namespace telltale::cli {

// What `report` takes for recordings with runtime events: mprof-report's options, and more.
struct RuntimeOptions {
  RuntimeReportOptions made;
  std::string reports;        // comma-separated; empty: those by default
  bool debug = false;         // every record first
  std::string gate;           // empty: none
  std::vector<Option> forms;  // the options for the order of rows and the length of stacks

  // Something but --reports was asked that only such recordings have.
  [[nodiscard]] bool any_but_reports() const;
  // A report was asked for that names threads.
  [[nodiscard]] bool needs_thread_names() const;
};

void add_runtime_options(Command verb, RuntimeOptions& options);

}  // namespace telltale::cli
