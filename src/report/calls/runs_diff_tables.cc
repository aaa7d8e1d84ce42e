#include "report/calls/runs_diff_tables.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <functional>

#include "base/sort_rows.h"
#include "report/calls/call_fields.h"
#include "report/schemas/schemas.h"

namespace telltale {
namespace {

using field::count;
using field::ns;
using field::number;
using field::rows;
using field::text;
using reports::kFunction;

constexpr Field kRatio =
    number("self_ratio", Unit::none, "Geometric mean of self times after, relative to before.");
constexpr Field kLow =
    number("self_ratio_low", Unit::none, "Lower end of the ratio's 95 % interval; 0: unknown.");
constexpr Field kHigh =
    number("self_ratio_high", Unit::none, "Upper end of it; null: unknown.").or_null();
constexpr std::array kRunsFunctions = {
    ns("self_ns_before_min", "Least self time of a run before."),
    ns("self_ns_before", "Median of the runs' self times before."),
    ns("self_ns_before_max", "Largest self time of a run before."),
    ns("self_ns_after_min", "Least self time of a run after."),
    ns("self_ns_after", "Median of the runs' self times after."),
    ns("self_ns_after_max", "Largest self time of a run after."),
    kRatio,
    kLow,
    kHigh,
    ns("total_ns_before", "Median of the runs' total times before."),
    ns("total_ns_after", "Median of the runs' total times after."),
    count("calls_before_min", "Least number of calls in a run before."),
    count("calls_before", "Median of the runs' calls before."),
    count("calls_before_max", "Largest number of calls in a run before."),
    count("calls_after_min", "Least number of calls in a run after."),
    count("calls_after", "Median of the runs' calls after."),
    count("calls_after_max", "Largest number of calls in a run after."),
    kFunction,
};
constexpr std::array kRunsExceeded = {
    text("measure", "calls, total or self."),
    text("name", "The function, or all calls."),
    count("before", "Median before; times in ns."),
    count("after", "Median after; times in ns."),
    number("ratio", Unit::none,
           "Geometric mean after, relative to before; null, as the next: no run before has it.")
        .or_null(),
    number("ratio_low", Unit::none,
           "Lower end of its 95 % interval; of calls: least after, "
           "relative to most before.")
        .or_null(),
};
constexpr std::array kRunsMembers = {
    count("runs_before", "Recordings before."),
    count("runs_after", "Recordings after."),
    rows("functions", kRunsFunctions,
         "Functions, the largest difference of median self time first."),
    rows("exceeded", kRunsExceeded, "What grew by more than --gate allows, for certain."),
};
constexpr std::array kShown = {
    kRunsFunctions[1].titled("SELF A"),
    kRunsFunctions[4].titled("SELF B"),
    text("change", "Change of the geometric mean.").titled("CHANGE").aligned_right(),
    text("interval", "95 % interval of the change.").titled("95 % INTERVAL").aligned_right(),
    text("calls_a", "Calls in the runs before.").titled("CALLS A").aligned_right(),
    text("calls_b", "Calls in the runs after.").titled("CALLS B").aligned_right(),
    kFunction,
};

struct ComparedRow {
  const RunsDiff::Row* row = nullptr;
  RunsComparison calls;
  RunsComparison total;
  RunsComparison self;

  [[nodiscard]] uint64_t difference() const {
    const uint64_t a = self.before.median;
    const uint64_t b = self.after.median;
    return a > b ? a - b : b - a;
  }
};

std::vector<ComparedRow> largest_first(const RunsDiff& diff) {
  std::vector<ComparedRow> compared;
  for (const RunsDiff::Row& row : diff.functions) {
    compared.push_back({&row, compare_runs(row.before.calls, row.after.calls),
                        compare_runs(row.before.total_ns, row.after.total_ns),
                        compare_runs(row.before.self_ns, row.after.self_ns)});
  }
  sort_rows(compared, std::greater(), &ComparedRow::difference);
  return compared;
}

TableCell if_finite(double number) {
  return std::isfinite(number) ? TableCell(number) : TableCell();
}

// "12" if all runs agree, else "10..12".
std::string range_of(const RunsComparison::Side& side) {
  return side.least == side.most ? fmt::format("{}", side.least)
                                 : fmt::format("{}..{}", side.least, side.most);
}

}  // namespace

std::string change_of(double ratio) {
  if (!std::isfinite(ratio)) return "-";
  constexpr double kManyTimes = 10;
  if (ratio >= kManyTimes) return fmt::format("x {:.4g}", ratio);
  return fmt::format("{:+.1f} %", 100 * (ratio - 1));
}

std::string interval_of(const RunsComparison& compared) {
  if (!std::isfinite(compared.ratio_high)) return "unknown";
  return change_of(compared.ratio_low) + " .. " + change_of(compared.ratio_high);
}

Table runs_function_table(const RunsDiff& diff) {
  Table table(kRunsFunctions);
  for (const ComparedRow& one : largest_first(diff)) {
    table.add_row({one.self.before.least, one.self.before.median, one.self.before.most,
                   one.self.after.least, one.self.after.median, one.self.after.most, one.self.ratio,
                   one.self.ratio_low, if_finite(one.self.ratio_high), one.total.before.median,
                   one.total.after.median, one.calls.before.least, one.calls.before.median,
                   one.calls.before.most, one.calls.after.least, one.calls.after.median,
                   one.calls.after.most, one.row->name});
  }
  return table;
}

Table runs_exceeded_table(const std::vector<RunsExcess>& exceeded) {
  Table table(kRunsExceeded);
  for (const RunsExcess& one : exceeded) {
    const bool is_new = one.compared.before.most == 0;
    table.add_row({one.measure, one.name, one.compared.before.median, one.compared.after.median,
                   is_new ? TableCell() : TableCell(one.compared.ratio),
                   is_new ? TableCell() : TableCell(one.compared.ratio_low)});
  }
  return table;
}

Table shown_runs_functions(const RunsDiff& diff, size_t rows_shown) {
  Table table(kShown);
  for (const ComparedRow& one : largest_first(diff)) {
    if (rows_shown != 0 && table.rows() == rows_shown) break;
    table.add_row({one.self.before.median, one.self.after.median, change_of(one.self.ratio),
                   interval_of(one.self), range_of(one.calls.before), range_of(one.calls.after),
                   one.row->name});
  }
  return table;
}

constinit const DocumentSchema schemas::kDiffRuns{
    "diff-runs", 1, "Several recordings of each of two programs, aligned by name.", false,
    kRunsMembers};

}  // namespace telltale
