#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/heap_graph.h"
#include "analysis/heap_retention.h"
#include "analysis/weighted_stacks.h"
#include "output/counter_cell.h"
#include "report/runtime/runtime_sections.h"

namespace telltale {
namespace {

using Cell = Table::Cell;

constexpr size_t kMaxChain = 64;  // frames of a chain that is shown

}  // namespace

const RuntimeSections::Shots& RuntimeSections::shots() {
  if (shots_) return *shots_;
  using Why = HeapShotLeftOut::Why;
  WeightedStacks stacks =
      source_.weighted_stacks(Weighed::allocations, CallFilter(), options_.workers, log());
  const std::map<int64_t, Ticks> ends = stacks.end.by_process(source_.calls().streams());
  shots_.emplace();
  auto [whole, unfinished] = stacks.shots.take_shots();
  const auto outside = [this](const HeapShots::Shot& shot) { return !in_window(shot.begin); };
  std::erase_if(whole, outside);
  std::erase_if(unfinished, outside);
  for (HeapShots::Shot& shot : whole) {
    if (is_at_exit(shot.begin, shot.stream, ends, source_.calls().streams())) {
      shots_->left_out.push_back({std::move(shot), Why::at_exit});
    } else {
      shots_->shots.push_back(std::move(shot));
    }
  }
  for (HeapShots::Shot& shot : unfinished) {
    unfinished_[shot.number] = {shot.number, shot.begin, Why::unfinished};
    shots_->left_out.push_back({std::move(shot), Why::unfinished});
  }
  std::ranges::sort(shots_->left_out, {},
                    [](const Shots::LeftOut& one) { return one.shot.number; });
  if (shots_->shots.size() > 1) shots_->growth = heap_growth(shots_->shots, stacks.types);
  return *shots_;
}

Result<std::vector<TypeGrowth>> RuntimeSections::growth() {
  using Why = HeapShotLeftOut::Why;
  const Shots& all = shots();
  if (all.shots.size() > 1) return all.growth;
  std::string found = fmt::format("{} of the running program", all.shots.size());
  for (const Why why : {Why::at_exit, Why::unfinished}) {
    const auto count = std::ranges::count(all.left_out, why, &Shots::LeftOut::why);
    if (count != 0) found += fmt::format(", {} {}", count, name_of(why));
  }
  return usage_error(fmt::format(
      "--gate growth wants two heap shots at least; {} has {}",
      options_.filter.keeps_every_time() ? "the recording" : "this window of the recording",
      found));
}

Section RuntimeSections::growth_section() {
  Section section{"growth", "Growth of the heap between heap shots", {}, {}};
  const auto& [all_shots, all, left_out] = shots();
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
        {uint64_t{shot.number}, since_start(shot.begin), shot.objects, shot.bytes,
         i == 0 ? Cell() : Cell(static_cast<int64_t>(shot.bytes - all_shots[i - 1].bytes))});
  }
  Table not_used({{"shot", "SHOT"},
                  {"at_ns", "AT", Show::duration},
                  {"objects", "OBJECTS"},
                  {"bytes", "BYTES"},
                  {"why", "WHY", Show::text}});
  for (const auto& [shot, why] : left_out) {
    not_used.add_row({uint64_t{shot.number}, since_start(shot.begin), shot.objects, shot.bytes,
                      std::string(name_of(why))});
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
      series.add_row({uint64_t{all_shots[i].number}, since_start(all_shots[i].begin),
                      type.by_shot[i].objects, type.by_shot[i].bytes, type.type});
    }
  }
  section.add("over_time", "Shots", std::move(over_time));
  section.add("left_out", "Shots that are left out", std::move(not_used));
  section.add("types", "Types, from the first shot to the last", std::move(types));
  if (options_.long_tables) section.add("series", "Types by shot", std::move(series));
  return section;
}

Section RuntimeSections::retention() {
  Section section{"retention", "What keeps objects alive in the last heap shot", {}, {}};
  std::vector<HeapShotLeftOut> left_out;
  const auto graph = source_.last_heap_graph(options_.filter, options_.workers, log(), &left_out);
  for (const HeapShotLeftOut& shot : left_out)
    if (shot.why == HeapShotLeftOut::Why::unfinished) unfinished_[shot.number] = shot;
  section.add("shots", "heap shot", uint64_t{graph.has_value()});
  std::string later;
  for (const HeapShotLeftOut& shot : left_out)
    later += fmt::format("{}{} {}", later.empty() ? "" : ", ", shot.number, name_of(shot.why));
  if (!later.empty())
    section.add("left_out", graph ? "later shots, left out" : "left out", later, Show::text);
  if (!graph) return section;
  section.add("shot", "its number", uint64_t{graph->number});
  FrameNames names(source_.calls().functions());
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

}  // namespace telltale
