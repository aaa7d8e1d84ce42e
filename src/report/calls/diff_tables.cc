#include "report/calls/diff_tables.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <functional>

#include "base/sort_rows.h"
#include "report/calls/call_fields.h"
#include "report/schemas/schemas.h"

namespace telltale {
namespace {

using Measures = RecordingDiff::Measures;
using field::change;
using field::count;
using field::ns;
using field::object;
using field::rows;
using field::text;
using reports::kFunction;

constexpr std::array kSide = {
    text("file", "The recording, as it was named."),
    count("calls", "Its calls."),
    ns("total_ns", "Time in its outermost calls."),
};
constexpr Field kCallsBefore = count("calls_before", "Calls in the first recording.");
constexpr Field kCallsAfter = count("calls_after", "Calls in the second recording.");
constexpr Field kTotalBefore = ns("total_ns_before", "Total time in the first recording.");
constexpr Field kTotalAfter = ns("total_ns_after", "Total time in the second recording.");
constexpr Field kSelfBefore = ns("self_ns_before", "Self time in the first recording.");
constexpr Field kSelfAfter = ns("self_ns_after", "Self time in the second recording.");
constexpr Field kCallsChange =
    change("calls_difference", Unit::count, "Calls after less calls before.");
constexpr Field kTotalChange =
    change("total_ns_difference", Unit::ns, "Total time after less before.");
constexpr Field kSelfChange =
    change("self_ns_difference", Unit::ns, "Self time after less before.");
constexpr Field kFate = text("fate", "new, vanished, or empty if both recordings have it.");
constexpr std::array kFunctions = {kCallsBefore, kCallsAfter, kTotalBefore, kTotalAfter,
                                   kSelfBefore,  kSelfAfter,  kCallsChange, kTotalChange,
                                   kSelfChange,  kFate,       kFunction};
constexpr std::array kPaths = {kCallsBefore,
                               kCallsAfter,
                               kTotalBefore,
                               kTotalAfter,
                               kSelfBefore,
                               kSelfAfter,
                               kCallsChange,
                               kTotalChange,
                               kSelfChange,
                               kFate,
                               text("path", "Frames from the outermost.")};
constexpr std::array kExceeded = {
    text("measure", "calls, total or self."),
    text("name", "The function or path."),
    count("before", "The measure before; times in ns."),
    count("after", "The measure after."),
};
constexpr std::array kMembers = {
    object("before", kSide, "The recording before."),
    object("after", kSide, "The recording after."),
    rows("functions", kFunctions, "Functions, the largest difference of self time first."),
    rows("paths", kPaths, "Paths of calls, the largest difference of total time first."),
    rows("exceeded", kExceeded, "What grew by more than --gate allows."),
};

// Text output.
constexpr Field kShownChange = text("change", "Relative change of the time.");
constexpr Field kShownFate = kFate.titled("");
constexpr Field kCallsA = kCallsBefore.titled("CALLS A");
constexpr Field kCallsB = kCallsAfter.titled("CALLS B");
constexpr std::array kShownFunctions = {kSelfBefore.titled("SELF A"),
                                        kSelfAfter.titled("SELF B"),
                                        kShownChange,
                                        kCallsA,
                                        kCallsB,
                                        kShownFate,
                                        kFunction};
constexpr std::array kShownPaths = {kTotalBefore.titled("TOTAL A"),
                                    kTotalAfter.titled("TOTAL B"),
                                    kShownChange,
                                    kCallsA,
                                    kCallsB,
                                    kShownFate,
                                    text("path", "Frames from the outermost.")};
constexpr size_t kShownFrames = 12;
constexpr size_t kMostFrames = 128;

int64_t difference(uint64_t before, uint64_t after) { return static_cast<int64_t>(after - before); }

const char* fate(const RecordingDiff::Row& row) {
  if (!row.before.seen()) return "new";
  return row.after.seen() ? "" : "vanished";
}

// Relative change such as "+12.3 %"; empty if the old value is 0.
std::string relative_change(uint64_t before, uint64_t after) {
  if (before == 0) return "";
  const double ratio = static_cast<double>(after) / static_cast<double>(before) - 1;
  return fmt::format("{:+.1f} %", 100 * ratio);
}

// The rows with the largest absolute difference in a measure; all if `limit` is 0.
template <typename Row>
std::vector<const Row*> largest(const std::vector<Row>& all, uint64_t Measures::* measure,
                                size_t limit) {
  std::vector<const Row*> sorted;
  for (const Row& row : all) sorted.push_back(&row);
  const auto size = [measure](const Row* row) {
    const uint64_t a = row->before.*measure;
    const uint64_t b = row->after.*measure;
    return a > b ? a - b : b - a;
  };
  sort_rows(sorted, std::greater(), size);
  if (limit != 0 && sorted.size() > limit) sorted.resize(limit);
  return sorted;
}

void add_row(Table& table, const RecordingDiff::Row& row, std::string name) {
  const Measures& a = row.before;
  const Measures& b = row.after;
  table.add_row({a.calls, b.calls, a.total_ns, b.total_ns, a.self_ns, b.self_ns,
                 difference(a.calls, b.calls), difference(a.total_ns, b.total_ns),
                 difference(a.self_ns, b.self_ns), std::string(fate(row)), std::move(name)});
}

void add_shown_row(Table& table, const RecordingDiff::Row& row, uint64_t Measures::* time,
                   std::string name) {
  const Measures& a = row.before;
  const Measures& b = row.after;
  table.add_row({a.*time, b.*time, relative_change(a.*time, b.*time), a.calls, b.calls,
                 std::string(fate(row)), std::move(name)});
}

// Whether a callee of the path has its difference in time, up to a tenth; the callee is in both
// recordings, or in one, as the path is.
std::vector<bool> find_explained(const RecordingDiff& diff) {
  std::vector<bool> explained(diff.paths.size());
  for (const RecordingDiff::PathRow& row : diff.paths) {
    if (row.caller == RecordingDiff::PathRow::kNoRow) continue;
    const RecordingDiff::PathRow& caller = diff.paths[row.caller];
    const auto whole =
        static_cast<double>(difference(caller.before.total_ns, caller.after.total_ns));
    const auto part = static_cast<double>(difference(row.before.total_ns, row.after.total_ns));
    const bool same_fate =
        row.before.seen() == caller.before.seen() && row.after.seen() == caller.after.seen();
    if (whole != 0 && same_fate && std::abs(whole - part) <= std::abs(whole) / 10)
      explained[row.caller] = true;
  }
  return explained;
}

std::string name_of_path(const RecordingDiff& diff, const RecordingDiff::PathRow& row,
                         size_t most_frames) {
  return path_text(diff, static_cast<size_t>(&row - diff.paths.data()), most_frames);
}

}  // namespace

Table diff_function_table(const RecordingDiff& diff) {
  Table table(kFunctions);
  for (const auto* row : largest(diff.functions, &Measures::self_ns, 0))
    add_row(table, *row, row->name);
  return table;
}

Table diff_path_table(const RecordingDiff& diff) {
  Table table(kPaths);
  for (const auto* row : largest(diff.paths, &Measures::total_ns, 0))
    add_row(table, *row, name_of_path(diff, *row, kMostFrames));
  return table;
}

Table exceeded_table(const std::vector<DiffExcess>& exceeded) {
  Table table(kExceeded);
  for (const DiffExcess& row : exceeded)
    table.add_row({row.measure, row.name, row.before, row.after});
  return table;
}

Table shown_diff_functions(const RecordingDiff& diff, size_t rows_shown) {
  Table table(kShownFunctions);
  for (const auto* row : largest(diff.functions, &Measures::self_ns, rows_shown))
    add_shown_row(table, *row, &Measures::self_ns, row->name);
  return table;
}

ShownDiffPaths shown_diff_paths(const RecordingDiff& diff, size_t rows_shown) {
  ShownDiffPaths shown{.table = Table(kShownPaths)};
  const std::vector<bool> explained = find_explained(diff);
  for (const auto* row : largest(diff.paths, &Measures::total_ns, 0)) {
    if (explained[static_cast<size_t>(row - diff.paths.data())]) {
      ++shown.callers_left_out;
      continue;
    }
    add_shown_row(shown.table, *row, &Measures::total_ns, name_of_path(diff, *row, kShownFrames));
    if (shown.table.rows() == rows_shown) break;
  }
  return shown;
}

constinit const DocumentSchema schemas::kDiff{"diff", 1, "Two recordings, aligned by name.", false,
                                              kMembers};

}  // namespace telltale
