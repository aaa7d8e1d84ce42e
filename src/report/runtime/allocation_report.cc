// What was allocated, by class.
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "base/keep_first.h"
#include "base/sort_rows.h"
#include "report/runtime/runtime_fields.h"
#include "report/runtime/runtime_readings.h"
#include "report/runtime/runtime_reports.h"

namespace telltale::reports {
namespace {

using field::bytes;
using field::count;
using field::rows;

constexpr std::array kTypes = {
    kPidOrNone,
    kProcessNumber,
    bytes("bytes", "Bytes allocated."),
    count("objects", "Objects allocated."),
    bytes("average", "Bytes an object, rounded down."),
    kType,
    kClass,
};
constexpr std::array kTraces = {
    kPidOrNone, kProcessNumber, kType, kClass, bytes("bytes", "Bytes allocated."), kStack};
constexpr std::array kMembers = {
    bytes("bytes", "Bytes allocated.").titled("Bytes"),
    count("objects", "Objects allocated.").titled("Objects"),
    rows("types", kTypes, "A row for each class."),
    rows("traces", kTraces, "Allocations by stack.").titled("Allocations by stack").sometimes(),
};

struct Allocated {
  uint64_t type = 0;  // the class
  uint64_t id = 0;    // that means it
  HeapShots::Sum sum;
};

// Sums of the ids that mean the class, by stack.
AddressMap<StackSums::Sum> sums_by_stack(const RuntimeReadings& in,
                                         const std::vector<Allocated>& sorted, uint64_t type) {
  AddressMap<StackSums::Sum> together;
  for (const Allocated& one : std::ranges::equal_range(sorted, type, {}, &Allocated::type)) {
    const auto* sums = in.stacks->allocations.by_owner().find(one.id);
    if (sums == nullptr) continue;
    for (const auto& [stack, theirs] : *sums) {
      together[stack].count += theirs.count;
      together[stack].value += theirs.value;
    }
  }
  return together;
}

void make_alloc(const ReportInput& input, Section& section) {
  const RuntimeReadings& in = *input.runtime;
  std::vector<Allocated> allocated;
  HeapShots::Sum all;
  for (const auto& [id, sum] : in.facts->allocations.by_type()) {
    allocated.push_back({in.class_of(id), id, {sum.objects, sum.bytes}});
    all += allocated.back().sum;
  }
  sort_rows(allocated, {}, &Allocated::type);
  std::vector<std::pair<HeapShots::TypeSum, std::string_view>> classes;  // with names
  for (const Allocated& one : allocated) {
    if (classes.empty() || classes.back().first.type != one.type)
      classes.push_back({{one.type, {}}, in.recorded_type_name(one.type)});
    classes.back().first.sum += one.sum;
  }
  keep_first(classes, in.all_rows(), [&in](const auto& a, const auto& b) {
    return in.comes_first(a.first, a.second, b.first, b.second);
  });

  section.add("bytes", all.bytes);
  section.add("objects", all.objects);
  Table types(in.by_process(kTypes));
  Table traces(in.by_process(kTraces));
  for (const auto& [total, name] : classes) {
    const auto& [type, sum] = total;
    const auto [pid, number] = in.process_cells(type);
    types.add(std::array<TableCell, kTypes.size()>{pid, number, sum.bytes, sum.objects,
                                                   sum.bytes / sum.objects, in.type_name(type),
                                                   in.address(type)});
    if (in.stacks) {
      in.add_lines(traces, {pid, number, in.type_name(type), in.address(type)},
                   sums_by_stack(in, allocated, type), in.stacks->recorded);
    }
  }
  section.add("types", std::move(types));
  if (in.stacks) section.add("traces", std::move(traces));
}

}  // namespace

constinit const Report kAlloc{.name = "alloc",
                              .title = "Allocations",
                              .sentence = "Allocations by class.",
                              .needs = Capability::runtime_events,
                              .members = kMembers,
                              .make = make_alloc,
                              .by_default = true,
                              .reads = RuntimeReadings::facts_read};

}  // namespace telltale::reports
