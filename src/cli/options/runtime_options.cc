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
  const auto given = [](const Option& one) { return one.count() != 0; };
  return !gate.empty() || made.traces || made.verbose || debug || made.like_mprof ||
         !made.track.empty() || !made.find.empty() || std::ranges::any_of(forms, given);
}

bool RuntimeOptions::needs_thread_names() const {
  const auto chosen = choose_reports(Capability::runtime_events, reports, /*with_tables=*/true);
  return chosen && std::ranges::any_of(*chosen, &Report::names_threads);
}

void add_runtime_options(Command verb, RuntimeOptions& options) {
  const std::string group = "Recordings with runtime events";
  verb.add_option(
          "--reports", options.reports,
          fmt::format("comma-separated list: {}; on request also {}; with --csv, REPORT.TABLE",
                      report_names(true), report_names(false)))
      .type_name("LIST")
      .group(group);
  verb.add_flag("--traces", options.made.traces,
                "group by stack as well, and show references in heap shots")
      .group(group);
  options.forms = {
      verb.add_option("--maxframes", options.made.max_frames, "group stacks by this many frames")
          .type_name("N")
          .show_default()
          .group(group),
      verb.add_option("--method-sort", options.made.method_sort, "order of methods")
          .one_of({"total", "self", "calls"})
          .show_default()
          .group(group),
      verb.add_option("--alloc-sort", options.made.alloc_sort, "order of types")
          .one_of({"bytes", "count"})
          .show_default()
          .group(group),
      verb.add_option("--counters-sort", options.made.counters_sort,
                      "order of counters, with --verbose")
          .one_of({"time", "category"})
          .show_default()
          .group(group)};
  verb.add_option("--track", options.made.track,
                  "only events of the objects at these addresses (comma-separated)")
      .type_name("OBJECT,...")
      .group(group);
  verb.add_option(
          "--find", options.made.find,
          "only events of objects of at least this size, or whose type name contains this text")
      .type_name("S:SIZE|T:PART")
      .group(group);
  verb.add_flag("--verbose", options.made.verbose,
                "show all methods, samples, classes of heap shots, and counters with their values")
      .group(group);
  verb.add_flag("--debug", options.debug, "print every record first, as dump does").group(group);
  verb.add_option("--gate", options.gate,
                  "exit status 1 if the live objects of a type grow steadily and by more than "
                  "BYTES or N% between the first and the last heap shot: growth=BYTES, growth=N%")
      .type_name("GATE")
      .group(group);
  verb.add_flag("--like-mprof", options.made.like_mprof,
                "compute every number as mprof-report does, including its errors")
      .group(group);
}

}  // namespace telltale::cli
