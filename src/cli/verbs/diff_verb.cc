#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/calls/recording_diff.h"
#include "cli/options/open_one.h"
#include "cli/options/reading_options.h"
#include "cli/verbs/verbs.h"
#include "import/timed_calls.h"
#include "output/escape.h"
#include "output/json_writer.h"
#include "output/table/json_document.h"
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
  std::string gate;
  std::string gate_by = "function";
  uint64_t gate_floor_ns = 0;
  std::string table = "paths";  // printed by --csv
  size_t rows = 20;
};

constexpr std::pair<std::string_view, uint64_t Measures::*> kMeasures[] = {
    {"calls", &Measures::calls}, {"total", &Measures::total_ns}, {"self", &Measures::self_ns}};

// One condition of --gate: the maximum growth of a measure.
struct Gate {
  std::string_view name;
  uint64_t Measures::* measure;
  double limit = 0;  // 0.1: by 10 %
};

// "calls=0%,total=10%".
Result<std::vector<Gate>> parse_gates(std::string_view text) {
  std::vector<Gate> gates;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    const size_t equals = one.find('=');
    const auto known = std::ranges::find(kMeasures, one.substr(0, equals),
                                         &std::pair<std::string_view, uint64_t Measures::*>::first);
    double percent = 0;
    const std::string_view number =
        equals == std::string_view::npos ? std::string_view() : one.substr(equals + 1);
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), percent);
    if (known == std::end(kMeasures) || error != std::errc() || !(percent >= 0) ||
        std::string_view(end, number.data() + number.size()) != "%") {
      return usage_error("--gate needs MEASURE=N%,... with calls, total or self, but got " +
                         std::string(one));
    }
    gates.push_back({known->first, known->second, percent / 100});
  }
  return gates;
}

// What grew by more than its gate allows. Growth from 0 is unlimited.
void check_gates(const std::vector<Gate>& gates, const std::string& name, const Measures& before,
                 const Measures& after, uint64_t floor_ns, std::vector<DiffExcess>& exceeded) {
  for (const Gate& gate : gates) {
    const uint64_t old_value = before.*gate.measure;
    const uint64_t new_value = after.*gate.measure;
    if (new_value <= old_value) continue;
    const bool is_time = gate.measure != &Measures::calls;
    if (is_time && new_value - old_value <= floor_ns) continue;
    const double allowed = static_cast<double>(old_value) * (1 + gate.limit);
    if (static_cast<double>(new_value) > allowed) {
      exceeded.push_back({std::string(gate.name), name, old_value, new_value});
    }
  }
}

std::vector<DiffExcess> find_exceeded(const RecordingDiff& diff, const std::vector<Gate>& gates,
                                      const DiffOptions& options) {
  std::vector<DiffExcess> exceeded;
  const auto check = [&](const std::string& name, const Measures& before, const Measures& after) {
    check_gates(gates, name, before, after, options.gate_floor_ns, exceeded);
  };
  if (options.gate_by == "all") check("all calls", diff.before, diff.after);
  if (options.gate_by == "function") {
    for (const RecordingDiff::Row& row : diff.functions) check(row.name, row.before, row.after);
  }
  if (options.gate_by == "path") {
    for (size_t i = 0; i < diff.paths.size(); ++i) {
      check(path_text(diff, i, 64), diff.paths[i].before, diff.paths[i].after);
    }
  }
  return exceeded;
}

std::string to_json(const RecordingDiff& diff, const DiffOptions& options,
                    const std::vector<DiffExcess>& exceeded, const ProblemLog& problems) {
  std::string out;
  JsonWriter json(out, 2);
  const auto side = [&](const char* key, const std::string& file, const Measures& whole) {
    json.key(key).begin_object().member("file", file).member("calls", whole.calls);
    json.member("total_ns", whole.total_ns).end_object();
  };
  begin_document(json, schemas::kDiff, {});
  side("before", options.reading.files[0], diff.before);
  side("after", options.reading.files[1], diff.after);
  json.key("functions");
  diff_function_table(diff).write_json_rows(json);
  json.key("paths");
  diff_path_table(diff).write_json_rows(json);
  json.key("exceeded");
  exceeded_table(exceeded).write_json_rows(json);
  end_document(json, problems);
  return out;
}

std::string to_text(const RecordingDiff& diff, const DiffOptions& options) {
  const auto side = [](const char* name, const std::string& file, const Measures& whole) {
    return fmt::format("{} {}: {} calls, {} in outermost calls\n", name, visible(file), whole.calls,
                       show_duration(static_cast<double>(whole.total_ns)));
  };
  std::string out = side("A", options.reading.files[0], diff.before) +
                    side("B", options.reading.files[1], diff.after);
  out += "\nFunctions, by difference in self time\n" +
         shown_diff_functions(diff, options.rows).to_text();
  out += "\nPaths, by difference in total time\n" + shown_diff_paths(diff, options.rows).to_text();
  return out;
}

int finish(const RecordingDiff& diff, const DiffOptions& options, const std::vector<Gate>& gates,
           const ProblemLog& problems) {
  const std::vector<DiffExcess> exceeded = find_exceeded(diff, gates, options);
  if (options.reading.json) {
    print(to_json(diff, options, exceeded, problems));
  } else if (options.reading.csv) {
    print((options.table == "paths" ? diff_path_table(diff) : diff_function_table(diff)).to_csv());
  } else {
    print(to_text(diff, options));
  }
  const int damage = report_problems(options.reading, problems);
  constexpr size_t kShown = 20;
  for (size_t i = 0; i < std::min(exceeded.size(), kShown); ++i) {
    const DiffExcess& row = exceeded[i];
    const bool is_time = row.measure != "calls";
    const auto show = [&](uint64_t value) {
      return is_time ? show_duration(static_cast<double>(value)) : fmt::format("{}", value);
    };
    fmt::print(stderr, "telltale: gate: {} of {}: {} before, {} after\n", row.measure,
               visible(row.name), show(row.before), show(row.after));
  }
  if (exceeded.size() > kShown)
    fmt::print(stderr, "telltale: gate: {} more\n", exceeded.size() - kShown);
  return exceeded.empty() ? damage : kFinding;
}

// A recording's tree and profile, from one pass each.
struct Side {
  CallTree tree;
  Profile profile;
};
Result<Side> analyse(const Recording& recording, const DiffOptions& options,
                     const CallFilter& filter, ProblemLog& problems) {
  const TimedCalls& calls = *recording.timed_calls();
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

int run(const DiffOptions& options) {
  const Result<CallFilter> filter = options.reading.filter();
  if (!filter) return report_error(filter.error());
  const Result<std::vector<Gate>> gates = parse_gates(options.gate);
  if (!gates) return report_error(gates.error());
  const auto before = open_one(options.reading, 0, options.programs_before);
  if (!before) return report_error(before.error());
  const auto after = open_one(options.reading, 1, options.programs_after);
  if (!after) return report_error(after.error());
  ProblemLog problems;
  const Result<Side> left = analyse(**before, options, *filter, problems);
  if (!left) return report_error(left.error());
  const Result<Side> right = analyse(**after, options, *filter, problems);
  if (!right) return report_error(right.error());
  const TimedCalls& a = *(*before)->timed_calls();
  const TimedCalls& b = *(*after)->timed_calls();
  const RecordingDiff diff =
      make_recording_diff({left->tree, left->profile, a.clock(), a.functions()},
                          {right->tree, right->profile, b.clock(), b.functions()});
  return finish(diff, options, *gates, problems);
}

}  // namespace

void add_diff_verb(Command app, int& status) {
  Command verb = app.add_verb(
      "diff", "compare two recordings by function and path: calls and time before and after");
  const auto options = std::make_shared<DiffOptions>();
  add_reading_options(verb, options->reading);
  add_csv_option(verb, options->reading);
  verb.option("FILE").expected(2).description("the recording before and the one after");
  verb.add_option("--program-a", options->programs_before,
                  "program that names the first recording's ids")
      .type_name("BIN")
      .one_value_each();
  verb.add_option("--program-b", options->programs_after,
                  "program that names the second recording's ids")
      .type_name("BIN")
      .one_value_each();
  verb.add_option(
          "--gate", options->gate,
          "exit status 1 if calls, total or self time grow by more than this: calls=0%,total=10%")
      .type_name("MEASURE=N%,...");
  verb.add_option("--gate-by", options->gate_by, "what the gate compares")
      .one_of({"function", "path", "all"})
      .show_default();
  verb.add_option("--gate-floor-ns", options->gate_floor_ns,
                  "the gate ignores growth of a time up to this")
      .type_name("NS");
  verb.add_option("--table", options->table, "what --csv prints")
      .one_of({"paths", "functions"})
      .show_default();
  verb.add_option("--rows", options->rows, "rows of each text table; 0: all").show_default();
  verb.callback([options, &status] { status = run(*options); });
}

}  // namespace telltale::cli
