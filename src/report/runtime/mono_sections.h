#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/event_stacks.h"
#include "analysis/mprof_calls.h"
#include "analysis/profile.h"
#include "analysis/runtime_facts.h"
#include "import/runtime_events.h"
#include "import/timed_calls.h"
#include "output/section.h"
#include "report/runtime/runtime_report_options.h"

namespace telltale {

std::string hex(uint64_t number);  // "0x1f"

// Makes the sections of a report out of what was collected. docs/analysis/mono.md has a paragraph a
// section.
class MonoSections {
 public:
  struct Input {
    const RuntimeEvents& source;
    const RuntimeReportOptions& options;
    CallFilter filter;
    RuntimeFacts facts;
    std::optional<Profile> calls;
    std::optional<MprofCalls> mprof_calls;  // with --like-mprof, instead of calls
    std::optional<EventStacks> stacks;      // with --traces
    std::optional<EventSizes> sizes;        // for stats
  };
  explicit MonoSections(Input input);

  // Names of all reports. The first kByDefault of them are printed, in this order, if none is asked
  // for. The others say what only old recordings have, or what a file is made of.
  static std::span<const std::string> names();
  static constexpr size_t kByDefault = 14;
  // REQUIRES: one of names(). Different reports may be made at the same time.
  Section make(const std::string& name);
  // Heap shots without an end that a section leaves out, by number.
  [[nodiscard]] const std::map<size_t, HeapShotLeftOut>& unfinished() const { return unfinished_; }

 private:
  using Cell = Table::Cell;
  // Time of a call in each way of counting.
  struct CallRow {
    FunctionId function{};
    uint64_t calls = 0;
    uint64_t total = 0;
    uint64_t self = 0;
    uint64_t unwound = 0;
    uint64_t unfinished = 0;
    uint64_t orphan_exits = 0;
  };

  Section header() const;
  Section jit() const;
  Section gc() const;
  Section sample() const;
  Section alloc() const;
  Section call() const;
  Section metadata() const;
  Section exception() const;
  Section monitor() const;
  Section thread() const;
  Section domain() const;
  Section context() const;
  Section heapshot();
  Section counters() const;
  Section coverage() const;
  Section stats() const;

  // The class that a type's id stands for, or the id itself if nothing is known of it.
  [[nodiscard]] uint64_t class_of(uint64_t type) const;
  // Name of a class_of(); says so if it is not known.
  [[nodiscard]] std::string type_name(uint64_t type) const;
  // Order of classes: the most bytes or, on request, objects first, then by name.
  [[nodiscard]] bool comes_first(const HeapShots::TypeSum& a, std::string_view name_a,
                                 const HeapShots::TypeSum& b, std::string_view name_b) const;
  [[nodiscard]] const std::string& function_name(FunctionId function) const {
    return in_.source.calls().functions().describe(function).name;
  }
  [[nodiscard]] std::vector<CallRow> call_rows() const;
  [[nodiscard]] Table heap_classes(const std::vector<HeapShots::Shot>& shots) const;
  [[nodiscard]] Table heap_references(const std::vector<HeapShots::Shot>& shots) const;
  // Nanoseconds since the time that seconds are counted from.
  [[nodiscard]] int64_t since_zero(Ticks time) const { return static_cast<int64_t>(time - zero_); }
  // "0x1f": where a type or object lies in its process.
  [[nodiscard]] std::string address(uint64_t id) const { return hex(in_.source.address_of(id)); }
  [[nodiscard]] size_t limit() const { return in_.options.rows.value_or(~size_t{0}); }
  // Rows "value, stack" of an owner's stacks, after `first` cells.
  void add_traces(Table& table, const std::vector<Cell>& first, const StackSums& sums,
                  uint64_t owner) const;
  void add_lines(Table& table, const std::vector<Cell>& first,
                 const std::vector<StackSums::Line>& lines) const;

  Input in_;
  Ticks zero_;
  bool has_vtables_;
  bool by_count_;  // types with the most objects come first
  std::map<size_t, HeapShotLeftOut> unfinished_;
};

}  // namespace telltale
