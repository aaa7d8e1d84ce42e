#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/calls/recording_diff.h"
#include "base/counted.h"
#include "cli/options/compared_names.h"
#include "cli/options/diff_gate.h"
#include "cli/options/function_match.h"
#include "cli/options/message.h"
#include "cli/options/net_option.h"
#include "cli/options/open_one.h"
#include "cli/options/output_option.h"
#include "cli/options/reading_options.h"
#include "cli/verbs/diff_order.h"
#include "cli/verbs/diff_runs.h"
#include "cli/verbs/verbs.h"
#include "import/timed_calls.h"
#include "model/waiting.h"
#include "output/escape.h"
#include "output/json_writer.h"
#include "output/table/object_writer.h"
#include "output/table/screen.h"
#include "output/table/table.h"
#include "report/calls/diff_tables.h"
#include "report/schemas/schemas.h"

namespace telltale::cli {
namespace {

using Measures = RecordingDiff::Measures;

struct DiffOptions {
  ReadingOptions reading;
  std::vector<std::string> programs_before;
  std::vector<std::string> programs_after;
  DiffGateOptions gate;
  std::string gate_by = "function";
  uint64_t gate_floor_ns = 0;   // from `gate`
  std::string table = "paths";  // printed by --csv
  bool table_is_given = false;
  size_t rows = 20;
  bool order = false;
  bool html = false;
  OutputOption output;
};

uint64_t value_of(const Measures& measures, GatedMeasure measure) {
  if (measure == GatedMeasure::calls) return measures.calls;
  return measure == GatedMeasure::total ? measures.total_ns : measures.self_ns;
}

// Growth from 0 is unlimited.
Growth judge(const DiffGate& gate, uint64_t before, uint64_t after, uint64_t floor_ns) {
  const double allowed = static_cast<double>(before) * (1 + gate.limit);
  if (after <= before || static_cast<double>(after) <= allowed) return Growth::allowed;
  const bool is_time = gate.measure != GatedMeasure::calls;
  return is_time && after - before <= floor_ns ? Growth::below_floor : Growth::exceeded;
}

struct Judgement {
  std::vector<DiffExcess> exceeded;
  GateOutcome outcome;
};

void check_gates(const std::vector<DiffGate>& gates, const std::string& name,
                 const Measures& before, const Measures& after, uint64_t floor_ns,
                 Judgement& judgement) {
  Growth worst = Growth::allowed;
  for (const DiffGate& gate : gates) {
    const uint64_t old_value = value_of(before, gate.measure);
    const uint64_t new_value = value_of(after, gate.measure);
    const Growth growth = judge(gate, old_value, new_value, floor_ns);
    worst = std::max(worst, growth);
    if (growth == Growth::exceeded)
      judgement.exceeded.push_back({std::string(gate.name), name, old_value, new_value});
  }
  judgement.outcome.add(worst);
}

Judgement judge(const RecordingDiff& diff, const std::vector<DiffGate>& gates,
                const DiffOptions& options) {
  Judgement judgement;
  const auto check = [&](const std::string& name, const Measures& before, const Measures& after) {
    check_gates(gates, name, before, after, options.gate_floor_ns, judgement);
  };
  if (options.gate_by == "all") check("all calls", diff.before, diff.after);
  if (options.gate_by == "function") {
    // When the system takes the processor away is no property of the program.
    for (const RecordingDiff::Row& row : diff.functions)
      if (row.name != kWaitingName) check(row.name, row.before, row.after);
  }
  if (options.gate_by == "path") {
    for (size_t i = 0; i < diff.paths.size(); ++i) {
      check(path_text(diff, i, 64), diff.paths[i].before, diff.paths[i].after);
    }
  }
  return judgement;
}

std::string to_json(const RecordingDiff& diff, const DiffOptions& options,
                    const std::vector<DiffExcess>& exceeded, const ProblemLog& problems) {
  std::string out;
  JsonWriter json(out, 2);
  DocumentWriter document(json, schemas::kDiff, {});
  const auto side = [&](const char* key, const std::string& file, const Measures& whole) {
    document.object(key, [&](ObjectWriter& object) {
      object.add("file", file).add("calls", whole.calls).add("total_ns", whole.total_ns);
    });
  };
  side("before", options.reading.files[0], diff.before);
  side("after", options.reading.files[1], diff.after);
  document.table("functions", diff_function_table(diff));
  document.table("paths", diff_path_table(diff));
  document.table("exceeded", exceeded_table(exceeded));
  document.finish(problems);
  return out;
}

std::string to_text(const RecordingDiff& diff, const DiffOptions& options) {
  const auto side = [](const char* name, const std::string& file, const Measures& whole) {
    const std::string words = fmt::format("{} {}: {}, {} in outermost calls", name, visible(file),
                                          counted(whole.calls, "call"),
                                          show_duration(static_cast<double>(whole.total_ns)));
    return folded(words, 0, 2) + "\n";
  };
  std::string out = side("A", options.reading.files[0], diff.before) +
                    side("B", options.reading.files[1], diff.after);
  out += "\nFunctions, by difference in self time\n" +
         shown_diff_functions(diff, options.rows).to_text();
  const ShownDiffPaths paths = shown_diff_paths(diff, options.rows);
  out += "\nPaths, by difference in total time\n" + paths.table.to_text();
  if (paths.callers_left_out != 0) {
    out += fmt::format("{} with the difference of one of these left out; --csv has all\n",
                       counted(paths.callers_left_out, "caller"));
  }
  return out;
}

// Errors: usage, if a side lacks the names that are compared.
Result<void> check_names(const RecordingDiff& diff, const Recording& before, const Recording& after,
                         bool for_gate) {
  ComparedNames names;
  names.add(ComparedNames::kBefore, before);
  names.add(ComparedNames::kAfter, after);
  for (const RecordingDiff::Row& row : diff.functions)
    names.add_function(row.name, row.before.seen(), row.after.seen());
  return names.check(for_gate);
}

// Says how functions get names, if one has none.
void remark_number(const RecordingDiff& diff, const DiffOptions& options) {
  const ReadingOptions reading =
      with_programs_of_sides(options.reading, options.programs_before, options.programs_after);
  for (const RecordingDiff::Row& row : diff.functions)
    if (remark_if_number(row.name, reading)) return;
}

int finish(const RecordingDiff& diff, const DiffOptions& options,
           const std::vector<DiffGate>& gates, const GatedSide& before, const GatedSide& after,
           const ProblemLog& problems) {
  const Judgement judgement = judge(diff, gates, options);
  const std::vector<DiffExcess>& exceeded = judgement.exceeded;
  if (options.reading.json) {
    print(to_json(diff, options, exceeded, problems));
  } else if (options.reading.csv) {
    print((options.table == "paths" ? diff_path_table(diff) : diff_function_table(diff)).to_csv());
  } else {
    print(to_text(diff, options));
  }
  remark_number(diff, options);
  const int damage = report_problems(options.reading, problems);
  constexpr size_t kShown = 20;
  for (size_t i = 0; i < std::min(exceeded.size(), kShown); ++i) {
    const DiffExcess& row = exceeded[i];
    const bool is_time = row.measure != "calls";
    const auto show = [&](uint64_t value) {
      return is_time ? show_duration(static_cast<double>(value)) : fmt::format("{}", value);
    };
    print_message("telltale: gate: {} of {}: {} before, {} after\n", row.measure, visible(row.name),
                  show(row.before), show(row.after));
  }
  if (exceeded.size() > kShown)
    print_message("telltale: gate: {} more\n", exceeded.size() - kShown);
  const Result<CallFilter> filter = options.reading.filter();
  if (const Result<void> checked =
          check_gated_calls(options.gate, before, after, filter && filter->keeps_everything());
      !checked)
    return report_error(checked.error());
  judgement.outcome.print(options.gate, options.gate_floor_ns,
                          options.gate_by == "all" ? "sum" : options.gate_by, before, after);
  return exceeded.empty() ? damage : kFinding;
}

// A recording's tree and profile, from one pass each.
struct Side {
  CallTree tree;
  Profile profile;
};
Result<Side> analyse(const Recording& recording, const DiffOptions& options, CallFilter filter,
                     ProblemLog& problems) {
  const TimedCalls& calls = *recording.timed_calls();
  settle_window(recording, options.reading, filter);
  Side side;
  problems.merge(recording.problems());
  side.profile = calls.profile({filter, options.reading.jobs, false}, problems);
  ProblemLog same_again;  // the second pass would report the same problems again
  const Result<CallTreePartial> partial =
      calls.call_tree(filter, options.reading.jobs, {}, same_again);
  if (!partial) return std::unexpected(partial.error());
  side.tree = partial->finish(calls.streams());
  return side;
}

// Several recordings a side: A1 A2 -- B1 B2.
int run_several(const DiffOptions& options) {
  if (options.order)
    return report_error(usage_error("--order compares one recording a side").error());
  const std::vector<std::string>& files = options.reading.files;
  const auto separator = std::ranges::find(files, kSideSeparator);
  DiffRunsOptions several{.before = {files.begin(), separator},
                          .after = {separator + 1, files.end()},
                          .programs_before = options.programs_before,
                          .programs_after = options.programs_after,
                          .gate = options.gate,
                          .gate_all = options.gate_by == "all",
                          .rows = options.rows};
  if (several.before.empty() || several.after.empty())
    return report_error(usage_error("diff needs recordings on both sides of --").error());
  if (options.gate_by == "path")
    return report_error(usage_error("--gate-by path compares one recording a side").error());
  if (options.table == "paths" && options.table_is_given)
    return report_error(usage_error("--table paths compares one recording a side").error());
  return diff_runs(options.reading, several);
}

int run(DiffOptions& options) {
  if (std::ranges::find(options.reading.files, kSideSeparator) != options.reading.files.end())
    return run_several(options);
  if (options.reading.files.size() != 2) {
    return report_error(usage_error("diff compares two recordings, or several on each side: diff "
                                    "A1 A2 -- B1 B2")
                            .error());
  }
  if (options.order) {
    if (!options.gate.gate.empty())
      return report_error(
          usage_error("--order has no gate; --gate compares calls and times").error());
    return diff_order(options.reading,
                      {options.programs_before, options.programs_after, options.rows,
                       options.html ? std::optional(options.output) : std::nullopt});
  }
  const Result<uint64_t> floor_ns = gate_floor_ns(options.gate);
  if (!floor_ns) return report_error(floor_ns.error());
  options.gate_floor_ns = *floor_ns;
  const Result<CallFilter> filter = options.reading.filter();
  if (!filter) return report_error(filter.error());
  const Result<std::vector<DiffGate>> gates = parse_gates(options.gate.gate);
  if (!gates) return report_error(gates.error());
  const auto before = open_one(options.reading, 0, options.programs_before);
  if (!before) return report_error(before.error());
  const auto after = open_one(options.reading, 1, options.programs_after);
  if (!after) return report_error(after.error());
  ProblemLog problems_before;
  const Result<Side> left = analyse(**before, options, *filter, problems_before);
  if (!left) return report_error(left.error());
  ProblemLog problems_after;
  const Result<Side> right = analyse(**after, options, *filter, problems_after);
  if (!right) return report_error(right.error());
  const TimedCalls& a = *(*before)->timed_calls();
  const TimedCalls& b = *(*after)->timed_calls();
  const std::vector<std::string>& files = options.reading.files;
  remark_no_calls(files[0], **before, left->profile, options.reading, *filter);
  remark_no_calls(files[1], **after, right->profile, options.reading, *filter);
  const RecordingDiff diff = make_recording_diff(
      {left->tree, left->profile, a.clock(), a.functions()},
      {right->tree, right->profile, b.clock(), b.functions()}, options.reading.name_style());
  if (const Result<void> named = check_names(diff, **before, **after, !gates->empty()); !named)
    return report_error(named.error());
  const GatedSide gated_before{"A",
                               {gated_run(files[0], diff.before.calls, **before, problems_before)}};
  const GatedSide gated_after{"B",
                              {gated_run(files[1], diff.after.calls, **after, problems_after)}};
  ProblemLog problems = std::move(problems_before);
  problems.merge(problems_after);
  return finish(diff, options, *gates, gated_before, gated_after, problems);
}

}  // namespace

void add_diff_verb(Command app, int& status) {
  Command verb = app.add_verb(
      "diff", "compare two recordings by function and path: calls and time before and after");
  const auto options = std::make_shared<DiffOptions>();
  add_reading_options(verb, options->reading);
  add_csv_option(verb, options->reading);
  add_names_option(verb, options->reading);
  add_net_option(verb, options->reading);
  verb.option("FILE").description(
      "the recording before and the one after; several runs of each: A1 A2 -- B1 B2");
  verb.add_option("--program-a", options->programs_before,
                  "program that names the first recording's ids")
      .type_name("BIN")
      .one_value_each();
  verb.add_option("--program-b", options->programs_after,
                  "program that names the second recording's ids")
      .type_name("BIN")
      .one_value_each();
  add_diff_gate_options(verb, options->gate);
  verb.add_option("--gate-by", options->gate_by, "what the gate compares")
      .one_of({"function", "path", "all"})
      .needs("--gate")
      .show_default();
  const Option table =
      verb.add_option("--table", options->table, "what --csv prints of one recording a side")
          .one_of({"paths", "functions"})
          .show_default();
  add_limit_option(verb, options->rows, "rows of each text table; 0: all").show_default();
  verb.add_flag("--order", options->order,
                "align the calls of two threads in their order: what was inserted, deleted, moved. "
                "--thread names one of each; default: the longest");
  verb.add_flag("--html", options->html,
                "with --order: write a page, both threads beside each other")
      .needs("--order")
      .excludes("--json")
      .excludes("--csv");
  add_output_option(verb, options->output, "file of the page; - is standard output")
      .needs("--html")
      .show_default();
  choose_form_by_name(verb, {{kPageExtensions, "--html"}});
  verb.callback([options, table, &status] {
    options->table_is_given = table.count() != 0;
    status = run(*options);
  });
}

}  // namespace telltale::cli
