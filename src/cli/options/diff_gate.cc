#include "cli/options/diff_gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "base/counted.h"
#include "cli/options/message.h"
#include "cli/options/reading_options.h"
#include "import/xray/xray_side_record.h"
#include "output/escape.h"
#include "output/table/show_units.h"

namespace telltale::cli {
namespace {

constexpr std::pair<std::string_view, GatedMeasure> kMeasures[] = {
    {"calls", GatedMeasure::calls}, {"total", GatedMeasure::total}, {"self", GatedMeasure::self}};

}  // namespace

void add_diff_gate_options(Command verb, DiffGateOptions& options) {
  verb.add_option(
          "--gate", options.gate,
          "exit status 1 if calls, total or self time grow by more than this: calls=0%,total=10%")
      .type_name("MEASURE=N%,...");
  verb.add_option("--gate-floor", options.floor,
                  "the gate ignores growth of a time up to this: 10us; without a unit in seconds")
      .type_name("DURATION")
      .needs("--gate");
  verb.add_option("--gate-floor-ns", options.floor_ns, "the same, in nanoseconds")
      .type_name("NS")
      .needs("--gate")
      .excludes("--gate-floor");
}

Result<std::vector<DiffGate>> parse_gates(std::string_view text) {
  std::vector<DiffGate> gates;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    const size_t equals = one.find('=');
    const auto* const known = std::ranges::find(kMeasures, one.substr(0, equals),
                                                &std::pair<std::string_view, GatedMeasure>::first);
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

Result<uint64_t> gate_floor_ns(const DiffGateOptions& options) {
  if (options.floor.empty()) return options.floor_ns;
  const std::optional<uint64_t> floor = parse_duration_option(options.floor);
  // Without a unit, seconds are never meant.
  if (!floor || (options.floor.back() >= '0' && options.floor.back() <= '9' && *floor != 0))
    return usage_error("--gate-floor needs a duration such as 10us, but got " + options.floor);
  return *floor;
}

GatedSide::Run gated_run(const std::string& file, uint64_t calls, const Recording& recording,
                         const ProblemLog& problems) {
  const std::vector<Problem> kept = problems.kept();
  // What a ring replaced is missing, too.
  const bool incomplete = std::ranges::any_of(kept, [](const Problem& problem) {
    return is_damage(problem.kind) || problem.kind == Problem::Kind::by_design;
  });
  return {file,
          calls,
          incomplete,
          problems.damaged(),
          recording.left_out_events(),
          recording.function_choices()};
}

Result<void> check_gated_calls(const DiffGateOptions& options, const GatedSide& before,
                               const GatedSide& after, bool all) {
  if (options.gate.empty()) return {};
  std::vector<std::string> empty;
  for (const GatedSide* const side : {&before, &after}) {
    const auto is_empty = [](const GatedSide::Run& run) { return run.calls == 0; };
    const auto first = std::ranges::find_if(side->runs, is_empty);
    if (first == side->runs.end()) continue;
    empty.push_back(std::ranges::all_of(side->runs, is_empty)
                        ? std::string(side->name)
                        : fmt::format("{} of {}", first->file, side->name));
  }
  if (empty.empty()) return {};
  return usage_error(fmt::format("--gate has nothing to compare: {} {} no calls{}",
                                 join_words(empty), empty.size() == 1 ? "has" : "have",
                                 all ? "" : " that the options select"));
}

namespace {

// "B", "1 of 3 runs of B"; empty: all its recordings are complete.
std::string incomplete_part(const GatedSide& side) {
  const auto incomplete = std::ranges::count_if(side.runs, &GatedSide::Run::incomplete);
  if (incomplete == 0) return {};
  if (side.runs.size() == 1) return std::string(side.name);
  return fmt::format("{} of {} runs of {}", incomplete, side.runs.size(), side.name);
}

uint64_t left_out_of(const GatedSide& side) {
  uint64_t events = 0;
  for (const GatedSide::Run& run : side.runs) events += run.left_out;
  return events;
}

// "all functions", "those that --function 'a*' chooses".
std::string chosen_part(const GatedSide& side) {
  std::set<std::string> parts;
  for (const GatedSide::Run& run : side.runs) {
    for (const std::string& choice : run.choices) {
      const std::string words = choice_words(choice);
      parts.insert(words.empty() ? "all" : fmt::format("those that {} chooses", words));
    }
  }
  return fmt::format("of {} {}", side.name,
                     join_words(std::vector<std::string>(parts.begin(), parts.end()), "or"));
}

// Says so if the recorder chose functions by different patterns, and returns whether it did.
bool remark_chosen_functions(const GatedSide& before, const GatedSide& after, bool for_gate) {
  const auto differs = [&](const GatedSide::Run& run) {
    return run.choices != before.runs.front().choices;
  };
  if (!std::ranges::any_of(before.runs, differs) && !std::ranges::any_of(after.runs, differs))
    return false;
  print_message(
      "telltale: {}different functions were recorded, {} and {}: calls of a function that was not "
      "recorded count as none\n",
      for_gate ? "gate: " : "", visible(chosen_part(before)), visible(chosen_part(after)));
  return true;
}

// Prints why the verdict covers only a part of what happened. Returns whether it printed anything.
bool remark_missing_calls(const GatedSide& before, const GatedSide& after, bool passed) {
  bool remarked = remark_chosen_functions(before, after, true);
  for (const GatedSide* const side : {&before, &after}) {
    const std::string part = incomplete_part(*side);
    if (part.empty()) continue;
    print_message(
        "telltale: gate: events are missing from {}: calls that were not recorded are not "
        "judged{}\n",
        part,
        passed && std::ranges::any_of(side->runs, &GatedSide::Run::damaged)
            ? "; with --strict, a gate that passes has exit status 4"
            : "");
    remarked = true;
  }
  // The same filters leave out about as much of both.
  const uint64_t left_out_before = left_out_of(before);
  const uint64_t left_out_after = left_out_of(after);
  if ((left_out_before == 0) == (left_out_after == 0)) return remarked;
  const GatedSide& filtered = left_out_before != 0 ? before : after;
  print_message(
      "telltale: gate: the recorder's filters left out {} of {} and none of {}: they were recorded "
      "with different options, or do different work\n",
      counted(left_out_before + left_out_after, "event"), filtered.name,
      left_out_before != 0 ? after.name : before.name);
  return true;
}

}  // namespace

void remark_chosen_functions(const Recording& before, const Recording& after) {
  const auto side = [](std::string_view name, const Recording& recording) {
    GatedSide::Run run;
    run.choices = recording.function_choices();
    return GatedSide{name, {std::move(run)}};
  };
  remark_chosen_functions(side("A", before), side("B", after), false);
}

void GateOutcome::add(Growth worst) {
  ++compared_;
  if (worst == Growth::exceeded) ++exceeded_;
  if (worst == Growth::below_floor) ++below_floor_;
}

void GateOutcome::print(const DiffGateOptions& options, uint64_t floor_ns, std::string_view noun,
                        const GatedSide& before, const GatedSide& after) const {
  if (options.gate.empty()) {
    remark_chosen_functions(before, after, false);
    return;
  }
  const bool passed = exceeded_ == 0;
  const bool in_part = remark_missing_calls(before, after, passed);
  std::string line = fmt::format(
      "gate {}{}: {} of {} grew by more than {} allows", passed ? "passed" : "failed",
      passed && in_part ? " on what was recorded" : "",
      passed ? "none" : fmt::format("{}", exceeded_), counted(compared_, noun), options.gate);
  if (below_floor_ != 0) {
    line += fmt::format("; {} grew by more than that, but by no more than the floor of {}",
                        below_floor_, show_duration(static_cast<double>(floor_ns)));
  }
  print_message("telltale: {}\n", line);
}

}  // namespace telltale::cli
