// Threads: which there were, and what they did over time.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/joined.h"
#include "report/runtime/runtime_fields.h"
#include "report/runtime/runtime_readings.h"
#include "report/runtime/runtime_reports.h"

namespace telltale::reports {
namespace {

using field::address;
using field::bytes;
using field::count;
using field::ns;
using field::rows;
using field::signed_id;
using field::text;

constexpr std::array kThreads = {
    kPid,
    kProcessNumber,
    address("id", "Thread.").titled("THREAD"),
    count("starts", "Starts."),
    count("ends", "Ends."),
    kLastName,
    kAllNames,
};
constexpr std::array kThreadMembers = {rows("threads", kThreads, "Threads that wrote events.")};

void make_thread(const ReportInput& input, Section& section) {
  const RuntimeReadings& in = *input.runtime;
  Table table(in.by_process(kThreads));
  auto threads = in.facts->modules.threads();
  std::ranges::reverse(threads);  // the last to appear first
  for (const LoadedModules::Thread& thread : threads) {
    table.add_row({in.pid(thread.process), in.process_number(thread.process),
                   hex(static_cast<uint64_t>(thread.id)), thread.starts, thread.ends, thread.name,
                   joined(thread.names, ", ")});
  }
  section.add("threads", std::move(table));
}

constexpr std::array kTimes = {
    signed_id("pid", "Process; 0 if the recording does not say."),
    kProcessNumber,
    signed_id("tid", "Thread."),
    text("name", "Name of the thread."),
    ns("started_ns", "When it started.").or_null(),
    ns("ended_ns", "When it ended.").or_null(),
    ns("first_ns", "Its first event.").titled("FIRST EVENT").or_null(),
    ns("last_ns", "Its last event.").titled("LAST EVENT").or_null(),
    count("calls", "Calls."),
    count("allocations", "Allocations."),
    bytes("allocated_bytes", "Bytes allocated.").titled("BYTES"),
    count("throws", "Exceptions thrown."),
    count("waits", "Waits for locks."),
    ns("waited_ns", "Time of these waits."),
};
constexpr std::array kTimelinesMembers = {rows("threads", kTimes, "A row for each thread.")};

void make_timelines(const ReportInput& input, Section& section) {
  RuntimeReadings& in = *input.runtime;
  const Ticks start = in.source().calls().first_time();
  const auto since = [start](const std::optional<Ticks>& time) {
    return time ? TableCell(*time - start) : TableCell();
  };
  TableSchema schema(kTimes);
  const bool share_ids =
      std::ranges::any_of(in.source().calls().streams(),
                          [](const EventStream& told) { return told.thread.process != 0; });
  if (!share_ids) schema.leave_out({kProcessNumber.key});
  Table table(schema);
  size_t threads = 0;
  for (const auto& [stream, thread] : in.timeline().threads) {
    if (!in.keeps_thread(stream)) continue;
    ++threads;
    if (table.rows() == in.shown_rows()) continue;
    const EventStream& told = in.stream(stream);
    table.add_row({told.thread.pid, process_number_cell(told.thread), told.thread.tid,
                   told.thread_name, since(thread.started), since(thread.ended),
                   thread.any ? since(thread.first) : TableCell(),
                   thread.any ? since(thread.last) : TableCell(), thread.calls, thread.allocations,
                   thread.allocated_bytes, thread.throws, thread.waits, thread.waited});
  }
  table.set_total(threads);
  section.add("threads", std::move(table));
}

}  // namespace

constinit const Report kThread{.name = "thread",
                               .title = "Threads",
                               .sentence = "Threads.",
                               .needs = Capability::runtime_events,
                               .members = kThreadMembers,
                               .make = make_thread,
                               .by_default = true,
                               .reads = RuntimeReadings::facts_read};

constinit const Report kTimelines{.name = "timelines",
                                  .title = "Threads over time",
                                  .sentence = "Threads over time.",
                                  .needs = Capability::runtime_events,
                                  .members = kTimelinesMembers,
                                  .make = make_timelines,
                                  .by_default = false,
                                  .names_threads = true,
                                  .reads = 0};

}  // namespace telltale::reports
