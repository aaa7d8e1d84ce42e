#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/calls/profile.h"
#include "analysis/heap/heap_growth.h"
#include "analysis/runtime/event_stacks.h"
#include "analysis/runtime/mprof_calls.h"
#include "analysis/runtime/runtime_facts.h"
#include "analysis/runtime/runtime_timeline.h"
#include "base/error.h"
#include "base/problem.h"
#include "import/runtime_events.h"
#include "import/timed_calls.h"
#include "model/call_filter.h"
#include "output/table/section.h"
#include "output/table/table.h"
#include "report/runtime/process_columns.h"
#include "report/runtime/runtime_report_options.h"

namespace telltale {

std::string hex(uint64_t number);  // "0x1f"

// Figures total_KEY, p50_KEY, p90_KEY, p99_KEY and max_KEY of the values; none if there are none.
void add_percentiles(Section& section, const std::string& key, std::vector<Ticks> values);

// What the reports on a managed runtime are made from. Some of it is read at once for all reports,
// when this is made; the rest when a report first asks for it. Members that read may not be called
// by several threads at once.
class RuntimeReadings {
 public:
  // Report::reads.
  enum Reads : uint8_t {
    facts_read = 1,            // facts and, with --traces, stacks
    call_times_read = 2,       // times of calls, in one of two ways of counting
    heap_references_read = 4,  // references in heap shots, with --traces
    event_sizes_read = 8,
  };

  // `source` and `problems` outlive this. `reads`: those of all reports to be made. The first
  // reading of the recording adds to `problems`.
  RuntimeReadings(const RuntimeEvents& source, RuntimeReportOptions options, CallFilter filter,
                  unsigned reads, ProblemLog& problems);

  [[nodiscard]] const RuntimeEvents& source() const { return source_; }
  [[nodiscard]] const RuntimeReportOptions& options() const { return options_; }
  [[nodiscard]] const CallFilter& filter() const { return filter_; }
  [[nodiscard]] const EventStream& stream(size_t number) const {
    return source_.calls().streams()[number];
  }

  // What `reads` asked for.
  std::optional<RuntimeFacts> facts;
  std::optional<Profile> calls;
  std::optional<MprofCalls> mprof_calls;  // with --like-mprof, instead of calls
  std::optional<EventStacks> stacks;      // with --traces
  std::optional<EventSizes> sizes;

  // Read on request.
  const RuntimeTimeline& timeline();
  WeightedStacks weighted_stacks(StackMetric weighed, const CallFilter& filter);
  // `left_out`: later shots than those returned.
  std::vector<HeapGraph> last_heap_graphs(std::vector<HeapShotLeftOut>& left_out);
  struct Shots {
    std::vector<HeapShots::Shot> shots;  // complete shots of the running program
    std::vector<TypeGrowth> growth;
    std::vector<HeapShots::LeftOut> left_out;
  };
  const Shots& shots();
  // The data of the report `growth`. Errors: usage, if no process has two shots.
  Result<std::vector<TypeGrowth>> growth();

  // Heap shots in part, which some report leaves out, by number.
  std::map<size_t, HeapShotLeftOut> in_part;

  // The most rows of a table: in reports that mprof-report has, too, and in all others, which show
  // people fewer.
  [[nodiscard]] size_t all_rows() const { return options_.rows.value_or(~size_t{0}); }
  [[nodiscard]] size_t shown_rows() const {
    constexpr size_t kShownRows = 30;
    return options_.rows.value_or(options_.for_programs ? ~size_t{0} : kShownRows);
  }
  // The window of time and threads that the filter keeps.
  [[nodiscard]] bool in_window(Ticks time) const;
  [[nodiscard]] bool keeps_thread(size_t stream_number) const {
    return filter_.keeps_thread(stream(stream_number).thread);
  }

  // Nanoseconds since the recording's first event; since what mprof-report takes for it, with
  // --like-mprof.
  [[nodiscard]] uint64_t since_start(Ticks time) const {
    return time - source_.calls().first_time();
  }
  [[nodiscard]] int64_t since_zero(Ticks time) const { return static_cast<int64_t>(time - zero_); }
  [[nodiscard]] Ticks zero() const { return zero_; }

  [[nodiscard]] const std::string& function_name(FunctionId function) const {
    return source_.calls().functions().describe(function).name;
  }
  [[nodiscard]] std::string thread_name(size_t stream_number) const;
  [[nodiscard]] size_t processes() const { return processes_.size(); }
  // The process id of an EventStream::process.
  [[nodiscard]] int64_t pid(size_t process) const { return processes_.pid(process); }
  // The cell of kProcessNumber.
  [[nodiscard]] TableCell process_number(size_t process) const {
    return processes_.number(process);
  }
  // The cells of kPid and kProcessNumber for a type's or object's id; empty: the id is of none.
  [[nodiscard]] std::array<TableCell, 2> process_cells(uint64_t id) const {
    return processes_.cells_of(id);
  }
  [[nodiscard]] TableSchema by_process(TableSchema columns) const {
    return processes_.in(std::move(columns));
  }
  // "0x1f": address of a type or object in its process.
  [[nodiscard]] std::string address(uint64_t id) const { return hex(source_.address_of(id)); }
  // The class of a type's id, or the id itself if the class is unknown.
  [[nodiscard]] uint64_t class_of(uint64_t type) const;
  // Name of a class_of(), or a text that says that it is unresolved.
  [[nodiscard]] std::string type_name(uint64_t type) const;
  // Its name as recorded, without a copy; empty: it is unresolved.
  [[nodiscard]] std::string_view recorded_type_name(uint64_t type) const {
    return facts->types.class_name(type);
  }
  // Orders classes by bytes or, on request, by objects, largest first; ties by type_name(). Names
  // are those of recorded_type_name().
  [[nodiscard]] bool comes_first(const HeapShots::TypeSum& a, std::string_view name_a,
                                 const HeapShots::TypeSum& b, std::string_view name_b) const {
    if (is_larger(a.sum, b.sum)) return true;
    return !is_larger(b.sum, a.sum) && name_comes_first(a.type, name_a, b.type, name_b);
  }
  // The same, without the order of ties.
  [[nodiscard]] bool is_larger(const HeapShots::Sum& a, const HeapShots::Sum& b) const {
    if (a.*largest_ != b.*largest_) return a.*largest_ > b.*largest_;
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.objects > b.objects;
  }

  // The method where something happened (calling_method.h). A stack that the filter leaves empty
  // may have been recorded.
  [[nodiscard]] std::string site_text(const StackTable& table, StackTable::Id stack,
                                      std::string_view runtime_type) const;
  // "outer > inner"; for people the innermost frames.
  [[nodiscard]] std::string stack_text(const StackTable& table, StackTable::Id stack) const;
  // Rows "value, stack" of an owner's stacks, after `first` cells.
  void add_traces(Table& table, const std::vector<TableCell>& first, const StackSums& sums,
                  uint64_t owner) const;
  // The same of sums by stack.
  void add_lines(Table& table, const std::vector<TableCell>& first,
                 const AddressMap<StackSums::Sum>& sums, bool recorded_stacks) const;

 private:
  void read_facts(unsigned reads);
  [[nodiscard]] bool name_comes_first(uint64_t type_a, std::string_view name_a, uint64_t type_b,
                                      std::string_view name_b) const;
  // The log for the problems of a pass: only the first pass reports, later ones find the same.
  ProblemLog& log() { return std::exchange(read_, true) ? same_again_ : problems_; }

  const RuntimeEvents& source_;
  RuntimeReportOptions options_;
  CallFilter filter_;
  ProblemLog& problems_;
  ProcessColumns processes_;
  ProblemLog same_again_;
  bool read_ = false;
  Ticks zero_;
  bool has_vtables_;
  uint64_t HeapShots::Sum::* largest_;  // what orders classes first
  std::optional<RuntimeTimeline> timeline_;
  std::optional<Shots> shots_;
};

}  // namespace telltale
