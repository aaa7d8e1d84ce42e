#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/heap_graph.h"
#include "analysis/heap_retention.h"
#include "analysis/weighted_stacks.h"
#include "cli/runtime_sections.h"
#include "output/counter_cell.h"

namespace telltale::cli {
namespace {

using Show = Table::Show;
using Cell = Table::Cell;

constexpr size_t kMaxChain = 64;  // frames of a chain that is shown

}  // namespace

const RuntimeSections::Shots& RuntimeSections::shots() {
  if (shots_) return *shots_;
  WeightedStacks stacks =
      collect_weighted_stacks(source_, Weighed::allocations, CallFilter(), options_.workers, log());
  shots_.emplace();
  shots_->shots = stacks.shots.take_shots();
  std::erase_if(shots_->shots,
                [this](const HeapShots::Shot& shot) { return !in_window(shot.begin); });
  if (shots_->shots.size() > 1) shots_->growth = heap_growth(shots_->shots, stacks.types);
  return *shots_;
}

const std::vector<TypeGrowth>& RuntimeSections::growth() { return shots().growth; }

Section RuntimeSections::growth_section() {
  Section section{"growth", "Growth of the heap between heap shots", {}, {}};
  const auto& [all_shots, all] = shots();
  section.add("shots", "heap shots", uint64_t{all_shots.size()});
  section.add("steady", "types that grow steadily",
              static_cast<uint64_t>(std::ranges::count_if(all, &TypeGrowth::grows_steadily)));
  Table over_time({{"shot", "SHOT"},
                   {"at_ns", "AT", Show::duration},
                   {"objects", "OBJECTS"},
                   {"bytes", "BYTES"},
                   {"bytes_change", "CHANGE"}});
  for (size_t i = 0; i < all_shots.size(); ++i) {
    const HeapShots::Shot& shot = all_shots[i];
    over_time.add_row(
        {uint64_t{i + 1}, since_start(shot.begin), shot.objects, shot.bytes,
         i == 0 ? Cell() : Cell(static_cast<int64_t>(shot.bytes - all_shots[i - 1].bytes))});
  }
  Table types({{"bytes_change", "BYTES +"},
               {"objects_change", "OBJECTS +"},
               {"first_bytes", "FIRST"},
               {"last_bytes", "LAST"},
               {"first_objects", "OBJECTS"},
               {"last_objects", "OBJECTS"},
               {"steps_up", "UP"},
               {"steps_down", "DOWN"},
               {"steady", "STEADY"},
               {"type", "TYPE", Show::text}});
  Table series({{"shot", "SHOT"},
                {"at_ns", "AT", Show::duration},
                {"objects", "OBJECTS"},
                {"bytes", "BYTES"},
                {"type", "TYPE", Show::text}});
  for (const TypeGrowth& type : all) {
    if (types.rows() == limit()) break;
    types.add_row({type.bytes(), type.objects(), type.by_shot.front().bytes,
                   type.by_shot.back().bytes, type.by_shot.front().objects,
                   type.by_shot.back().objects, uint64_t{type.steps_up}, uint64_t{type.steps_down},
                   uint64_t{type.grows_steadily()}, type.type});
    for (size_t i = 0; i < type.by_shot.size(); ++i) {
      series.add_row({uint64_t{i + 1}, since_start(all_shots[i].begin), type.by_shot[i].objects,
                      type.by_shot[i].bytes, type.type});
    }
  }
  section.add("over_time", "Shots", std::move(over_time));
  section.add("types", "Types, from the first shot to the last", std::move(types));
  if (options_.long_tables) section.add("series", "Types by shot", std::move(series));
  return section;
}

Section RuntimeSections::retention() {
  Section section{"retention", "What keeps objects alive in the last heap shot", {}, {}};
  const auto graph = last_heap_graph(source_, options_.filter, options_.workers, log());
  section.add("shots", "heap shot", uint64_t{graph.has_value()});
  if (!graph) return section;
  FrameNames names(source_.functions());
  const HeapRetention retention = explain_heap(*graph, kMaxChain, names);
  section.add("at_ns", "at", since_start(graph->begin), Show::duration);
  section.add("objects", "objects", uint64_t{graph->objects.size()});
  section.add("references", "references", uint64_t{graph->references.size()});
  section.add("roots", "roots", uint64_t{graph->roots.size()});
  section.add("unreached_objects", "objects that no root leads to", retention.unreached.objects);
  section.add("unreached_bytes", "bytes of these", retention.unreached.bytes);
  section.add("dangling", "references to no object of the shot", graph->dangling);
  Table types({{"bytes", "BYTES"},
               {"objects", "OBJECTS"},
               {"chain_bytes", "BY CHAIN"},
               {"chain_objects", "OBJECTS"},
               {"length", "LENGTH"},
               {"type", "TYPE", Show::text},
               {"chain", "CHAIN", Show::text}});
  for (const HeapRetention::Type& type : retention.types) {
    if (types.rows() == limit()) break;
    std::string chain;
    for (const FunctionId frame : type.chain) {
      if (!chain.empty()) chain += " > ";
      chain += names.describe(frame).name;
    }
    types.add_row({type.all.bytes, type.all.objects, type.by_chain.bytes, type.by_chain.objects,
                   chain.empty() ? Cell() : Cell(type.length), names.describe(type.frame).name,
                   chain.empty() ? Cell() : Cell(chain)});
  }
  section.add("types", "", std::move(types));
  return section;
}

Section RuntimeSections::series() {
  Section section{"series", "Counters over time", {}, {}};
  Table counters({{"values", "VALUES"},
                  {"first", "FIRST"},
                  {"min", "MIN"},
                  {"max", "MAX"},
                  {"last", "LAST"},
                  {"section", "SECTION", Show::text},
                  {"name", "NAME", Show::text}});
  Table values({{"at_ns", "AT", Show::duration},
                {"value", "VALUE"},
                {"section", "SECTION", Show::text},
                {"name", "NAME", Show::text}});
  for (const CounterValues::Series& one : timeline().counters.series()) {
    uint64_t count = 0;
    Cell first;
    Cell least;
    Cell most;
    Cell last;
    const bool has_row = counters.rows() < limit();
    one.for_each([&](const CounterValues::Value& value) {
      if (!has_row || !in_window(value.time)) return;
      last = counter_cell(value);
      if (count++ == 0) first = least = most = last;
      if (last < least) least = last;
      if (most < last) most = last;
      if (options_.long_tables)
        values.add_row({since_start(value.time), last, one.counter.section, one.counter.name});
    });
    if (count == 0) continue;
    counters.add_row({count, first, least, most, last, one.counter.section, one.counter.name});
  }
  section.add("counters", "", std::move(counters));
  if (options_.long_tables) section.add("values", "Every value", std::move(values));
  return section;
}

}  // namespace telltale::cli
