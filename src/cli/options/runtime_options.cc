#include "cli/options/runtime_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "report/reports.h"

namespace telltale::cli {
namespace {

// "header jit gc": the names of all reports that are made by default, or of all others.
std::string report_names(bool by_default) {
  std::string names;
  for (const Report* const report : reports_on(Capability::runtime_events)) {
    if (report->by_default != by_default) continue;
    names += names.empty() ? "" : " ";
    names += report->name;
  }
  return names;
}

}  // namespace

bool RuntimeOptions::any_but_reports() const {
  return !gate.empty() || made.traces || made.verbose || debug || made.like_mprof ||
         !made.track.empty() || !made.find.empty();
}

bool RuntimeOptions::needs_thread_names() const {
  const auto chosen = choose_reports(Capability::runtime_events, reports, /*with_tables=*/true);
  return chosen && std::ranges::any_of(*chosen, &Report::names_threads);
}

void add_runtime_options(Command verb, RuntimeOptions& options) {
  const std::string group = "Recordings with runtime events";
  verb.add_option("--reports", options.reports,
                  fmt::format("only these, separated by commas: {}; and on request {}; with --csv, "
                              "REPORT.TABLE",
                              report_names(true), report_names(false)))
      .type_name("LIST")
      .group(group);
  verb.add_flag("--traces", options.made.traces,
                "also by stack, and who refers to what in heap shots")
      .group(group);
  verb.add_option("--maxframes", options.made.max_frames, "frames of a stack that are told apart")
      .type_name("N")
      .show_default()
      .group(group);
  verb.add_option("--method-sort", options.made.method_sort, "order of methods")
      .one_of({"total", "self", "calls"})
      .show_default()
      .group(group);
  verb.add_option("--alloc-sort", options.made.alloc_sort, "order of types")
      .one_of({"bytes", "count"})
      .show_default()
      .group(group);
  verb.add_option("--counters-sort", options.made.counters_sort,
                  "order of counters, with --verbose")
      .one_of({"time", "category"})
      .show_default()
      .group(group);
  verb.add_option("--track", options.made.track,
                  "only what happened to the objects at these addresses, separated by commas")
      .type_name("OBJECT,...")
      .group(group);
  verb.add_option(
          "--find", options.made.find,
          "only what happened to objects of this size or more, or whose type's name has this part")
      .type_name("S:SIZE|T:PART")
      .group(group);
  verb.add_flag("--verbose", options.made.verbose,
                "all methods, samples, classes of heap shots, names and values of counters")
      .group(group);
  verb.add_flag("--debug", options.debug, "first every record, as dump shows it").group(group);
  verb.add_option("--gate", options.gate,
                  "exit status 1 if a type's live objects grow steadily, and by more than BYTES or "
                  "N% from the "
                  "first heap shot to the last: growth=BYTES, growth=N%")
      .type_name("GATE")
      .group(group);
  verb.add_flag("--like-mprof", options.made.like_mprof,
                "mprof-report's own numbers, its errors included")
      .group(group);
}

}  // namespace telltale::cli
