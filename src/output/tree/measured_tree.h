#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/calls/call_tree.h"
#include "analysis/heap/heap_shot_roots.h"
#include "analysis/runtime/weighted_stacks.h"
#include "analysis/runtime/weighted_tree.h"
#include "model/clock.h"
#include "output/export.h"
#include "output/tree/tree_units.h"

namespace telltale {

// The measure of a flame graph, stacks or a profile. docs/analysis/weighted-stacks.md.
enum class Measure : uint8_t {
  time,
  alloc_bytes,
  alloc_count,
  samples,
  throws,
  blocked,
  live_bytes,  // of the last heap shot, by retaining path
  live_count,
};

// "alloc-bytes" ...; measure_names() omits time, for which verbs have their own names.
std::optional<Measure> measure_of_name(std::string_view name);
std::vector<std::string> measure_names();
std::string_view name_of_measure(Measure measure);
std::vector<Measure> all_measures();  // in the order of the enumeration
TreeUnits units_of(Measure measure);

// A tree of paths and the meaning of its numbers. Refers only to the recording and to the object
// that `names` owns.
struct MeasuredTree {
  CallTreePartial partial;
  std::unique_ptr<FrameNames> names;  // null: the recording's
  Clock clock;
  TreeUnits units;
  std::vector<LiveType> live = {};  // of allocations: those alive in the last heap shot
  std::vector<HeapShotLeftOut> left_out =
      {};  // of live objects: number of later shots that were ignored
};

// The context for exports; valid as long as both.
template <EventSource Source>
ExportContext measured_context(const Source& source, const MeasuredTree& measured) {
  return {measured.clock, source.first_time(), source.streams(),
          measured.names ? *measured.names : source.functions(), measured.units};
}

}  // namespace telltale
