// Locks: contention by lock, and waiting by call site.
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/calls/percentile.h"
#include "analysis/runtime/wait_sums.h"
#include "base/sort_rows.h"
#include "report/runtime/runtime_fields.h"
#include "report/runtime/runtime_readings.h"
#include "report/runtime/runtime_reports.h"

namespace telltale::reports {
namespace {

using field::address;
using field::count;
using field::ns;
using field::number;
using field::rows;
using field::text;

constexpr Field kLock = address("object", "Address of the lock.").titled("LOCK");
constexpr std::array kLocks = {
    kPidOrNone,
    kProcessNumber,
    kLock,
    count("contentions", "Contentions."),
    count("acquired", "Waits that got the lock."),
    count("failed", "Waits that did not."),
    ns("wait_ns", "Sum of the waits."),
    ns("max_ns", "Longest wait."),
    number("average_ns", Unit::ns, "Waits divided by contentions.").or_null(),
};
constexpr std::array kContendedTraces = {kPidOrNone, kProcessNumber, kLock,
                                         count("contentions", "Contentions."), kStack};
constexpr std::array kMonitorMembers = {
    count("contentions", "Contentions.").titled("Contentions"),
    count("acquired", "Locks acquired after a contention.").titled("Acquired"),
    count("failures", "Failures to acquire.").titled("Failures"),
    rows("locks", kLocks, "A row for each lock."),
    rows("traces", kContendedTraces, "Contentions by stack.")
        .titled("Contentions by stack")
        .sometimes(),
};

void make_monitor(const ReportInput& input, Section& section) {
  using Kind = MonitorEvent::Kind;
  const RuntimeReadings& in = *input.runtime;
  const LockWaits& waits = in.facts->locks;
  std::vector<std::pair<uint64_t, LockWaits::Lock>> sorted;
  for (const auto& [object, lock] : waits.by_object()) sorted.emplace_back(object, lock);
  sort_rows(sorted, [](const auto& a, const auto& b) {
    return std::tuple(~a.second.wait, a.first) < std::tuple(~b.second.wait, b.first);
  });
  section.add("contentions", waits.events(Kind::contended));
  section.add("acquired", waits.events(Kind::acquired));
  section.add("failures", waits.events(Kind::failed));
  Table locks(in.by_process(kLocks));
  Table traces(in.by_process(kContendedTraces));
  for (const auto& [object, lock] : sorted) {
    if (locks.rows() >= in.all_rows()) break;
    TableCell average;  // a lock without contention has none
    if (lock.contentions != 0)
      average = static_cast<double>(lock.wait) / static_cast<double>(lock.contentions);
    const auto [pid, number] = in.process_cells(object);
    locks.add_row({pid, number, in.address(object), lock.contentions, lock.acquired, lock.failed,
                   lock.wait, lock.longest, average});
    if (in.stacks) {
      in.add_traces(traces, {pid, number, in.address(object)}, in.stacks->contentions, object);
    }
  }
  section.add("locks", std::move(locks));
  if (in.stacks) section.add("traces", std::move(traces));
}

constexpr std::array kWaits = {
    ns("blocked_ns", "Time spent waiting."),
    count("waits", "Waits."),
    count("acquired", "Waits that got the lock."),
    count("failed", "Waits that did not."),
    ns("median_ns", "Median of the waits."),
    ns("max_ns", "Longest wait."),
    count("locks", "Different locks."),
    count("threads", "Different threads."),
};
constexpr auto kWaitSites = with_last(kWaits, text("site", "Method that waits."));
constexpr auto kWaitStacks = with_last(kWaits, kStack);
constexpr std::array kContentionMembers = {
    count("waits", "Waits.").titled("waits"),
    count("unfinished", "Waits that were not over at the end.").titled("still waiting at the end"),
    ns("total_blocked_ns", "Sum of the waits.").titled("total wait").sometimes(),
    ns("p50_blocked_ns", "Median of the waits.").titled("50 % of wait at most").sometimes(),
    ns("p90_blocked_ns", "90 % of the waits are not longer.")
        .titled("90 % of wait at most")
        .sometimes(),
    ns("p99_blocked_ns", "99 % of the waits are not longer.")
        .titled("99 % of wait at most")
        .sometimes(),
    ns("max_blocked_ns", "Longest wait.").titled("longest wait").sometimes(),
    rows("sites", kWaitSites, "By the method that waits."),
    rows("stacks", kWaitStacks, "By stack.").titled("By stack"),
};

// A row for each name, the longest waits first.
Table waits_table(const TableSchema& schema, const std::map<std::string, WaitSums>& sums,
                  size_t limit) {
  std::vector<const std::pair<const std::string, WaitSums>*> sorted;
  for (const auto& one : sums) sorted.push_back(&one);
  sort_rows(sorted, std::greater(), [](const auto* one) { return one->second.total; });
  if (sorted.size() > limit) sorted.resize(limit);
  Table table(schema);
  table.set_total(sums.size());
  for (const auto* one : sorted) {
    const auto& [name, sum] = *one;
    std::vector<Ticks> lengths = sum.lengths();
    std::ranges::sort(lengths);
    table.add_row({sum.total, sum.waits(), sum.acquired, sum.failed, percentile(lengths, 50),
                   lengths.back(), sum.locks(), sum.threads(), name});
  }
  return table;
}

void make_contention(const ReportInput& input, Section& section) {
  RuntimeReadings& in = *input.runtime;
  const RuntimeTimeline& timeline = in.timeline();
  std::map<std::string, WaitSums> by_site;
  std::map<std::string, WaitSums> by_stack;
  WaitSums all;
  for (const RuntimeTimeline::Wait& wait : timeline.waits) {
    if (!in.in_window(wait.begin) || !in.keeps_thread(wait.stream)) continue;
    all.add(wait);
    by_site[in.site_text(timeline.stacks, wait.stack, "System.Threading.Monitor:")].add(wait);
    by_stack[in.stack_text(timeline.stacks, wait.stack)].add(wait);
  }
  section.add("waits", all.waits());
  section.add("unfinished", all.unfinished);
  if (all.lengths().empty()) section.add("total_blocked_ns", uint64_t{0});
  add_percentiles(section, "blocked_ns", all.lengths());
  section.add("sites", waits_table(kWaitSites, by_site, in.shown_rows()));
  section.add("stacks", waits_table(kWaitStacks, by_stack, in.shown_rows()));
}

}  // namespace

constinit const Report kMonitor{.name = "monitor",
                                .title = "Locks",
                                .sentence = "Contention by lock.",
                                .needs = Capability::runtime_events,
                                .members = kMonitorMembers,
                                .make = make_monitor,
                                .by_default = true,
                                .reads = RuntimeReadings::facts_read};

constinit const Report kContention{.name = "contention",
                                   .title = "Waiting for locks, by call site",
                                   .sentence = "Waiting for locks, by call site.",
                                   .needs = Capability::runtime_events,
                                   .members = kContentionMembers,
                                   .make = make_contention,
                                   .by_default = false,
                                   .selects_functions = true,
                                   .reads = 0};

}  // namespace telltale::reports
