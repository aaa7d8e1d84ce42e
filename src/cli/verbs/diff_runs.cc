#include "cli/verbs/diff_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "analysis/calls/runs_diff.h"
#include "cli/options/compared_names.h"
#include "cli/options/function_match.h"
#include "cli/options/measure_option.h"
#include "cli/options/message.h"
#include "cli/options/open_one.h"
#include "cli/verbs/verbs.h"
#include "import/timed_calls.h"
#include "model/waiting.h"
#include "output/escape.h"
#include "output/json_writer.h"
#include "output/table/json_document.h"
#include "output/table/screen.h"
#include "output/table/show_units.h"
#include "output/table/table.h"
#include "report/calls/runs_diff_tables.h"
#include "report/schemas/schemas.h"

namespace telltale::cli {
namespace {

struct Run {
  std::unique_ptr<const Recording> recording;
  Profile profile;
  ProblemLog problems;
};

// The recordings of one side, read one after the other.
Result<std::vector<Run>> read_side(ReadingOptions reading, const std::vector<std::string>& files,
                                   const std::vector<std::string>& own_programs,
                                   const CallFilter& filter) {
  reading.files = files;
  std::vector<Run> runs;
  for (size_t i = 0; i < files.size(); ++i) {
    auto recording = open_one(reading, i, own_programs);
    if (!recording) return std::unexpected(recording.error());
    CallFilter settled = filter;
    settle_window(**recording, reading, settled);
    Run run;
    run.recording = *std::move(recording);
    run.problems.merge(run.recording->problems());
    run.profile =
        run.recording->timed_calls()->profile({settled, reading.jobs, false}, run.problems);
    runs.push_back(std::move(run));
  }
  return runs;
}

std::vector<RunProfile> profiles_of(const std::vector<Run>& runs) {
  std::vector<RunProfile> profiles;
  for (const Run& run : runs) {
    const TimedCalls& calls = *run.recording->timed_calls();
    profiles.push_back({run.profile, calls.clock(), calls.functions()});
  }
  return profiles;
}

// Errors: usage, if a side lacks the names that are compared.
Result<void> check_names(const RunsDiff& diff, const std::vector<Run>& before,
                         const std::vector<Run>& after, bool for_gate) {
  ComparedNames names;
  for (const Run& run : before) names.add(ComparedNames::kBefore, *run.recording);
  for (const Run& run : after) names.add(ComparedNames::kAfter, *run.recording);
  const auto seen = [](const RunsDiff::Values& side) {
    return std::ranges::any_of(side.calls, [](uint64_t calls) { return calls != 0; });
  };
  for (const RunsDiff::Row& row : diff.functions)
    names.add_function(row.name, seen(row.before), seen(row.after));
  return names.check(for_gate);
}

GatedSide gated_side(std::string_view name, const std::vector<std::string>& files,
                     const std::vector<Run>& runs, const RunsDiff::Values& whole) {
  GatedSide side{.name = name, .runs = {}};
  for (size_t i = 0; i < runs.size(); ++i)
    side.runs.push_back(gated_run(files[i], whole.calls[i], *runs[i].recording, runs[i].problems));
  return side;
}

// Calls are exact: every run after has more than the gate allows over every run before. Times vary:
// the whole confidence interval is above what the gate allows.
void check(const std::vector<DiffGate>& gates, const RunsDiff::Row& row, uint64_t floor_ns,
           std::vector<RunsExcess>& exceeded, GateOutcome& outcome) {
  Growth worst = Growth::allowed;
  for (const DiffGate& gate : gates) {
    const auto values = [&](const RunsDiff::Values& side) -> const std::vector<uint64_t>& {
      if (gate.measure == GatedMeasure::calls) return side.calls;
      return gate.measure == GatedMeasure::total ? side.total_ns : side.self_ns;
    };
    RunsComparison compared = compare_runs(values(row.before), values(row.after));
    const double allowed = 1 + gate.limit;
    Growth growth = Growth::allowed;
    if (gate.measure == GatedMeasure::calls) {
      compared.ratio_low = static_cast<double>(compared.after.least) /
                           static_cast<double>(std::max<uint64_t>(compared.before.most, 1));
      if (static_cast<double>(compared.after.least) >
          static_cast<double>(compared.before.most) * allowed)
        growth = Growth::exceeded;
    } else if (compared.ratio_low > allowed) {
      growth = compared.after.median > compared.before.median + floor_ns ? Growth::exceeded
                                                                         : Growth::below_floor;
    }
    worst = std::max(worst, growth);
    if (growth == Growth::exceeded)
      exceeded.push_back({std::string(gate.name), row.name, compared});
  }
  outcome.add(worst);
}

std::string to_json(const RunsDiff& diff, const DiffRunsOptions& options,
                    const std::vector<RunsExcess>& exceeded, const ProblemLog& problems) {
  std::string out;
  JsonWriter json(out, 2);
  begin_document(json, schemas::kDiffRuns, {});
  json.member("runs_before", uint64_t{options.before.size()});
  json.member("runs_after", uint64_t{options.after.size()});
  json.key("functions");
  runs_function_table(diff).write_json_rows(json);
  json.key("exceeded");
  runs_exceeded_table(exceeded).write_json_rows(json);
  end_document(json, problems);
  return out;
}

std::string to_text(const RunsDiff& diff, const DiffRunsOptions& options) {
  const RunsComparison whole = compare_runs(diff.whole.before.self_ns, diff.whole.after.self_ns);
  const auto side = [](const char* name, const std::vector<std::string>& files,
                       const RunsComparison::Side& times) {
    std::string shown = visible(files.front());
    if (files.size() > 1) shown += fmt::format(" and {} more", files.size() - 1);
    const std::string words = fmt::format("{} {}: median {} in calls ({} .. {})", name, shown,
                                          show_duration(static_cast<double>(times.median)),
                                          show_duration(static_cast<double>(times.least)),
                                          show_duration(static_cast<double>(times.most)));
    return folded(words, 0, 2) + "\n";
  };
  return side("A", options.before, whole.before) + side("B", options.after, whole.after) +
         fmt::format("change of the geometric mean {}, 95 % interval {}\n\n",
                     change_of(whole.ratio), interval_of(whole)) +
         shown_runs_functions(diff, options.rows).to_text();
}

void complain(const std::vector<RunsExcess>& exceeded) {
  constexpr size_t kShown = 20;
  for (size_t i = 0; i < std::min(exceeded.size(), kShown); ++i) {
    const RunsExcess& one = exceeded[i];
    const auto show = [&](uint64_t value) {
      return one.measure == "calls" ? fmt::format("{}", value)
                                    : show_duration(static_cast<double>(value));
    };
    // What no run before has, has grown without limit.
    const bool is_new = one.compared.before.most == 0;
    print_message("telltale: gate: {} of {}: {} before, {} after{}\n", one.measure,
                  visible(one.name), show(one.compared.before.median),
                  show(one.compared.after.median),
                  is_new ? "" : ", at least " + change_of(one.compared.ratio_low));
  }
  if (exceeded.size() > kShown)
    print_message("telltale: gate: {} more\n", exceeded.size() - kShown);
}

}  // namespace

void remark_no_calls(const std::string& file, const Recording& recording, const Profile& profile,
                     const ReadingOptions& reading, CallFilter filter) {
  if (!profile.functions.empty()) return;
  settle_window(recording, reading, filter);
  const TimedCalls& calls = *recording.timed_calls();
  std::string why = describe_no_match(calls, filter, reading.jobs);
  if (why.empty()) why = describe_nothing_measured("time", calls.measures_with_data(reading.jobs));
  print_message("telltale: {}: {}\n", visible(file), why);
}

int diff_runs(const ReadingOptions& reading, const DiffRunsOptions& options) {
  const Result<CallFilter> filter = reading.filter();
  if (!filter) return report_error(filter.error());
  const Result<std::vector<DiffGate>> gates = parse_gates(options.gate.gate);
  if (!gates) return report_error(gates.error());
  const Result<uint64_t> floor_ns = gate_floor_ns(options.gate);
  if (!floor_ns) return report_error(floor_ns.error());
  const bool gates_times = std::ranges::any_of(
      *gates, [](const DiffGate& gate) { return gate.measure != GatedMeasure::calls; });
  if (gates_times && std::min(options.before.size(), options.after.size()) < 2) {
    return report_error(
        usage_error("--gate of times needs two runs or more of each side: one says nothing of how "
                    "much they vary; `telltale diff A B --gate` compares two single recordings")
            .error());
  }
  const auto before = read_side(reading, options.before, options.programs_before, *filter);
  if (!before) return report_error(before.error());
  const auto after = read_side(reading, options.after, options.programs_after, *filter);
  if (!after) return report_error(after.error());
  ProblemLog problems;
  for (const auto& [side, files] :
       {std::pair(&*before, &options.before), std::pair(&*after, &options.after)}) {
    for (size_t i = 0; i < side->size(); ++i) {
      const Run& run = (*side)[i];
      problems.merge(run.problems);
      remark_no_calls((*files)[i], *run.recording, run.profile, reading, *filter);
    }
  }
  const RunsDiff diff =
      make_runs_diff(profiles_of(*before), profiles_of(*after), reading.name_style());
  if (const Result<void> named = check_names(diff, *before, *after, !gates->empty()); !named)
    return report_error(named.error());
  std::vector<RunsExcess> exceeded;
  GateOutcome outcome;
  if (options.gate_all) {
    check(*gates, diff.whole, *floor_ns, exceeded, outcome);
  } else {
    for (const RunsDiff::Row& row : diff.functions)
      if (row.name != kWaitingName) check(*gates, row, *floor_ns, exceeded, outcome);
  }
  if (reading.json) {
    print(to_json(diff, options, exceeded, problems));
  } else if (reading.csv) {
    print(runs_function_table(diff).to_csv());
  } else {
    print(to_text(diff, options));
  }
  const ReadingOptions with_programs =
      with_programs_of_sides(reading, options.programs_before, options.programs_after);
  for (const RunsDiff::Row& row : diff.functions)
    if (remark_if_number(row.name, with_programs)) break;
  const int damage = report_problems(reading, problems);
  complain(exceeded);
  const GatedSide gated_before = gated_side("A", options.before, *before, diff.whole.before);
  const GatedSide gated_after = gated_side("B", options.after, *after, diff.whole.after);
  if (const Result<void> checked =
          check_gated_calls(options.gate, gated_before, gated_after, filter->keeps_everything());
      !checked)
    return report_error(checked.error());
  outcome.print(options.gate, *floor_ns, options.gate_all ? "sum" : "function", gated_before,
                gated_after);
  return exceeded.empty() ? damage : kFinding;
}

}  // namespace telltale::cli
