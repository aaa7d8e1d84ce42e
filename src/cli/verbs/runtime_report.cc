#include "cli/verbs/runtime_report.h"

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/event_stacks.h"
#include "analysis/mprof_calls.h"
#include "analysis/runtime_facts.h"
#include "base/parallel.h"
#include "cli/options/growth_gate.h"
#include "cli/options/left_out_shots.h"
#include "cli/verbs/verbs.h"
#include "import/format_descriptor.h"
#include "output/section.h"
#include "report/runtime/mono_sections.h"
#include "report/runtime/runtime_sections.h"
#include "report/runtime/tracked_objects.h"
#include "report/schemas/schemas.h"

namespace telltale::cli {
namespace {

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    if (comma != at) parts.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return parts;
}

bool wants(std::span<const std::string> reports, const std::string& name) {
  return std::ranges::find(reports, name) != reports.end();
}

// The reports to make, each once, in the order in which they are asked for. `with_tables`:
// REPORT.TABLE names a report, too.
Result<std::vector<std::string>> wanted_reports(const MonoReportOptions& options,
                                                bool with_tables) {
  const std::span<const std::string> all = MonoSections::names();
  std::vector<std::string> wanted;
  for (std::string name : split(options.reports)) {
    if (with_tables) name = name.substr(0, name.find('.'));
    if (!wants(all, name) && !wants(RuntimeSections::names(), name))
      return usage_error("there is no report " + name +
                         (name.find('.') == name.npos ? "" : "; REPORT.TABLE is for --csv"));
    if (!wants(wanted, name)) wanted.push_back(std::move(name));
  }
  if (!wanted.empty()) return wanted;
  const auto by_default = all.first(MonoSections::kByDefault);
  wanted.assign(by_default.begin(), by_default.end());
  return wanted;
}

MonoSections::Input collect(const RuntimeEvents& source, const ReadingOptions& reading,
                            const MonoReportOptions& options, const CallFilter& filter,
                            const std::vector<std::string>& reports, ProblemLog& problems) {
  const Ticks zero = zero_time(source, options);
  const bool calls = wants(reports, "call");
  const bool at_once = calls && !options.like_mprof && filter.keeps_every_call();
  std::shared_ptr<const HeapShotRoots> roots;
  if (options.traces && wants(reports, "heapshot")) {
    using Since = HeapShotRoots::Since;
    roots = std::make_shared<HeapShotRoots>(source.heap_shot_roots(
        options.like_mprof ? Since::shot_before : Since::its_begin, reading.jobs));
  }
  const RuntimeFactsOptions facts_options{.filter = filter,
                                          .zero = zero,
                                          .workers = reading.jobs,
                                          .references = roots,
                                          .all_counters = options.verbose,
                                          .like_mprof = options.like_mprof};
  CallsWanted wanted = CallsWanted::none;
  if (at_once) wanted = options.traces ? CallsWanted::and_stacks : CallsWanted::profile;
  RuntimeAnswer answer = source.runtime_facts(facts_options, wanted, problems);
  MonoSections::Input input{.source = source,
                            .options = options,
                            .filter = filter,
                            .facts = std::move(answer.facts),
                            .calls = std::move(answer.calls),
                            .mprof_calls = {},
                            .stacks = std::move(answer.stacks),
                            .sizes = {}};
  ProblemLog same_again;  // later passes find the same problems
  if (wants(reports, "stats")) input.sizes = source.event_sizes(reading.jobs, same_again);
  if (calls && options.like_mprof) {
    input.mprof_calls = source.mprof_calls(filter, zero, reading.jobs, same_again);
  } else if (calls && !at_once) {
    input.calls = source.calls().profile({filter, reading.jobs, /*exact=*/false}, same_again);
  }
  if (options.traces && !input.stacks) {
    input.stacks = source.event_stacks({.filter = filter,
                                        .zero = zero,
                                        .workers = reading.jobs,
                                        .calls = calls,
                                        .like_mprof = options.like_mprof},
                                       same_again);
  }
  return input;
}

RuntimeSections runtime_sections(const RuntimeEvents& source, const ReadingOptions& reading,
                                 const MonoReportOptions& options, const CallFilter& filter,
                                 ProblemLog& problems) {
  const bool for_programs = reading.json || reading.csv;
  constexpr size_t kShownRows = 30;
  return {source,
          {.filter = filter,
           .workers = reading.jobs,
           .rows = options.rows || for_programs ? options.rows : kShownRows,
           .long_tables = for_programs},
          problems};
}

}  // namespace

bool MonoReportOptions::any() const {
  return !gate.empty() || !reports.empty() || traces || verbose || debug || like_mprof ||
         !track.empty() || !find.empty();
}

bool MonoReportOptions::needs_thread_names() const {
  return std::ranges::any_of(split(reports), [](const std::string& name) {
    return wants(RuntimeSections::names(), name.substr(0, name.find('.')));
  });
}

void add_mono_report_options(Command verb, MonoReportOptions& options) {
  const std::string group = "Mono recordings";
  verb.add_option("--reports", options.reports,
                  "only these, separated by commas: header jit gc sample alloc call metadata "
                  "exception monitor thread domain context heapshot counters; and on "
                  "request coverage stats pauses "
                  "growth retention contention hotspots timelines series; with --csv, REPORT.TABLE")
      .type_name("LIST")
      .group(group);
  verb.add_flag("--traces", options.traces, "also by stack, and who refers to what in heap shots")
      .group(group);
  verb.add_option("--maxframes", options.max_frames, "frames of a stack that are told apart")
      .type_name("N")
      .show_default()
      .group(group);
  verb.add_option("--method-sort", options.method_sort, "order of methods")
      .one_of({"total", "self", "calls"})
      .show_default()
      .group(group);
  verb.add_option("--alloc-sort", options.alloc_sort, "order of types")
      .one_of({"bytes", "count"})
      .show_default()
      .group(group);
  verb.add_option("--counters-sort", options.counters_sort, "order of counters, with --verbose")
      .one_of({"time", "category"})
      .show_default()
      .group(group);
  verb.add_option("--track", options.track,
                  "only what happened to the objects at these addresses, separated by commas")
      .type_name("OBJECT,...")
      .group(group);
  verb.add_option(
          "--find", options.find,
          "only what happened to objects of this size or more, or whose type's name has this part")
      .type_name("S:SIZE|T:PART")
      .group(group);
  verb.add_flag("--verbose", options.verbose,
                "all methods, samples, classes of heap shots, names and values of counters")
      .group(group);
  verb.add_flag("--debug", options.debug, "first every record, as dump shows it").group(group);
  verb.add_option("--gate", options.gate,
                  "exit status 1 if a type's live objects grow steadily, and by more than BYTES or "
                  "N% from the "
                  "first heap shot to the last: growth=BYTES, growth=N%")
      .type_name("GATE")
      .group(group);
  verb.add_flag("--like-mprof", options.like_mprof,
                "mprof-report's own numbers, its errors included")
      .group(group);
}

namespace {

// Prints the sections in the form that was asked for.
int print_sections(const std::vector<Section>& sections, const DocumentSchema& schema,
                   const Recording& recording, const ProblemLog& problems,
                   const ReadingOptions& reading, const std::string& which) {
  const ByteSink sink = print_block;
  BlockWriter out(sink);
  if (reading.csv) {
    const Result<void> chosen = write_section_csv(sections, which, out);
    if (!chosen) return report_error(chosen.error());
  } else if (reading.json) {
    write_sections_json(sections, schema, recording.format().name, problems, out);
  } else {
    write_sections_text(sections, out);
  }
  (void)out.finish();  // whoever reads may have enough
  return kDone;
}

// --debug: all files, record by record.
Result<void> print_records(const Recording& recording, const ReadingOptions& reading) {
  if (reading.json || reading.csv)
    return usage_error("--debug shows records to people; programs ask telltale dump --json");
  const ByteSink sink = print_block;
  for (size_t i = 0; i < recording.file_count(); ++i) {
    ProblemLog same_again;  // the report tells them
    const Result<void> done = recording.format().dump(recording.input(i), reading.open_options(),
                                                      DumpStyle::text, sink, same_again, nullptr);
    if (!done) return done;
  }
  print("\n");
  return {};
}

}  // namespace

int report_mono(const Recording& recording, const ReadingOptions& reading,
                const MonoReportOptions& options, const CallFilter& filter) {
  const RuntimeEvents& source = *recording.runtime_events();
  const auto reports = wanted_reports(options, reading.csv);
  if (!reports) return report_error(reports.error());
  std::optional<GrowthGate> gate;
  if (!options.gate.empty()) {
    const Result<GrowthGate> parsed = GrowthGate::parse(options.gate);
    if (!parsed) return report_error(parsed.error());
    gate = *parsed;
  }
  if (options.debug) {
    if (const Result<void> printed = print_records(recording, reading); !printed)
      return report_error(printed.error());
  }
  ProblemLog problems = recording.problems();
  if (!options.track.empty() || !options.find.empty()) {
    Result<Section> objects = track_objects(source, options);
    if (!objects) return report_error(objects.error());
    const int printed = print_sections({*std::move(objects)}, schemas::kReportObjects, recording,
                                       problems, reading, {});
    return printed == kDone ? report_problems(reading, problems) : printed;
  }
  const auto is_more = [](const std::string& name) {
    return wants(RuntimeSections::names(), name);
  };
  std::optional<MonoSections> sections;  // what only these need is not collected for the others
  if (!std::ranges::all_of(*reports, is_more))
    sections.emplace(collect(source, reading, options, filter, *reports, problems));
  ProblemLog same_again;  // a later reading finds the same problems
  RuntimeSections more =
      runtime_sections(source, reading, options, filter, sections ? same_again : problems);
  std::vector<std::optional<Section>> sections_made(reports->size());
  parallel_for(reports->size(), worker_count(reading.jobs), [&](size_t i, size_t) {
    const std::string& name = (*reports)[i];
    if (!is_more(name)) sections_made[i] = sections->make(name);
  });
  std::vector<Section> made;
  for (size_t i = 0; i < reports->size(); ++i) {
    const std::string& name = (*reports)[i];
    made.push_back(is_more(name) ? more.make(name) : *std::move(sections_made[i]));
    // What is empty is left out, unless it was asked for.
    const auto has_rows = [](const Section::NamedTable& named) { return named.table.rows() != 0; };
    if (options.reports.empty() && made.back().facts.empty() &&
        std::ranges::none_of(made.back().tables, has_rows))
      made.pop_back();
  }
  if (const int printed = print_sections(made, schemas::kReportRuntime, recording, problems,
                                         reading, options.reports);
      printed != kDone)
    return printed;
  size_t grown = 0;
  Result<void> answered;  // whether the gate had what it asks for
  if (gate) {
    const Result<std::vector<TypeGrowth>> growth = more.growth();
    if (growth) {
      grown = gate->complain(*growth);
    } else {
      answered = std::unexpected(growth.error());
    }
  }
  if (!reading.follow) {
    std::map<size_t, HeapShotLeftOut> unfinished = more.unfinished();
    if (sections) unfinished.insert(sections->unfinished().begin(), sections->unfinished().end());
    for (const auto& [number, shot] : unfinished)
      remark_unfinished({&shot, 1}, source.calls().first_time());
  }
  const int status = report_problems(reading, problems);
  if (!answered) return report_error(answered.error());
  return grown != 0 ? kFinding : status;
}

}  // namespace telltale::cli
