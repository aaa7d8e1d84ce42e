// What the program did: allocations, calls, exceptions, locks.
#include <algorithm>
#include <tuple>
#include <utility>

#include "base/keep_first.h"
#include "report/runtime/mono_sections.h"

namespace telltale {

Section MonoSections::alloc() const {
  struct Allocated {
    uint64_t type = 0;  // the class
    uint64_t id = 0;    // that means it
    HeapShots::Sum sum;
  };
  std::vector<Allocated> allocated;
  HeapShots::Sum all;
  for (const auto& [id, sum] : in_.facts.allocations.by_type()) {
    allocated.push_back({class_of(id), id, {sum.objects, sum.bytes}});
    all += allocated.back().sum;
  }
  std::ranges::stable_sort(allocated, {}, &Allocated::type);
  std::vector<std::pair<HeapShots::TypeSum, std::string>> rows;  // with names
  for (const Allocated& one : allocated) {
    if (rows.empty() || rows.back().first.type != one.type)
      rows.push_back({{one.type, {}}, type_name(one.type)});
    rows.back().first.sum += one.sum;
  }
  keep_first(rows, limit(), [this](const auto& a, const auto& b) {
    return comes_first(a.first, a.second, b.first, b.second);
  });

  Section section{"alloc", "Allocations", {}, {}};
  section.add("bytes", "Bytes", all.bytes);
  section.add("objects", "Objects", all.objects);
  Table types({{"bytes", "BYTES"},
               {"objects", "OBJECTS"},
               {"average", "AVERAGE"},
               {"type", "TYPE", Show::text},
               {"class", "CLASS", Show::text}});
  Table traces({{"type", "TYPE", Show::text},
                {"class", "CLASS", Show::text},
                {"bytes", "BYTES"},
                {"stack", "STACK", Show::text}});
  for (const auto& [total, name] : rows) {
    const auto& [type, sum] = total;
    types.add_row({sum.bytes, sum.objects, sum.bytes / sum.objects, name, address(type)});
    if (!in_.stacks) continue;
    AddressMap<StackSums::Sum> together;
    for (const Allocated& one : std::ranges::equal_range(allocated, type, {}, &Allocated::type)) {
      const auto* sums = in_.stacks->allocations.by_owner().find(one.id);
      if (sums == nullptr) continue;
      for (const auto& [stack, theirs] : *sums) {
        together[stack].count += theirs.count;
        together[stack].value += theirs.value;
      }
    }
    const bool outermost = in_.options.like_mprof && in_.stacks->recorded;
    add_lines(traces, {name, address(type)},
              stack_lines(together, in_.stacks->stacks, in_.options.max_frames,
                          outermost ? KeepFrames::outermost : KeepFrames::innermost));
  }
  section.add("types", "", std::move(types));
  if (in_.stacks) section.add("traces", "Allocations by stack", std::move(traces));
  return section;
}

std::vector<MonoSections::CallRow> MonoSections::call_rows() const {
  std::vector<CallRow> rows;
  if (in_.mprof_calls) {
    for (const MprofCalls::Method& method : in_.mprof_calls->methods)
      rows.push_back({method.function, method.calls, method.total(), method.self, 0, 0, 0});
  } else if (in_.calls) {
    for (const FunctionProfile& row : in_.calls->functions) {
      if (row.calls + row.unfinished + row.orphan_exits == 0) continue;
      rows.push_back({row.function, row.calls + row.unfinished, row.total, row.self, row.unwound,
                      row.unfinished, row.orphan_exits});
    }
  }
  const std::string& sort = in_.options.method_sort;
  std::ranges::stable_sort(rows, [&](const CallRow& a, const CallRow& b) {
    if (sort == "calls") return a.calls > b.calls;
    return sort == "self" ? a.self > b.self : a.total > b.total;
  });
  return rows;
}

Section MonoSections::call() const {
  const bool like = in_.options.like_mprof;
  constexpr uint64_t kMillisecond = 1'000'000;
  const std::vector<CallRow> rows = call_rows();
  Section section{"call", "Method calls", {}, {}};
  uint64_t calls = 0;
  uint64_t orphans = 0;
  for (const CallRow& row : rows) {
    calls += row.calls;
    orphans += row.orphan_exits;
  }
  section.add("calls", "Calls", calls);
  if (like) {
    section.add("unmatched_exits", "Exits that do not match", in_.mprof_calls->unmatched_count);
  } else {
    section.add("orphan_exits", "Exits without an entry", orphans);
  }
  const Show time = like ? Show::plain : Show::duration;
  std::vector<Table::Column> columns = {
      {like ? "total_ms" : "total_ns", like ? "TOTAL MS" : "TOTAL", time},
      {like ? "self_ms" : "self_ns", like ? "SELF MS" : "SELF", time},
      {"calls", "CALLS"}};
  if (!like) columns.insert(columns.end(), {{"unwound", "UNWOUND"}, {"unfinished", "UNFINISHED"}});
  columns.push_back({"method", "METHOD", Show::text});
  Table methods(std::move(columns));
  Table traces(
      {{"method", "METHOD", Show::text}, {"calls", "CALLS"}, {"stack", "CALLERS", Show::text}});
  for (const CallRow& row : rows) {
    if (row.calls == 0 || (!in_.options.verbose && row.total < kMillisecond)) continue;
    if (methods.rows() >= limit()) break;
    const std::string& name = function_name(row.function);
    const uint64_t unit = like ? kMillisecond : 1;
    std::vector<Cell> cells = {row.total / unit, row.self / unit, row.calls};
    if (!like) cells.insert(cells.end(), {row.unwound, row.unfinished});
    cells.emplace_back(name);
    methods.add_row(cells);
    if (!in_.stacks) continue;
    const auto* sums = in_.stacks->calls.by_owner().find(to_number(row.function));
    if (sums != nullptr) {
      add_lines(
          traces, {name},
          stack_lines(*sums, in_.stacks->stacks, in_.options.max_frames, KeepFrames::innermost));
    }
  }
  section.add("methods", "", std::move(methods));
  if (in_.stacks) section.add("traces", "Calls by callers", std::move(traces));
  if (like) {
    Table unmatched({{"position", "STACK POSITION"}, {"method", "METHOD", Show::text}});
    for (const MprofCalls::Unmatched& exit : in_.mprof_calls->unmatched)
      unmatched.add_row({exit.position, function_name(exit.function)});
    section.add("unmatched", "Exits that do not match", std::move(unmatched));
  }
  return section;
}

Section MonoSections::exception() const {
  using Kind = ClauseEvent::Kind;
  const ThrownExceptions& exceptions = in_.facts.exceptions;
  Section section{"exception", "Exceptions", {}, {}};
  section.add("throws", "Thrown", exceptions.throws());
  section.add("catch", "Catch clauses run", exceptions.clauses(Kind::catches));
  section.add("filter", "Filter clauses run", exceptions.clauses(Kind::filter));
  section.add("finally", "Finally clauses run", exceptions.clauses(Kind::finally));
  section.add("fault", "Fault clauses run", exceptions.clauses(Kind::fault));
  if (in_.stacks) {
    Table traces({{"throws", "THROWN"}, {"stack", "STACK", Show::text}});
    add_traces(traces, {}, in_.stacks->throws, 0);
    section.add("traces", "Exceptions by stack", std::move(traces));
  }
  return section;
}

Section MonoSections::monitor() const {
  using Kind = MonitorEvent::Kind;
  const LockWaits& waits = in_.facts.locks;
  std::vector<std::pair<uint64_t, LockWaits::Lock>> locks;
  for (const auto& [object, lock] : waits.by_object()) locks.emplace_back(object, lock);
  std::ranges::sort(locks, [](const auto& a, const auto& b) {
    return std::tuple(~a.second.wait, a.first) < std::tuple(~b.second.wait, b.first);
  });
  Section section{"monitor", "Locks", {}, {}};
  section.add("contentions", "Contentions", waits.events(Kind::contended));
  section.add("acquired", "Acquired", waits.events(Kind::acquired));
  section.add("failures", "Failures", waits.events(Kind::failed));
  Table table({{"object", "LOCK", Show::text},
               {"contentions", "CONTENTIONS"},
               {"acquired", "ACQUIRED"},
               {"failed", "FAILED"},
               {"wait_ns", "WAIT", Show::duration},
               {"max_ns", "MAX", Show::duration},
               {"average_ns", "AVERAGE", Show::duration}});
  Table traces({{"object", "LOCK", Show::text},
                {"contentions", "CONTENTIONS"},
                {"stack", "STACK", Show::text}});
  for (const auto& [object, lock] : locks) {
    if (table.rows() >= limit()) break;
    Cell average;  // of a lock that nobody contended for there is none
    if (lock.contentions != 0)
      average = static_cast<double>(lock.wait) / static_cast<double>(lock.contentions);
    table.add_row({address(object), lock.contentions, lock.acquired, lock.failed, lock.wait,
                   lock.longest, average});
    if (in_.stacks) add_traces(traces, {address(object)}, in_.stacks->contentions, object);
  }
  section.add("locks", "", std::move(table));
  if (in_.stacks) section.add("traces", "Contentions by stack", std::move(traces));
  return section;
}

}  // namespace telltale
