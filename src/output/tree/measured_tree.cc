#include "output/tree/measured_tree.h"

#include <algorithm>
#include <array>

namespace telltale {
namespace {

struct MeasureDescription {
  Measure measure;
  std::string_view name;
  TreeUnits units;
};

constexpr auto kMeasures = std::to_array<MeasureDescription>({
    {Measure::time, "time", {}},
    {Measure::alloc_bytes, "alloc-bytes", {"alloc_objects", "alloc_space", "bytes", "bytes"}},
    {Measure::alloc_count, "alloc-count", {"alloc_objects", "objects", "count", "count"}},
    {Measure::samples, "samples", {"samples", "hits", "count", "count"}},
    {Measure::throws, "throws", {"throws", "exceptions", "count", "count"}},
    {Measure::blocked, "blocked", {"contentions", "delay", "nanoseconds", "ns"}},
    {Measure::live_bytes, "live-bytes", {"inuse_objects", "inuse_space", "bytes", "bytes"}},
    {Measure::live_count, "live-count", {"inuse_objects", "objects", "count", "count"}},
});

}  // namespace

std::optional<Measure> measure_of_name(std::string_view name) {
  const auto found = std::ranges::find(kMeasures, name, &MeasureDescription::name);
  if (found == kMeasures.end()) return std::nullopt;
  return found->measure;
}

std::vector<std::string> measure_names() {
  std::vector<std::string> names;
  for (const MeasureDescription& one : kMeasures)
    if (one.measure != Measure::time) names.emplace_back(one.name);
  return names;
}

std::string_view name_of_measure(Measure measure) {
  return std::ranges::find(kMeasures, measure, &MeasureDescription::measure)->name;
}

TreeUnits units_of(Measure measure) {
  return std::ranges::find(kMeasures, measure, &MeasureDescription::measure)->units;
}

std::vector<Measure> all_measures() {
  std::vector<Measure> measures;
  for (const MeasureDescription& one : kMeasures) measures.push_back(one.measure);
  return measures;
}

}  // namespace telltale
