#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/options/counts_options.h"
#include "cli/options/function_match.h"
#include "cli/options/growth_gate.h"
#include "cli/options/left_out_shots.h"
#include "cli/options/message.h"
#include "cli/options/net_option.h"
#include "cli/options/reading_options.h"
#include "cli/options/runtime_options.h"
#include "cli/verbs/verbs.h"
#include "import/format_descriptor.h"
#include "model/waiting.h"
#include "output/escape.h"
#include "output/table/section.h"
#include "report/calls/call_summary.h"
#include "report/reports.h"
#include "report/runtime/runtime_readings.h"
#include "report/runtime/tracked_objects.h"
#include "report/schemas/schemas.h"
#include "report/sites/site_reports.h"

namespace telltale::cli {
namespace {

struct ReportOptions {
  ReadingOptions reading;
  RuntimeOptions runtime;
  CountsOptions counts;
  size_t rows = 10;

  [[nodiscard]] bool for_programs() const { return reading.json || reading.csv; }
};

// Calls write(out), which prints an answer.
template <typename Write>
int print_answer(Write write) {
  const ByteSink sink = print_block;
  BlockWriter out(sink);
  const Result<void> written = write(out);
  if (const Result<void> done = out.finish(); !done) return report_error(done.error());
  return written ? kDone : report_error(written.error());
}

// --- timed calls

int report_calls(const Recording& recording, const ReportOptions& options,
                 const CallFilter& filter) {
  ProblemLog problems = recording.problems();
  // Stacks in JSON and CSV are not truncated, so that they can be joined with other verbs' output.
  CallSummaryOptions wanted{
      .rows = options.rows, .workers = options.reading.jobs, .names = options.reading.name_style()};
  wanted.for_people = !options.for_programs();
  if (options.for_programs()) wanted.most_frames = std::numeric_limits<size_t>::max();
  Result<CallReadings> readings = CallReadings::read(recording, filter, wanted, problems);
  if (!readings) return report_error(readings.error());
  const std::vector<Section> made =
      make_sections(reports_on(Capability::timed_calls), {.calls = &*readings}, 1);
  const Section& summary = made.front();
  const int printed = print_answer([&](BlockWriter& out) -> Result<void> {
    if (options.reading.json) {
      write_section_json(summary, report_document(Capability::timed_calls), recording.format().name,
                         problems, out);
    } else if (options.reading.csv) {
      const std::string& name = options.runtime.reports;
      const Table* const table = summary.table(name.empty() ? "functions" : name);
      if (table == nullptr)
        return usage_error("--csv --reports needs functions, stacks or threads, but got " + name);
      table->write_csv(out);
    } else {
      write_call_summary_text(*readings, summary, out);
    }
    return {};
  });
  Ticks waited = 0;
  for (const FunctionProfile& row : readings->profile.functions)
    if (row.function == kWaiting) waited = row.self;
  if (!options.for_programs()) remark_waiting(waited, readings->busy);
  remark_unnamed(*readings->names, readings->names->described(), options.reading);
  if (readings->profile.functions.empty())
    remark_no_match(*recording.timed_calls(), filter, options.reading.jobs);
  return printed == kDone ? report_problems(options.reading, problems) : printed;
}

// --- runtime events

// Prints the sections in the requested form.
int print_sections(std::span<const Section> sections, const DocumentSchema& schema,
                   const Recording& recording, const ProblemLog& problems,
                   const ReadingOptions& reading, const std::string& which) {
  return print_answer([&](BlockWriter& out) -> Result<void> {
    if (reading.csv) return write_section_csv(sections, which, out);
    if (reading.json) {
      write_sections_json(sections, schema, recording.format().name, problems, out);
    } else {
      write_sections_text(sections, out);
    }
    return {};
  });
}

// --debug: all files, record by record.
Result<void> print_records(const Recording& recording, const ReadingOptions& reading) {
  if (reading.json || reading.csv)
    return usage_error("--debug prints text; use telltale dump --json for programs");
  const ByteSink sink = print_block;
  for (size_t i = 0; i < recording.file_count(); ++i) {
    ProblemLog same_again;  // the report prints them
    const Result<void> done = recording.format().dump(recording.input(i), reading.open_options(),
                                                      DumpStyle::kText, sink, same_again, nullptr);
    if (!done) return done;
  }
  print("\n");
  return {};
}

int report_objects(const Recording& recording, const ReportOptions& options,
                   const CallFilter& filter) {
  const Result<Section> objects = track_objects(*recording.runtime_events(), options.runtime.made);
  if (!objects) return report_error(objects.error());
  if (!filter.keeps_everything()) {
    print_message(
        "telltale: --thread, --time, --function and --depth do not select objects: --track and "
        "--find read the whole recording\n");
  }
  const ProblemLog& problems = recording.problems();
  const int printed = print_sections({&*objects, 1}, schemas::kReportObjects, recording, problems,
                                     options.reading, {});
  return printed == kDone ? report_problems(options.reading, problems) : printed;
}

// The exit status of --gate.
Result<int> judge(const std::optional<GrowthGate>& gate, RuntimeReadings& readings) {
  if (!gate) return kDone;
  const Result<std::vector<TypeGrowth>> growth = readings.growth();
  if (!growth) return std::unexpected(growth.error());
  return gate->complain(*growth) == 0 ? kDone : kFinding;
}

// Says which of the reports are about more than what --thread and --function select, and whether
// these select anything: figures of the whole program look like an answer.
void remark_filters(const Recording& recording, std::span<const Report* const> reports,
                    std::span<const Section> sections, const ReportOptions& options,
                    const CallFilter& filter) {
  remark_no_match_at_any_time(*recording.timed_calls(), filter, options.reading.jobs);
  if (!filter.selects_functions()) return;
  std::vector<std::string> all_functions;
  for (const Section& section : sections) {
    const auto report = std::ranges::find(reports, section.key(), &Report::name);
    if (report == reports.end()) continue;
    if (!(*report)->selects_functions || options.runtime.made.like_mprof)
      all_functions.emplace_back(section.key());
  }
  if (all_functions.empty()) return;
  print_message(
      "telltale: --function and --depth select calls and frames of stacks; {} {} of the whole "
      "program\n",
      join_words(all_functions), all_functions.size() == 1 ? "is" : "are");
}

int report_runtime(const Recording& recording, const ReportOptions& options,
                   const CallFilter& filter) {
  const ReadingOptions& reading = options.reading;
  const auto reports =
      choose_reports(Capability::runtime_events, options.runtime.reports, reading.csv);
  if (!reports) return report_error(reports.error());
  std::optional<GrowthGate> gate;
  if (!options.runtime.gate.empty()) {
    const Result<GrowthGate> parsed = GrowthGate::parse(options.runtime.gate);
    if (!parsed) return report_error(parsed.error());
    gate = *parsed;
  }
  if (options.runtime.debug) {
    if (const Result<void> printed = print_records(recording, reading); !printed)
      return report_error(printed.error());
  }
  RuntimeReportOptions wanted = options.runtime.made;
  wanted.for_programs = options.for_programs();
  wanted.workers = reading.jobs;
  if (!wanted.track.empty() || !wanted.find.empty())
    return report_objects(recording, options, filter);
  unsigned reads = 0;
  for (const Report* const report : *reports) reads |= report->reads;
  ProblemLog problems = recording.problems();
  RuntimeReadings readings(*recording.runtime_events(), wanted, filter, reads, problems);
  std::vector<Section> sections = make_sections(*reports, {.runtime = &readings}, reading.jobs);
  // The rows of `classes` are of each heap shot.
  if (wanted.rows)
    for (Section& section : sections) section.limit_rows(*wanted.rows, "classes");
  // Omits empty sections unless they were requested.
  if (options.runtime.reports.empty()) std::erase_if(sections, &Section::empty);
  if (const int printed = print_sections(sections, report_document(Capability::runtime_events),
                                         recording, problems, reading, options.runtime.reports);
      printed != kDone)
    return printed;
  const Result<int> judged = judge(gate, readings);
  remark_filters(recording, *reports, sections, options, filter);
  if (!reading.follow)  // the end of a shot may not be written yet
    for (const auto& [number, shot] : readings.in_part)
      remark_shots_in_part({&shot, 1}, recording.timed_calls()->first_time());
  const int status = report_problems(reading, problems);
  if (!judged) return report_error(judged.error());
  return *judged == kDone ? status : *judged;
}

// --- counts at sites

int report_counts(const Recording& recording, const ReportOptions& options,
                  const CallFilter& filter) {
  const SamplerReports& counts = *recording.counts_at_sites();
  SiteReadings readings(counts, filter, {options.counts, options.rows, options.reading.programs});
  std::vector<Section> sections =
      make_sections(reports_on(Capability::counts_at_sites), {.sites = &readings}, 1);
  if (!readings.remark.empty()) print_message("telltale: {}\n", visible(readings.remark));
  if (!options.for_programs()) {
    std::string files;
    for (const std::string& file : counts.info().files) files += visible(file) + "\n";
    print(files + "\n");
    std::erase_if(sections, &Section::empty);
  }
  const int printed =
      print_sections(sections, report_document(Capability::counts_at_sites), recording,
                     counts.problems(), options.reading, options.runtime.reports);
  return printed == kDone ? report_problems(options.reading, counts.problems()) : printed;
}

// What needs runtime events; --reports says which table where there is --csv.
bool asks_for_runtime_events(const ReportOptions& options) {
  return options.runtime.any_but_reports() ||
         (!options.reading.csv && !options.runtime.reports.empty());
}

int refuse_runtime_options(const ReportOptions& options) {
  if (!options.reading.net.empty()) {
    return report_error(
        usage_error("--net has the calls alone: the reports of the runtime's events are without it")
            .error());
  }
  return report_error(
      usage_error(
          "--reports (without --csv), --traces, --maxframes, --method-sort, --alloc-sort, "
          "--counters-sort, --verbose, --debug, --like-mprof, --track, --find and --gate are "
          "for recordings with runtime events")
          .error());
}

int run(const ReportOptions& options) {
  return answer_recording(options.reading,
                          [&](const Recording& recording, const CallFilter& filter) {
                            const bool has_events = recording.has(Capability::runtime_events);
                            const bool has_counts = recording.has(Capability::counts_at_sites);
                            if (!has_counts && options.counts.any())
                              return report_error(counts_only().error());
                            if (!has_events && asks_for_runtime_events(options))
                              return refuse_runtime_options(options);
                            if (has_counts) return report_counts(recording, options, filter);
                            if (has_events) return report_runtime(recording, options, filter);
                            return report_calls(recording, options, filter);
                          });
}

}  // namespace

void add_report_verb(Command app, int& status) {
  Command verb = app.add_verb(
      "report", "summarize a recording: time by function, stack and thread, and oddities");
  const auto options = std::make_shared<ReportOptions>();
  add_reading_options(verb, options->reading);
  options->reading.text_has_places = false;
  add_follow_option(verb, options->reading);
  add_csv_option(verb, options->reading);
  add_names_option(verb, options->reading);
  add_net_option(verb, options->reading);
  Option rows = add_limit_option(verb, options->rows,
                                 "rows of each table; 0: all, as of runtime reports without it")
                    .show_default();
  add_runtime_options(verb, options->runtime);
  add_counts_options(verb, options->counts);
  verb.callback([options, rows, &status] {
    if (options->rows == 0) options->rows = std::numeric_limits<size_t>::max();
    if (rows.count() != 0) options->runtime.made.rows = options->rows;
    options->reading.thread_names = options->runtime.needs_thread_names();
    status = run(*options);
  });
}

}  // namespace telltale::cli
