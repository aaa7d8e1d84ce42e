// Time and calls by method.
#include <array>
#include <utility>
#include <vector>

#include "base/sort_rows.h"
#include "report/runtime/runtime_fields.h"
#include "report/runtime/runtime_readings.h"
#include "report/runtime/runtime_reports.h"

namespace telltale::reports {
namespace {

using field::count;
using field::ms;
using field::ns;
using field::rows;
using field::text;

constexpr Field kMethod = text("method", "Name of the method.");
constexpr std::array kMethods = {
    ns("total_ns", "Time during which the method was on the stack.").sometimes(),
    ns("self_ns", "Time in the method and not in its callees.").sometimes(),
    ms("total_ms", "With --like-mprof: total time; recursion counts at every level.").sometimes(),
    ms("self_ms", "With --like-mprof: self time.").sometimes(),
    count("calls", "Calls."),
    count("unwound", "Calls without an exit of their own.").sometimes(),
    count("unfinished", "Calls open at the end.").sometimes(),
    kMethod,
};
constexpr std::array kCallTraces = {kMethod, count("calls", "Calls."), kStack.titled("CALLERS")};
constexpr std::array kUnmatched = {
    count("position", "Depth below the innermost call.").titled("STACK POSITION"),
    kMethod,
};
constexpr std::array kCallMembers = {
    count("calls", "Calls.").titled("Calls"),
    count("orphan_exits", "Exits without an entry.").titled("Exits without an entry").sometimes(),
    count("unmatched_exits", "With --like-mprof: exits that do not match.")
        .titled("Exits that do not match")
        .sometimes(),
    rows("methods", kMethods, "A row for each method."),
    rows("traces", kCallTraces, "Calls by callers.").titled("Calls by callers").sometimes(),
    rows("unmatched", kUnmatched, "With --like-mprof: exits that do not match.")
        .titled("Exits that do not match")
        .sometimes(),
};

// Time of a method's calls, in either way of counting.
struct CallRow {
  FunctionId function{};
  uint64_t calls = 0;
  uint64_t total = 0;
  uint64_t self = 0;
  uint64_t unwound = 0;
  uint64_t unfinished = 0;
  uint64_t orphan_exits = 0;
};

std::vector<CallRow> call_rows(const RuntimeReadings& in) {
  std::vector<CallRow> rows_made;
  if (in.mprof_calls) {
    for (const MprofCalls::Method& method : in.mprof_calls->methods)
      rows_made.push_back({method.function, method.calls, method.total(), method.self, 0, 0, 0});
  } else if (in.calls) {
    for (const FunctionProfile& row : in.calls->functions) {
      if (row.calls + row.unfinished + row.orphan_exits == 0) continue;
      rows_made.push_back({row.function, row.calls + row.unfinished, row.total, row.self,
                           row.unwound, row.unfinished, row.orphan_exits});
    }
  }
  const std::string& sort = in.options().method_sort;
  sort_rows(rows_made, [&](const CallRow& a, const CallRow& b) {
    if (sort == "calls") return a.calls > b.calls;
    return sort == "self" ? a.self > b.self : a.total > b.total;
  });
  return rows_made;
}

void add_methods(const RuntimeReadings& in, const std::vector<CallRow>& all, Section& section) {
  constexpr uint64_t kMillisecond = 1'000'000;
  const bool like = in.options().like_mprof;
  Table methods(
      like ? TableSchema(kMethods).without({"total_ns", "self_ns", "unwound", "unfinished"})
           : TableSchema(kMethods).without({"total_ms", "self_ms"}));
  Table traces(kCallTraces);
  for (const CallRow& row : all) {
    if (row.calls == 0 || (!in.options().verbose && row.total < kMillisecond)) continue;
    if (methods.rows() >= in.all_rows()) break;
    const std::string& name = in.function_name(row.function);
    methods.add_row({row.total, row.self, row.total / kMillisecond, row.self / kMillisecond,
                     row.calls, row.unwound, row.unfinished, name});
    if (!in.stacks) continue;
    if (const auto* sums = in.stacks->calls.by_owner().find(to_number(row.function)))
      in.add_lines(traces, {name}, *sums, /*recorded_stacks=*/false);
  }
  section.add("methods", std::move(methods));
  if (in.stacks) section.add("traces", std::move(traces));
}

void make_call(const ReportInput& input, Section& section) {
  const RuntimeReadings& in = *input.runtime;
  const std::vector<CallRow> all = call_rows(in);
  uint64_t calls = 0;
  uint64_t orphans = 0;
  for (const CallRow& row : all) {
    calls += row.calls;
    orphans += row.orphan_exits;
  }
  section.add("calls", calls);
  if (in.options().like_mprof) {
    section.add("unmatched_exits", in.mprof_calls->unmatched_count);
  } else {
    section.add("orphan_exits", orphans);
  }
  add_methods(in, all, section);
  if (!in.options().like_mprof) return;
  Table unmatched(kUnmatched);
  for (const MprofCalls::Unmatched& exit : in.mprof_calls->unmatched)
    unmatched.add_row({exit.position, in.function_name(exit.function)});
  section.add("unmatched", std::move(unmatched));
}

}  // namespace

constinit const Report kCall{
    .name = "call",
    .title = "Method calls",
    .sentence = "Time and calls by method.",
    .needs = Capability::runtime_events,
    .members = kCallMembers,
    .make = make_call,
    .by_default = true,
    .selects_functions = true,
    .reads = RuntimeReadings::facts_read | RuntimeReadings::call_times_read};

}  // namespace telltale::reports
