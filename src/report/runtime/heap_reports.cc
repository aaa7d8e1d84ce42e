// The heap between heap shots: what grows, and what keeps objects alive.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/heap/heap_graph.h"
#include "analysis/heap/heap_retention.h"
#include "analysis/runtime/weighted_tree.h"
#include "report/runtime/runtime_fields.h"
#include "report/runtime/runtime_readings.h"
#include "report/runtime/runtime_reports.h"

namespace telltale::reports {
namespace {

using field::bytes;
using field::change;
using field::count;
using field::ns;
using field::number_id;
using field::rows;
using field::text;

constexpr std::array kOverTime = {
    kPid,
    kProcessNumber,
    kShot,
    kAt,
    count("objects", "Objects."),
    bytes("bytes", "Bytes."),
    change("bytes_change", Unit::bytes, "Change since the shot before.").titled("CHANGE").or_null(),
};
constexpr std::array kLeftOut = {kPid,
                                 kProcessNumber,
                                 kShot,
                                 kAt,
                                 count("objects", "Objects."),
                                 bytes("bytes", "Bytes."),
                                 text("why", "unfinished, damaged, or at exit.")};
constexpr std::array kAllocatedTypes = {
    kPid,
    kProcessNumber,
    change("bytes_change", Unit::bytes, "Growth from the first shot to the last.")
        .titled("BYTES +"),
    change("objects_change", Unit::count, "Growth from the first shot to the last.")
        .titled("OBJECTS +"),
    bytes("first_bytes", "Bytes in the first shot.").titled("FIRST"),
    bytes("last_bytes", "Bytes in the last shot.").titled("LAST"),
    count("first_objects", "Objects in the first shot.").titled("OBJECTS"),
    count("last_objects", "Objects in the last shot.").titled("OBJECTS"),
    count("steps_up", "Shots with more bytes than the one before.").titled("UP"),
    count("steps_down", "Shots with less.").titled("DOWN"),
    number_id("steady", "1: it grows steadily."),
    kType,
};
constexpr std::array kBySeries = {
    kPid, kProcessNumber, kShot, kAt, count("objects", "Objects."), bytes("bytes", "Bytes."),
    kType};
constexpr std::array kGrowthMembers = {
    count("shots", "Heap shots of the running program.").titled("heap shots"),
    count("steady", "Types that grow steadily.").titled("types that grow steadily"),
    rows("over_time", kOverTime, "The shots.").titled("Shots"),
    rows("left_out", kLeftOut, "Ignored shots.").titled("Ignored shots"),
    rows("types", kAllocatedTypes, "Types, the most growth first.")
        .titled("Types, from the first shot to the last"),
    rows("series", kBySeries, "Types by shot.").titled("Types by shot").sometimes(),
};

void make_growth(const ReportInput& input, Section& section) {
  RuntimeReadings& in = *input.runtime;
  const auto& [shots, growth, left_out] = in.shots();
  section.add("shots", uint64_t{shots.size()});
  section.add("steady",
              static_cast<uint64_t>(std::ranges::count_if(growth, &TypeGrowth::grows_steadily)));
  Table over_time(in.by_process(kOverTime));
  std::map<size_t, std::vector<const HeapShots::Shot*>> of_process;
  for (const HeapShots::Shot& shot : shots) {
    std::vector<const HeapShots::Shot*>& its = of_process[shot.process];
    over_time.add_row({in.pid(shot.process), in.process_number(shot.process), uint64_t{shot.number},
                       in.since_start(shot.begin), shot.objects, shot.bytes,
                       its.empty()
                           ? TableCell()
                           : TableCell(static_cast<int64_t>(shot.bytes - its.back()->bytes))});
    its.push_back(&shot);
  }
  Table not_used(in.by_process(kLeftOut));
  for (const auto& [shot, why] : left_out) {
    not_used.add_row({in.pid(shot.process), in.process_number(shot.process), uint64_t{shot.number},
                      in.since_start(shot.begin), shot.objects, shot.bytes,
                      std::string(name_of(why))});
  }
  Table types(in.by_process(kAllocatedTypes));
  Table series(in.by_process(kBySeries));
  types.set_total(growth.size());
  for (const TypeGrowth& type : growth) {
    if (types.rows() == in.shown_rows()) break;
    types.add_row({in.pid(type.process), in.process_number(type.process), type.bytes(),
                   type.objects(), type.by_shot.front().bytes, type.by_shot.back().bytes,
                   type.by_shot.front().objects, type.by_shot.back().objects,
                   uint64_t{type.steps_up}, uint64_t{type.steps_down},
                   uint64_t{type.grows_steadily()}, type.type});
    for (size_t i = 0; i < type.by_shot.size(); ++i) {
      const HeapShots::Shot& shot = *of_process[type.process][i];
      series.add_row({in.pid(type.process), in.process_number(type.process), uint64_t{shot.number},
                      in.since_start(shot.begin), type.by_shot[i].objects, type.by_shot[i].bytes,
                      type.type});
    }
  }
  section.add("over_time", std::move(over_time));
  section.add("left_out", std::move(not_used));
  section.add("types", std::move(types));
  if (in.options().for_programs) section.add("series", std::move(series));
}

constexpr std::array kRetained = {
    kPid,
    kProcessNumber,
    bytes("bytes", "Bytes of all its objects."),
    count("objects", "All its objects."),
    bytes("chain_bytes", "Bytes that the chain keeps alive.").titled("BY CHAIN"),
    count("chain_objects", "Objects that the chain keeps alive.").titled("OBJECTS"),
    count("length", "References of the chain.").or_null(),
    kType,
    text("chain", "From a root to the type, separated by ' > '.").or_null(),
};
constexpr std::array kRetentionMembers = {
    number_id("shots", "Heap shots: the last of each process.").titled("heap shots"),
    text("left_out", "Later shots that are left out, and why.").titled("left out").sometimes(),
    number_id("shot", "Its number, if there is one.").titled("its number").sometimes(),
    ns("at_ns", "When it was taken.").titled("at").sometimes(),
    count("objects", "Its objects.").titled("objects").sometimes(),
    count("references", "References between them.").titled("references").sometimes(),
    count("roots", "Its roots.").titled("roots").sometimes(),
    count("unreached_objects", "Objects that no root leads to.")
        .titled("objects that no root reaches")
        .sometimes(),
    bytes("unreached_bytes", "Bytes of these.").titled("bytes of these").sometimes(),
    count("dangling", "References to no object of the shot.")
        .titled("references to objects outside the shot")
        .sometimes(),
    rows("types", kRetained, "A row for each type.").sometimes(),
};

constexpr size_t kMaxChain = 64;  // frames of a printed chain

void add_retained(const RuntimeReadings& in, const ThreadKey& thread,
                  const HeapRetention& retention, const FrameNames& names, Table& types) {
  size_t rows = 0;
  types.set_total(types.total() + retention.types.size());
  for (const HeapRetention::Type& type : retention.types) {
    if (rows++ == in.shown_rows()) break;
    std::string chain;
    for (const FunctionId frame : type.chain) {
      if (!chain.empty()) chain += " > ";
      chain += names.describe(frame).name;
    }
    types.add_row({thread.pid, process_number_cell(thread), type.all.bytes, type.all.objects,
                   type.by_chain.bytes, type.by_chain.objects,
                   chain.empty() ? TableCell() : TableCell(type.length),
                   names.describe(type.frame).name,
                   chain.empty() ? TableCell() : TableCell(chain)});
  }
}

void make_retention(const ReportInput& input, Section& section) {
  RuntimeReadings& in = *input.runtime;
  std::vector<HeapShotLeftOut> left_out;
  const std::vector<HeapGraph> graphs = in.last_heap_graphs(left_out);
  section.add("shots", uint64_t{graphs.size()});
  std::string later;
  for (const HeapShotLeftOut& shot : left_out)
    later += fmt::format("{}{} {}", later.empty() ? "" : ", ", shot.number, name_of(shot.why));
  if (!later.empty())
    section.add("left_out", later, graphs.empty() ? "left out" : "later shots, left out");
  if (graphs.empty()) return;
  if (graphs.size() == 1) {
    section.add("shot", uint64_t{graphs[0].number});
    section.add("at_ns", in.since_start(graphs[0].begin));
  }
  FrameNames names(in.source().calls().functions());
  Table types(in.by_process(kRetained));
  struct {
    uint64_t objects = 0, references = 0, roots = 0, dangling = 0;
    HeapShots::Sum unreached;
  } all;
  for (const HeapGraph& graph : graphs) {
    const HeapRetention retention = explain_heap(graph, kMaxChain, names);
    all.objects += graph.objects.size();
    all.references += graph.references.size();
    all.roots += graph.roots.size();
    all.unreached.objects += retention.unreached.objects;
    all.unreached.bytes += retention.unreached.bytes;
    all.dangling += graph.dangling;
    add_retained(in, in.stream(graph.stream).thread, retention, names, types);
  }
  section.add("objects", all.objects);
  section.add("references", all.references);
  section.add("roots", all.roots);
  section.add("unreached_objects", all.unreached.objects);
  section.add("unreached_bytes", all.unreached.bytes);
  section.add("dangling", all.dangling);
  section.add("types", std::move(types));
}

}  // namespace

constinit const Report kGrowth{.name = "growth",
                               .title = "Growth of the heap between heap shots",
                               .sentence = "Growth of the heap between heap shots.",
                               .needs = Capability::runtime_events,
                               .members = kGrowthMembers,
                               .make = make_growth,
                               .by_default = false,
                               .reads = 0};

constinit const Report kRetention{.name = "retention",
                                  .title = "What keeps objects alive in the last heap shot",
                                  .sentence = "What keeps objects alive in the last heap shot.",
                                  .needs = Capability::runtime_events,
                                  .members = kRetentionMembers,
                                  .make = make_retention,
                                  .by_default = false,
                                  .reads = 0};

}  // namespace telltale::reports
