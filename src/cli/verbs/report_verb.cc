#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/call_tree.h"
#include "analysis/profile.h"
#include "cli/options/counts_options.h"
#include "cli/options/reading_options.h"
#include "cli/verbs/runtime_report.h"
#include "cli/verbs/verbs.h"
#include "import/format_descriptor.h"
#include "import/timed_calls.h"
#include "output/escape.h"
#include "output/json_writer.h"
#include "output/table.h"
#include "output/table/json_document.h"
#include "report/schemas/schemas.h"
#include "report/sites/site_answers.h"

namespace telltale::cli {
namespace {

struct ReportOptions {
  ReadingOptions reading;
  MonoReportOptions mono;
  CountsOptions counts;
  size_t rows = 10;
};

// Share of a whole, 0 to 1; 0 of nothing.
double share(Ticks part, Ticks whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// The functions with most time in their own code.
Table hottest_functions(const Profile& profile, Ticks busy, const Clock& clock,
                        const FunctionNames& names, size_t rows) {
  std::vector<FunctionProfile> sorted = profile.functions;
  std::ranges::stable_sort(sorted, std::greater(), &FunctionProfile::self);
  if (sorted.size() > rows) sorted.resize(rows);
  Table table({{"self_share", "SELF %", Show::percent},
               {"self_ns", "SELF", Show::duration},
               {"total_ns", "TOTAL", Show::duration},
               {"calls", "CALLS"},
               {"median_ns", "MEDIAN", Show::duration},
               {"max_ns", "MAX", Show::duration},
               {"function", "FUNCTION", Show::text}});
  for (const FunctionProfile& row : sorted) {
    table.add_row({share(row.self, busy), clock.to_ns(row.self), clock.to_ns(row.total), row.calls,
                   clock.to_ns(row.median), clock.to_ns(row.max),
                   names.describe(row.function).name});
  }
  return table;
}

// The paths with most time in their last function's own code.
// `most_frames`: of a deeper stack the innermost so many are told, and how many more there are.
Table hottest_stacks(const CallTree& tree, Ticks busy, const Clock& clock,
                     const FunctionNames& names, size_t rows, size_t most_frames) {
  std::vector<size_t> nodes;
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    if (tree.nodes[i].depth != 0) nodes.push_back(i);
  }
  const auto hotter = [&](size_t a, size_t b) { return tree.nodes[a].self > tree.nodes[b].self; };
  std::ranges::stable_sort(nodes, hotter);
  if (nodes.size() > rows) nodes.resize(rows);
  Table table({{"self_share", "SELF %", Show::percent},
               {"self_ns", "SELF", Show::duration},
               {"calls", "CALLS"},
               {"stack", "STACK", Show::text}});
  for (const size_t leaf : nodes) {
    std::string stack;
    size_t frames = 0;
    for (size_t node = leaf; tree.nodes[node].depth != 0; node = tree.nodes[node].parent) {
      if (++frames > most_frames) {
        stack.insert(0, fmt::format("... {} more > ", tree.nodes[node].depth));
        break;
      }
      const std::string& name = names.describe(tree.nodes[node].function).name;
      stack.insert(0, frames == 1 ? name : name + " > ");
    }
    const CallTree::Node& node = tree.nodes[leaf];
    table.add_row({share(node.self, busy), clock.to_ns(node.self), node.calls, std::move(stack)});
  }
  return table;
}

// Calls and time on the stack by thread, the busiest first.
Table busiest_threads(const CallTree& by_thread, const RecordingInfo& info, const Clock& clock,
                      size_t rows) {
  std::vector<CallTree::Root> roots = by_thread.roots;
  std::ranges::stable_sort(roots, [&](const CallTree::Root& a, const CallTree::Root& b) {
    return by_thread.nodes[a.node].total > by_thread.nodes[b.node].total;
  });
  if (roots.size() > rows) roots.resize(rows);
  Table table({{"pid", "PID"},
               {"tid", "TID"},
               {"busy_share", "OF SPAN", Show::percent},
               {"busy_ns", "IN CALLS", Show::duration},
               {"calls", "CALLS"}});
  for (const CallTree::Root& root : roots) {
    const CallTree::Node& node = by_thread.nodes[root.node];
    uint64_t calls = 0;
    for (size_t i = root.node + 1; i < node.end; ++i) calls += by_thread.nodes[i].calls;
    table.add_row({root.thread.pid, root.thread.tid,
                   share(node.total, info.last_time - info.first_time), clock.to_ns(node.total),
                   calls});
  }
  return table;
}

// What is not as it should be, or worth knowing, in words; with the key that JSON has for it.
std::vector<std::pair<std::string, uint64_t>> remarks(const RecordingInfo& info,
                                                      const CallTree& tree) {
  return {{"events", info.custom_events},
          {"unwound", tree.unwound},
          {"unfinished", tree.unfinished},
          {"orphan_exits", tree.orphan_exits},
          {"flattened", tree.flattened},
          {"damaged_places", info.problems.damage_count()},
          {"lost_bytes", info.problems.lost_bytes()}};
}
constexpr std::pair<std::string_view, std::string_view> kRemarkTexts[] = {
    {"events", "custom and typed events"},
    {"unwound", "calls without an exit of their own (exceptions, longjmp)"},
    {"unfinished", "calls still open at the end"},
    {"orphan_exits", "exits without an entry"},
    {"flattened", "calls deeper than stacks are told apart"},
    {"damaged_places", "damaged places; telltale info lists them"},
    {"lost_bytes", "bytes of the input lost"}};

struct Report {
  std::string_view format;
  RecordingInfo info;
  uint64_t calls = 0;
  std::vector<std::pair<std::string, uint64_t>> remarks;
  Table functions;
  Table stacks;
  Table threads;
};

std::string to_json(const Report& report, const ProblemLog& problems) {
  std::string out;
  JsonWriter json(out, 2);
  begin_document(json, schemas::kReportCalls, report.format);
  json.member("format", report.info.format).member("version", report.info.version);
  json.member("records", report.info.records).member("span_ns", report.info.span_ns());
  json.member("calls", report.calls);
  for (const auto& [key, count] : report.remarks) json.member(key, count);
  json.key("functions");
  report.functions.write_json_rows(json);
  json.key("stacks");
  report.stacks.write_json_rows(json);
  json.key("threads");
  report.threads.write_json_rows(json);
  end_document(json, problems);
  return out;
}

std::string to_text(const Report& report) {
  const RecordingInfo& info = report.info;
  std::string out;
  for (const std::string& file : info.files) out += visible(file) + "\n";
  out += fmt::format(
      "{} version {}: {} records, {} calls in {} threads, {}\n", info.format, info.version,
      info.records, report.calls, info.threads.size(),
      show_duration(info.clock.to_ns_f(static_cast<double>(info.last_time - info.first_time))));
  for (const auto& [key, text] : kRemarkTexts) {
    const auto found =
        std::ranges::find(report.remarks, key, &std::pair<std::string, uint64_t>::first);
    if (found->second != 0) out += fmt::format("  {} {}\n", found->second, text);
  }
  out += "\nMost time in their own code\n" + report.functions.to_text();
  out += "\nHottest stacks\n" + report.stacks.to_text();
  out += "\nBusiest threads\n" + report.threads.to_text();
  return out;
}

// One table: functions if none is named.
Result<std::string> to_csv(const Report& report, const std::string& name) {
  if (name.empty() || name == "functions") return report.functions.to_csv();
  if (name == "stacks") return report.stacks.to_csv();
  if (name == "threads") return report.threads.to_csv();
  return usage_error("--csv --reports: functions, stacks or threads, not " + name);
}

int answer(const Recording& recording, const TimedCalls& calls, const ReportOptions& options,
           const CallFilter& filter) {
  ProblemLog problems = recording.problems();
  const Profile profile = calls.profile({filter, options.reading.jobs, /*exact=*/false}, problems);
  ProblemLog same_again;  // the second pass finds the same problems
  const Result<CallTreePartial> partial = calls.call_tree(
      filter, options.reading.jobs, {.by_thread = true, .max_depth = 1000}, same_again);
  if (!partial) return report_error(partial.error());
  const CallTree by_thread = partial->finish(calls.streams());
  const CallTree together = partial->without_threads().finish(calls.streams());
  Ticks busy = 0;
  for (const CallTree::Root& root : together.roots) busy += together.nodes[root.node].total;

  RecordingInfo info = recording.info(options.reading.jobs);
  const Clock& clock = calls.clock();
  const FunctionNames& names = calls.functions();
  // Programs that read JSON and CSV join stacks with what other verbs tell: those stay whole.
  constexpr size_t kShownFrames = 12;
  const bool for_people = !options.reading.json && !options.reading.csv;
  const size_t most_frames = for_people ? kShownFrames : std::numeric_limits<size_t>::max();
  const Report report{
      .format = recording.format().name,
      .info = info,
      .calls = together.calls,
      .remarks = remarks(info, together),
      .functions = hottest_functions(profile, busy, clock, names, options.rows),
      .stacks = hottest_stacks(together, busy, clock, names, options.rows, most_frames),
      .threads = busiest_threads(by_thread, info, clock, options.rows)};
  if (options.reading.csv) {
    const Result<std::string> csv = to_csv(report, options.mono.reports);
    if (!csv) return report_error(csv.error());
    print(*csv);
  } else {
    print(options.reading.json ? to_json(report, problems) : to_text(report));
  }
  return report_problems(options.reading, problems);
}

// What only Mono recordings answer; --reports says which table where there is --csv.
bool asks_for_mono(const ReportOptions& options) {
  MonoReportOptions others = options.mono;
  if (options.reading.csv) others.reports.clear();
  return others.any();
}

int refuse_mono_options() {
  return report_error(
      usage_error("--reports (without --csv), --traces, --verbose, --debug, "
                  "--like-mprof, --track, --find and --gate are for Mono recordings")
          .error());
}

int answer_counts(const SamplerReports& reports, const ReportOptions& options,
                  const CallFilter& filter, std::string_view format) {
  if (asks_for_mono(options)) return refuse_mono_options();
  const ByteSink sink = print_block;
  BlockWriter out(sink);
  const Result<void> done =
      summarise_reports(reports, filter, options.counts,
                        {options.rows, options.reading.json, options.reading.csv, format,
                         options.mono.reports, options.reading.programs},
                        out);
  (void)out.finish();  // whoever reads may have enough
  if (!done) return report_error(done.error());
  return report_problems(options.reading, reports.problems());
}

int run(const ReportOptions& options) {
  return answer_recording(
      options.reading, [&](const Recording& recording, const CallFilter& filter) {
        if (const SamplerReports* counts = recording.counts_at_sites())
          return answer_counts(*counts, options, filter, recording.format().name);
        if (options.counts.any()) return report_error(counts_only().error());
        if (recording.runtime_events() != nullptr)
          return report_mono(recording, options.reading, options.mono, filter);
        if (asks_for_mono(options)) return refuse_mono_options();
        return answer(recording, *recording.timed_calls(), options, filter);
      });
}

}  // namespace

void add_report_verb(Command app, int& status) {
  Command verb = app.add_verb(
      "report", "a summary: where the time went by function, stack and thread, and what is odd");
  const auto options = std::make_shared<ReportOptions>();
  add_reading_options(verb, options->reading);
  add_follow_option(verb, options->reading);
  add_csv_option(verb, options->reading);
  Option rows =
      verb.add_option("--rows", options->rows, "rows of each table; of Mono's reports: all")
          .show_default();
  add_mono_report_options(verb, options->mono);
  add_counts_options(verb, options->counts);
  verb.callback([options, rows, &status] {
    if (rows.count() != 0) options->mono.rows = options->rows;
    options->reading.thread_names = options->mono.needs_thread_names();  // only Mono's are lazy
    status = run(*options);
  });
}

}  // namespace telltale::cli
