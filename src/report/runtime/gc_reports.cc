// Garbage collection: collections and handles, and the pauses that it takes.
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "analysis/calls/percentile.h"
#include "report/runtime/runtime_fields.h"
#include "report/runtime/runtime_readings.h"
#include "report/runtime/runtime_reports.h"

namespace telltale::reports {
namespace {

using field::bytes;
using field::count;
using field::ns;
using field::number_id;
using field::rows;
using field::text;
using field::us;

constexpr std::array kGenerations = {
    number_id("generation", "Generation."),
    count("collections", "Collections that began."),
    ns("max_ns", "Longest collection.").sometimes(),
    ns("total_ns", "All collections.").sometimes(),
    ns("average_ns", "Mean of those that ended.").or_null().sometimes(),
    us("max_us", "With --like-mprof: longest collection.").sometimes(),
    us("total_us", "With --like-mprof: all collections.").sometimes(),
    us("average_us", "With --like-mprof: mean of all.").or_null().sometimes(),
};
constexpr std::array kHandles = {
    text("kind", "weak, weaktrack, normal or pinned.").titled("HANDLES"),
    count("created", "Handles created."),
    count("destroyed", "Handles destroyed."),
    count("most", "Most that were alive at once.").titled("MOST AT ONCE"),
};
constexpr std::array kHandleTraces = {
    text("kind", "weak, weaktrack, normal or pinned.").titled("HANDLES"),
    text("change", "created or destroyed."),
    count("handles", "Handles.").titled("COUNT"),
    kStack,
};
constexpr std::array kGcMembers = {
    count("resizes", "Changes of the heap's size.").titled("Heap resizes"),
    bytes("max_heap_bytes", "Largest heap.").titled("Largest heap, bytes"),
    count("moved_objects", "Objects moved.").titled("Objects moved"),
    rows("generations", kGenerations, "A row for each generation that was collected."),
    rows("handles", kHandles, "A row for each kind of handle in use."),
    rows("traces", kHandleTraces, "Handles by stack.").titled("Handles by stack").sometimes(),
};

Table generations_table(const RuntimeReadings& in) {
  const bool like = in.options().like_mprof;
  Table table(like ? TableSchema(kGenerations).without({"max_ns", "total_ns", "average_ns"})
                   : TableSchema(kGenerations).without({"max_us", "total_us", "average_us"}));
  const auto generations = in.facts->gc.generations(
      in.source().calls().streams(), like ? EndsTold::by_its_thread : EndsTold::by_any_thread);
  for (size_t i = 0; i < generations.size(); ++i) {
    const GcCollections::Generation& one = generations[i];
    if (one.collections == 0) continue;
    const auto mean = [&](uint64_t collections, uint64_t unit) {
      return collections == 0 ? TableCell() : TableCell(one.total / collections / unit);
    };
    // mprof-report also counts collections without an end in the divisor.
    table.add_row({uint64_t{i}, one.collections, one.max, one.total, mean(one.finished, 1),
                   one.max / 1000, one.total / 1000, mean(one.collections, 1000)});
  }
  return table;
}

void make_gc(const ReportInput& input, Section& section) {
  const RuntimeReadings& in = *input.runtime;
  const GcCollections& gc = in.facts->gc;
  section.add("resizes", gc.resizes());
  section.add("max_heap_bytes", gc.max_heap_bytes());
  section.add("moved_objects", gc.moved_objects());
  section.add("generations", generations_table(in));

  static constexpr std::array<const char*, GcHandles::kKinds> kKinds = {"weak", "weaktrack",
                                                                        "normal", "pinned"};
  Table handles(kHandles);
  Table traces(kHandleTraces);
  const auto kinds = in.facts->handles.kinds();
  const size_t left_out = in.options().like_mprof ? 1 : 0;  // mprof-report forgets the last
  for (size_t i = 0; i < kinds.size() - left_out; ++i) {
    if (kinds[i].created == 0 && kinds[i].destroyed == 0) continue;
    const std::string kind = kKinds[i];
    handles.add_row({kind, kinds[i].created, kinds[i].destroyed, kinds[i].most});
    if (!in.stacks) continue;
    in.add_traces(traces, {kind, std::string("created")}, in.stacks->handles_created[i], 0);
    in.add_traces(traces, {kind, std::string("destroyed")}, in.stacks->handles_destroyed[i], 0);
  }
  section.add("handles", std::move(handles));
  if (in.stacks) section.add("traces", std::move(traces));
}

constexpr std::array kPauseGenerations = {
    number_id("generation", "The oldest generation that was collected; none: nothing was.")
        .or_null(),
    count("pauses", "Pauses."),
    ns("total_ns", "All pauses."),
    ns("p50_ns", "Median.").titled("MEDIAN"),
    ns("p90_ns", "90 % are not longer."),
    ns("p99_ns", "99 % are not longer."),
    ns("max_ns", "Longest."),
};
constexpr std::array kPauseTimeline = {
    kPid,
    kProcessNumber,
    kAt,
    ns("pause_ns", "Length of the pause.").or_null(),
    ns("to_stop_ns", "Until all threads stood still.").or_null(),
    ns("stopped_ns", "While all threads stood still.").or_null(),
    ns("to_restart_ns", "Until all threads ran again.").or_null(),
    number_id("generation", "The oldest generation that was collected.").or_null(),
    count("collections", "Collections in the pause."),
    number_id("shutdown", "1: the stop at the end of the program."),
    text("thread", "The thread that stopped the world."),
};
constexpr std::array kPausesMembers = {
    count("pauses", "Pauses.").titled("pauses"),
    ns("shutdown_ns", "Stops at the end of the program.")
        .titled("stops at the end of the program")
        .or_null()
        .sometimes(),
    ns("total_pause_ns", "Sum of the pauses.").titled("total pause").sometimes(),
    ns("p50_pause_ns", "Median of the pauses.").titled("50 % of pause at most").sometimes(),
    ns("p90_pause_ns", "90 % of the pauses are not longer.")
        .titled("90 % of pause at most")
        .sometimes(),
    ns("p99_pause_ns", "99 % of the pauses are not longer.")
        .titled("99 % of pause at most")
        .sometimes(),
    ns("max_pause_ns", "Longest pause.").titled("longest pause").sometimes(),
    ns("total_to_stop_ns", "Sum of the times to stop.").titled("total time to stop").sometimes(),
    ns("p50_to_stop_ns", "Median of the times to stop.")
        .titled("50 % of time to stop at most")
        .sometimes(),
    ns("p90_to_stop_ns", "90 % of the times to stop are not longer.")
        .titled("90 % of time to stop at most")
        .sometimes(),
    ns("p99_to_stop_ns", "99 % of the times to stop are not longer.")
        .titled("99 % of time to stop at most")
        .sometimes(),
    ns("max_to_stop_ns", "Longest time to stop.").titled("longest time to stop").sometimes(),
    rows("by_generation", kPauseGenerations, "By the oldest generation that was collected.")
        .titled("By the oldest generation that was collected"),
    rows("timeline", kPauseTimeline, "In order of time.").titled("In order of time"),
};

// The world also stops without a collection, for example to unload a domain.
std::optional<uint64_t> generation_of(const RuntimeTimeline::Pause& pause) {
  return pause.collections == 0 ? std::nullopt : std::optional<uint64_t>(pause.generation);
}

Table by_generation(std::map<std::optional<uint64_t>, std::vector<Ticks>> lengths) {
  Table table(kPauseGenerations);
  for (auto& [generation, values] : lengths) {
    std::ranges::sort(values);
    Ticks total = 0;
    for (const Ticks value : values) total += value;
    table.add_row({generation ? TableCell(*generation) : TableCell(), uint64_t{values.size()},
                   total, percentile(values, 50), percentile(values, 90), percentile(values, 99),
                   values.back()});
  }
  return table;
}

std::vector<TableCell> timeline_row(const RuntimeReadings& in,
                                    const RuntimeTimeline::Pause& pause) {
  const auto step = [](const std::optional<Ticks>& from, const std::optional<Ticks>& to) {
    return from && to && *to >= *from ? TableCell(*to - *from) : TableCell();
  };
  const size_t process = in.source().calls().streams()[pause.stream].process;
  return {in.pid(process),
          in.process_number(process),
          in.since_start(pause.begin),
          pause.end ? TableCell(pause.length()) : TableCell(),
          step(pause.begin, pause.stopped),
          step(pause.stopped, pause.restarting),
          step(pause.restarting, pause.end),
          generation_of(pause) ? TableCell(*generation_of(pause)) : TableCell(),
          pause.collections,
          uint64_t{pause.shutdown},
          in.thread_name(pause.stream)};
}

void make_pauses(const ReportInput& input, Section& section) {
  RuntimeReadings& in = *input.runtime;
  std::vector<Ticks> lengths;
  std::vector<Ticks> to_stop;
  std::map<std::optional<uint64_t>, std::vector<Ticks>> lengths_by_generation;
  Table timeline(in.by_process(kPauseTimeline));
  size_t pauses = 0;
  TableCell shutdown;
  bool any_shutdown = false;
  Ticks shutdown_ns = 0;
  for (const RuntimeTimeline::Pause& pause : in.timeline().pauses) {
    if (!in.in_window(pause.begin)) continue;
    if (pause.shutdown) {
      any_shutdown = true;
      shutdown_ns += pause.length();
      if (pause.end) shutdown = shutdown_ns;
    } else {
      lengths.push_back(pause.length());
      if (pause.stopped) to_stop.push_back(*pause.stopped - pause.begin);
      lengths_by_generation[generation_of(pause)].push_back(pause.length());
    }
    ++pauses;
    if (timeline.rows() != in.shown_rows()) timeline.add_row(timeline_row(in, pause));
  }
  timeline.set_total(pauses);
  section.add("pauses", uint64_t{lengths.size()});
  if (any_shutdown) section.add("shutdown_ns", shutdown);
  if (lengths.empty()) section.add("total_pause_ns", uint64_t{0});
  add_percentiles(section, "pause_ns", std::move(lengths));
  add_percentiles(section, "to_stop_ns", std::move(to_stop));
  section.add("by_generation", by_generation(std::move(lengths_by_generation)));
  section.add("timeline", std::move(timeline));
}

}  // namespace

constinit const Report kGc{.name = "gc",
                           .title = "Garbage collection",
                           .sentence = "Garbage collections, and handles.",
                           .needs = Capability::runtime_events,
                           .members = kGcMembers,
                           .make = make_gc,
                           .by_default = true,
                           .reads = RuntimeReadings::facts_read};

constinit const Report kPauses{.name = "pauses",
                               .title = "Pauses for garbage collection",
                               .sentence = "Pauses for garbage collection.",
                               .needs = Capability::runtime_events,
                               .members = kPausesMembers,
                               .make = make_pauses,
                               .by_default = false,
                               .names_threads = true,
                               .reads = 0};

}  // namespace telltale::reports
