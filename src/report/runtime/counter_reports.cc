// The runtime's counters: their values, and their course.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/runtime/counter_values_in_order.h"
#include "output/table/counter_cell.h"
#include "report/runtime/runtime_fields.h"
#include "report/runtime/runtime_readings.h"
#include "report/runtime/runtime_reports.h"

namespace telltale::reports {
namespace {

using field::count;
using field::rows;
using field::scalar;
using field::text;

constexpr std::array kValues = {
    kPid,
    kProcessNumber,
    kAt.sometimes(),
    kSection,
    kCounterName.titled("COUNTER"),
    text("type", "Type of its values.").sometimes(),
    text("unit", "Unit of its values.").sometimes(),
    text("variance", "How it changes.").sometimes(),
    scalar("value", "The value.").or_null(),
    text("shown", "The value as mprof-report writes it.").titled("IN WORDS").aligned_right(),
};
constexpr std::array kCountersMembers = {
    rows("counters", kValues, "Last values; with --verbose, all.")};

// Counters that are shown without --verbose, as in mprof-report.
constexpr std::array<std::string_view, 14> kMainCounters = {"Methods from AOT",
                                                            "Methods JITted using mono JIT",
                                                            "Methods JITted using LLVM",
                                                            "Total time spent JITting (sec)",
                                                            "User Time",
                                                            "System Time",
                                                            "Total Time",
                                                            "Working Set",
                                                            "Private Bytes",
                                                            "Virtual Bytes",
                                                            "Page Faults",
                                                            "CPU Load Average - 1min",
                                                            "CPU Load Average - 5min",
                                                            "CPU Load Average - 15min"};

// Numbers of docs/formats/mono.md, "Counters".
constexpr uint64_t kInt = 0;
constexpr uint64_t kInt64 = 3;
constexpr uint64_t kTimeInterval = 7;
constexpr uint64_t kTimeUnit = 2U << 24;

// The value as mprof-report writes it.
std::string shown(const CounterValues::Counter& counter, const CounterValues::Value& value,
                  bool like_mprof) {
  const auto number = static_cast<int64_t>(value.number);
  switch (value.form) {
    case CounterEvent::Form::signed_number:
      if (counter.type == kTimeInterval)
        return fmt::format("{:.3f}ms", static_cast<double>(number) / 1000);
      if (counter.type == kInt64 && counter.unit == kTimeUnit)
        return fmt::format("{:.3f}ms", static_cast<double>(number) / 10'000);
      // mprof-report prints these with 32 bits.
      if (like_mprof && counter.type == kInt64)
        return fmt::format("{}", static_cast<uint32_t>(value.number));
      if (counter.type == kInt) return fmt::format("{}", static_cast<int32_t>(number));
      return fmt::format("{}", number);
    case CounterEvent::Form::unsigned_number:
      return fmt::format("{}", value.number);
    case CounterEvent::Form::real:
      return fmt::format("{:f}", value.real);
    case CounterEvent::Form::text:
      return value.text;
  }
  return {};
}

template <size_t kCount>
std::string bit_name(uint64_t number, const std::array<const char*, kCount>& names,
                     unsigned shift) {
  const uint64_t index = number >> shift;
  return index < kCount ? names[index] : fmt::format("{}", number);
}
std::string type_text(uint64_t type) {
  static constexpr std::array<const char*, 8> kTypeNames = {
      "Int", "UInt", "Word", "Long", "ULong", "Double", "String", "Interval"};
  return bit_name(type, kTypeNames, 0);
}
std::string unit_text(uint64_t unit) {
  static constexpr std::array<const char*, 5> kUnits = {"Raw", "Bytes", "Time", "Count",
                                                        "Percentage"};
  return bit_name(unit, kUnits, 24);
}
std::string variance_text(uint64_t variance) {
  static constexpr std::array<const char*, 5> kVariances = {"", "Monotonic", "Constant", "",
                                                            "Variable"};
  return bit_name(variance, kVariances, 28);
}

void make_counters(const ReportInput& input, Section& section) {
  const RuntimeReadings& in = *input.runtime;
  const bool like = in.options().like_mprof;
  const bool verbose = in.options().verbose;
  const bool by_category = in.options().counters_sort == "category";
  const auto series = in.facts->counters.series(/*sum_absolute=*/like);
  TableSchema schema = in.by_process(kValues);
  if (!verbose) schema.leave_out({"at_ns"});
  if (!verbose || !by_category) schema.leave_out({"type", "unit", "variance"});
  Table table(schema);
  const auto add_row = [&](const CounterValues::Counter& counter,
                           const CounterValues::Value& value) {
    const ThreadKey& thread = in.stream(counter.stream).thread;
    table.add_row({thread.pid, process_number_cell(thread), in.since_zero(value.time),
                   counter.section, counter.name, type_text(counter.type), unit_text(counter.unit),
                   variance_text(counter.variance), counter_cell(value),
                   shown(counter, value, like)});
  };
  const Ticks from = in.zero() + in.filter().from_ns;
  const auto add_if_wanted = [&](const CounterValues::Counter& counter,
                                 const CounterValues::Value& value) {
    if (value.time >= from) add_row(counter, value);
  };
  if (verbose && !by_category) {
    for_each_in_order_of_time(series, add_if_wanted);
  } else {
    for (const CounterValues::Series& one : series) {
      if (verbose) {
        one.for_each([&](const auto& value) { add_if_wanted(one.counter, value); });
      } else if (std::ranges::find(kMainCounters, one.counter.name) != kMainCounters.end()) {
        one.for_each([&](const auto& value) { add_row(one.counter, value); });  // the last
      }
    }
  }
  section.add("counters", std::move(table));
}

constexpr std::array kCourses = {
    kPid,
    kProcessNumber,
    count("values", "Values in the window."),
    scalar("first", "First value.").or_null(),
    scalar("min", "Smallest value.").or_null(),
    scalar("max", "Largest value.").or_null(),
    scalar("last", "Last value.").or_null(),
    kSection,
    kCounterName,
};
constexpr std::array kEveryValue = {
    kPid, kProcessNumber, kAt, scalar("value", "The value.").or_null(), kSection, kCounterName};
constexpr std::array kSeriesMembers = {
    rows("counters", kCourses, "A row for each counter."),
    rows("values", kEveryValue, "Every value.").titled("Every value").sometimes(),
};

void make_series(const ReportInput& input, Section& section) {
  RuntimeReadings& in = *input.runtime;
  Table counters(in.by_process(kCourses));
  Table values(in.by_process(kEveryValue));
  size_t found = 0;  // counters
  for (const CounterValues::Series& one : in.timeline().counters.series()) {
    uint64_t in_window = 0;
    TableCell first;
    TableCell least;
    TableCell most;
    TableCell last;
    const ThreadKey& thread = in.stream(one.counter.stream).thread;
    const TableCell process_number = process_number_cell(thread);
    one.for_each([&](const CounterValues::Value& value) {
      if (!in.in_window(value.time)) return;
      last = counter_cell(value);
      if (in_window++ == 0) first = least = most = last;
      if (last < least) least = last;
      if (most < last) most = last;
      if (in.options().for_programs)
        values.add_row({thread.pid, process_number, in.since_start(value.time), last,
                        one.counter.section, one.counter.name});
    });
    if (in_window == 0) continue;
    ++found;
    if (counters.rows() < in.shown_rows())
      counters.add_row({thread.pid, process_number, in_window, first, least, most, last,
                        one.counter.section, one.counter.name});
  }
  counters.set_total(found);
  section.add("counters", std::move(counters));
  if (in.options().for_programs) section.add("values", std::move(values));
}

}  // namespace

constinit const Report kCounters{.name = "counters",
                                 .title = "Counters",
                                 .sentence = "Counters of the runtime.",
                                 .needs = Capability::runtime_events,
                                 .members = kCountersMembers,
                                 .make = make_counters,
                                 .by_default = true,
                                 .reads = RuntimeReadings::facts_read};

constinit const Report kSeries{.name = "series",
                               .title = "Counters over time",
                               .sentence = "Counters over time.",
                               .needs = Capability::runtime_events,
                               .members = kSeriesMembers,
                               .make = make_series,
                               .by_default = false,
                               .reads = 0};

}  // namespace telltale::reports
