// Exceptions: how many, and where they are thrown.
#include <array>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/runtime/weighted_stacks.h"
#include "base/sort_rows.h"
#include "report/runtime/runtime_fields.h"
#include "report/runtime/runtime_readings.h"
#include "report/runtime/runtime_reports.h"

namespace telltale::reports {
namespace {

using field::count;
using field::fraction;
using field::rows;
using field::text;

constexpr std::array kThrows = {count("throws", "Exceptions thrown.").titled("THROWN"), kStack};
constexpr std::array kExceptionMembers = {
    count("throws", "Exceptions thrown.").titled("Thrown"),
    count("catch", "Catch clauses run.").titled("Catch clauses run"),
    count("filter", "Filter clauses run.").titled("Filter clauses run"),
    count("finally", "Finally clauses run.").titled("Finally clauses run"),
    count("fault", "Fault clauses run.").titled("Fault clauses run"),
    rows("traces", kThrows, "Exceptions by stack.").titled("Exceptions by stack").sometimes(),
};

void make_exception(const ReportInput& input, Section& section) {
  using Kind = ClauseEvent::Kind;
  const RuntimeReadings& in = *input.runtime;
  const ThrownExceptions& exceptions = in.facts->exceptions;
  section.add("throws", exceptions.throws());
  section.add("catch", exceptions.clauses(Kind::catches));
  section.add("filter", exceptions.clauses(Kind::filter));
  section.add("finally", exceptions.clauses(Kind::finally));
  section.add("fault", exceptions.clauses(Kind::fault));
  if (!in.stacks) return;
  Table traces(kThrows);
  in.add_traces(traces, {}, in.stacks->throws, 0);
  section.add("traces", std::move(traces));
}

constexpr std::array kHot = {
    count("throws", "Exceptions thrown."),
    fraction("share", "Of all exceptions."),
    text("type", "Type of the exception.").or_null(),
};
constexpr auto kSites = with_last(kHot, text("site", "Method that throws."));
constexpr auto kStacks = with_last(kHot, kStack);
constexpr std::array kHotspotsMembers = {
    count("throws", "Exceptions thrown.").titled("exceptions"),
    rows("sites", kSites, "By the method that throws."),
    rows("stacks", kStacks, "By stack.").titled("By stack"),
};

// By the place where they are thrown, and their type.
using Throws = std::map<std::pair<std::string, std::string>, uint64_t>;

Table throws_table(const TableSchema& schema, const Throws& counts, uint64_t all, size_t limit) {
  std::vector<std::pair<std::pair<std::string, std::string>, uint64_t>> sorted(counts.begin(),
                                                                               counts.end());
  sort_rows(sorted, std::greater(), [](const auto& one) { return one.second; });
  if (sorted.size() > limit) sorted.resize(limit);
  Table table(schema);
  table.set_total(counts.size());
  for (const auto& [names, count_of] : sorted) {
    const auto& [place, type] = names;
    table.add_row({count_of, static_cast<double>(count_of) / static_cast<double>(all),
                   type.empty() ? TableCell() : TableCell(type), place});
  }
  return table;
}

void make_hotspots(const ReportInput& input, Section& section) {
  RuntimeReadings& in = *input.runtime;
  const WeightedStacks thrown = in.weighted_stacks(StackMetric::throws, in.filter());
  Throws by_site;
  Throws by_stack;
  uint64_t all = 0;
  for (const auto& [stream, sums] : thrown.by_stream) {
    for (const auto& [owner, of_type] : sums.by_owner()) {
      const std::string type = owner == 0 ? "" : std::string(thrown.types.describe(owner).name);
      for (const auto& [id, sum] : of_type) {
        const auto stack = static_cast<StackTable::Id>(id);
        by_site[{in.site_text(thrown.stacks, stack, {}), type}] += sum.count;
        by_stack[{in.stack_text(thrown.stacks, stack), type}] += sum.count;
        all += sum.count;
      }
    }
  }
  section.add("throws", all);
  section.add("sites", throws_table(kSites, by_site, all, in.shown_rows()));
  section.add("stacks", throws_table(kStacks, by_stack, all, in.shown_rows()));
}

}  // namespace

constinit const Report kException{.name = "exception",
                                  .title = "Exceptions",
                                  .sentence = "Exceptions, and clauses that ran.",
                                  .needs = Capability::runtime_events,
                                  .members = kExceptionMembers,
                                  .make = make_exception,
                                  .by_default = true,
                                  .reads = RuntimeReadings::facts_read};

constinit const Report kHotspots{.name = "hotspots",
                                 .title = "Where exceptions are thrown",
                                 .sentence = "Where exceptions are thrown.",
                                 .needs = Capability::runtime_events,
                                 .members = kHotspotsMembers,
                                 .make = make_hotspots,
                                 .by_default = false,
                                 .selects_functions = true,
                                 .reads = 0};

}  // namespace telltale::reports
