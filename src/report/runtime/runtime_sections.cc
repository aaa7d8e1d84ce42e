#include "report/runtime/runtime_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/weighted_stacks.h"
#include "analysis/weighted_tree.h"

namespace telltale {
namespace {

using Cell = Table::Cell;

// The smallest value that at least `percent` of all are not above. REQUIRES: sorted, not empty.
uint64_t percentile(const std::vector<uint64_t>& sorted, unsigned percent) {
  return sorted[(sorted.size() * percent + 99) / 100 - 1];
}

void add_percentiles(Section& section, const std::string& key, const std::string& label,
                     std::vector<uint64_t> values) {
  if (values.empty()) return;
  std::ranges::sort(values);
  uint64_t sum = 0;
  for (const uint64_t value : values) sum += value;
  section.add("total_" + key, "total " + label, sum, Show::duration);
  for (const unsigned percent : {50U, 90U, 99U})
    section.add(fmt::format("p{}_{}", percent, key),
                fmt::format("{} % of {} at most", percent, label), percentile(values, percent),
                Show::duration);
  section.add("max_" + key, "longest " + label, values.back(), Show::duration);
}

Cell optional_time(const std::optional<Ticks>& time, Ticks since) {
  return time ? Cell(*time - since) : Cell();
}

}  // namespace

const std::vector<std::string>& RuntimeSections::names() {
  static const std::vector<std::string> kNames = {
      "pauses", "growth", "retention", "contention", "hotspots", "timelines", "series"};
  return kNames;
}

Section RuntimeSections::make(const std::string& name) {
  if (name == "pauses") return pauses();
  if (name == "growth") return growth_section();
  if (name == "retention") return retention();
  if (name == "contention") return contention();
  if (name == "hotspots") return hotspots();
  if (name == "timelines") return timelines();
  return series();
}

const RuntimeTimeline& RuntimeSections::timeline() {
  if (!timeline_) timeline_ = source_.runtime_timeline(options_.filter, options_.workers, log());
  return *timeline_;
}

bool RuntimeSections::in_window(Ticks time) const {
  const uint64_t at = since_start(time);
  return at >= options_.filter.from_ns && at < options_.filter.to_ns;
}

std::string RuntimeSections::thread_name(size_t stream) const {
  const EventStream& told = source_.calls().streams()[stream];
  return told.thread_name.empty() ? fmt::format("0x{:x}", static_cast<uint64_t>(told.thread.tid))
                                  : told.thread_name;
}

std::string RuntimeSections::stack_text(const StackTable& stacks, StackTable::Id stack) const {
  const std::vector<FunctionId> functions = stacks.functions(stack);
  const size_t most = options_.long_tables ? functions.size() : options_.max_frames;
  const size_t first = functions.size() - std::min(functions.size(), most);
  std::string text = first == 0 ? "" : fmt::format("... {} more", first);
  for (size_t i = first; i < functions.size(); ++i) {
    if (!text.empty()) text += " > ";
    text += source_.calls().functions().describe(functions[i]).name;
  }
  return text;
}

std::string RuntimeSections::site(const StackTable& stacks, StackTable::Id stack,
                                  std::string_view runtime_type) const {
  const StackTable::Id innermost = stack;
  for (; stack != StackTable::Id::empty; stack = stacks.caller(stack)) {
    const std::string& name = source_.calls().functions().describe(stacks.innermost(stack)).name;
    if (name.starts_with("(wrapper ")) continue;
    if (runtime_type.empty() || name.find(runtime_type) == std::string::npos) return name;
  }
  if (innermost == StackTable::Id::empty) return "[no stack]";
  return source_.calls().functions().describe(stacks.innermost(innermost)).name;
}

Section RuntimeSections::pauses() {
  Section section{"pauses", "Pauses for garbage collection", {}, {}};
  std::vector<uint64_t> lengths;
  std::vector<uint64_t> to_stop;
  std::map<uint64_t, std::vector<uint64_t>> by_generation;
  Table all({{"at_ns", "AT", Show::duration},
             {"pause_ns", "PAUSE", Show::duration},
             {"to_stop_ns", "TO STOP", Show::duration},
             {"stopped_ns", "STOPPED", Show::duration},
             {"to_restart_ns", "TO RESTART", Show::duration},
             {"generation", "GENERATION"},
             {"collections", "COLLECTIONS"},
             {"shutdown", "SHUTDOWN"},
             {"thread", "THREAD", Show::text}});
  Cell shutdown;
  bool any_shutdown = false;
  uint64_t shutdown_ns = 0;
  for (const RuntimeTimeline::Pause& pause : timeline().pauses) {
    if (!in_window(pause.begin)) continue;
    if (pause.shutdown) {
      any_shutdown = true;
      shutdown_ns += pause.length();
      if (pause.end) shutdown = shutdown_ns;
    } else {
      lengths.push_back(pause.length());
      if (pause.stopped) to_stop.push_back(*pause.stopped - pause.begin);
      by_generation[pause.generation].push_back(pause.length());
    }
    if (all.rows() == limit()) continue;
    const auto step = [](const std::optional<Ticks>& from, const std::optional<Ticks>& to) {
      return from && to && *to >= *from ? Cell(*to - *from) : Cell();
    };
    all.add_row({since_start(pause.begin), pause.end ? Cell(pause.length()) : Cell(),
                 step(pause.begin, pause.stopped), step(pause.stopped, pause.restarting),
                 step(pause.restarting, pause.end), uint64_t{pause.generation}, pause.collections,
                 uint64_t{pause.shutdown}, thread_name(pause.stream)});
  }
  section.add("pauses", "pauses", uint64_t{lengths.size()});
  if (any_shutdown)
    section.add("shutdown_ns", "stops at the end of the program", shutdown, Show::duration);
  add_percentiles(section, "pause_ns", "pause", lengths);
  add_percentiles(section, "to_stop_ns", "time to stop", to_stop);
  Table generations({{"generation", "GENERATION"},
                     {"pauses", "PAUSES"},
                     {"total_ns", "TOTAL", Show::duration},
                     {"p50_ns", "MEDIAN", Show::duration},
                     {"p90_ns", "P90", Show::duration},
                     {"p99_ns", "P99", Show::duration},
                     {"max_ns", "MAX", Show::duration}});
  for (auto& [generation, values] : by_generation) {
    std::ranges::sort(values);
    uint64_t total = 0;
    for (const uint64_t value : values) total += value;
    generations.add_row({generation, uint64_t{values.size()}, total, percentile(values, 50),
                         percentile(values, 90), percentile(values, 99), values.back()});
  }
  section.add("by_generation", "By the oldest generation that was collected",
              std::move(generations));
  section.add("timeline", "In order of time", std::move(all));
  return section;
}

Section RuntimeSections::contention() {
  Section section{"contention", "Waiting for locks, by call site", {}, {}};
  struct Sum {
    uint64_t waits = 0, acquired = 0, failed = 0, unfinished = 0, total = 0;
    std::vector<uint64_t> lengths;
    std::set<uint64_t> locks;
    std::set<size_t> threads;
    void add(const RuntimeTimeline::Wait& wait) {
      ++waits;
      const uint64_t length = wait.end ? *wait.end - wait.begin : 0;
      ++(!wait.end ? unfinished : wait.acquired ? acquired : failed);
      total += length;
      lengths.push_back(length);
      locks.insert(to_number(wait.object));
      threads.insert(wait.stream);
    }
  };
  std::map<std::string, Sum> sites;
  std::map<std::string, Sum> stacks;
  Sum all;
  for (const RuntimeTimeline::Wait& wait : timeline().waits) {
    if (!in_window(wait.begin) || !keeps(wait.stream)) continue;
    all.add(wait);
    sites[site(timeline().stacks, wait.stack, "System.Threading.Monitor:")].add(wait);
    stacks[stack_text(timeline().stacks, wait.stack)].add(wait);
  }
  section.add("waits", "waits", all.waits);
  section.add("unfinished", "still waiting at the end", all.unfinished);
  add_percentiles(section, "blocked_ns", "wait", all.lengths);
  const auto table = [&](std::map<std::string, Sum>& sums, const std::string& key,
                         const std::string& title) {
    std::vector<std::pair<std::string, Sum>> sorted(sums.begin(), sums.end());
    std::ranges::stable_sort(sorted, std::greater(),
                             [](const auto& one) { return one.second.total; });
    if (sorted.size() > limit()) sorted.resize(limit());
    Table made({{"blocked_ns", "BLOCKED", Show::duration},
                {"waits", "WAITS"},
                {"acquired", "ACQUIRED"},
                {"failed", "FAILED"},
                {"median_ns", "MEDIAN", Show::duration},
                {"max_ns", "MAX", Show::duration},
                {"locks", "LOCKS"},
                {"threads", "THREADS"},
                {key, title, Show::text}});
    for (auto& [name, sum] : sorted) {
      std::ranges::sort(sum.lengths);
      made.add_row({sum.total, sum.waits, sum.acquired, sum.failed, percentile(sum.lengths, 50),
                    sum.lengths.back(), uint64_t{sum.locks.size()}, uint64_t{sum.threads.size()},
                    name});
    }
    return made;
  };
  section.add("sites", "", table(sites, "site", "SITE"));
  section.add("stacks", "By stack", table(stacks, "stack", "STACK"));
  return section;
}

Section RuntimeSections::hotspots() {
  Section section{"hotspots", "Where exceptions are thrown", {}, {}};
  const WeightedStacks stacks =
      source_.weighted_stacks(Weighed::throws, options_.filter, options_.workers, log());
  std::map<std::pair<std::string, std::string>, uint64_t> sites;     // site, type
  std::map<std::pair<std::string, std::string>, uint64_t> by_stack;  // stack, type
  uint64_t all = 0;
  for (const auto& [stream, sums] : stacks.by_stream) {
    for (const auto& [owner, of_type] : sums.by_owner()) {
      const std::string type = owner == 0 ? "" : std::string(stacks.types.describe(owner).name);
      for (const auto& [id, sum] : of_type) {
        const auto stack = static_cast<StackTable::Id>(id);
        sites[{site(stacks.stacks, stack, {}), type}] += sum.count;
        by_stack[{stack_text(stacks.stacks, stack), type}] += sum.count;
        all += sum.count;
      }
    }
  }
  section.add("throws", "exceptions", all);
  const auto table = [&](const auto& counts, const std::string& key, const std::string& title) {
    std::vector<std::pair<std::pair<std::string, std::string>, uint64_t>> sorted(counts.begin(),
                                                                                 counts.end());
    std::ranges::stable_sort(sorted, std::greater(), [](const auto& one) { return one.second; });
    if (sorted.size() > limit()) sorted.resize(limit());
    Table made({{"throws", "THROWS"},
                {"share", "SHARE", Show::percent},
                {"type", "TYPE", Show::text},
                {key, title, Show::text}});
    for (const auto& [names, count] : sorted) {
      made.add_row({count, static_cast<double>(count) / static_cast<double>(all),
                    names.second.empty() ? Cell() : Cell(names.second), names.first});
    }
    return made;
  };
  section.add("sites", "", table(sites, "site", "SITE"));
  section.add("stacks", "By stack", table(by_stack, "stack", "STACK"));
  return section;
}

Section RuntimeSections::timelines() {
  Section section{"timelines", "Threads over time", {}, {}};
  Table table({{"pid", "PID"},
               {"tid", "TID"},
               {"name", "NAME", Show::text},
               {"started_ns", "STARTED", Show::duration},
               {"ended_ns", "ENDED", Show::duration},
               {"first_ns", "FIRST EVENT", Show::duration},
               {"last_ns", "LAST EVENT", Show::duration},
               {"calls", "CALLS"},
               {"allocations", "ALLOCATIONS"},
               {"allocated_bytes", "BYTES"},
               {"throws", "THROWS"},
               {"waits", "WAITS"},
               {"waited_ns", "WAITED", Show::duration}});
  const Ticks zero = source_.calls().first_time();
  for (const auto& [stream, thread] : timeline().threads) {
    if (!keeps(stream) || table.rows() == limit()) continue;
    const EventStream& told = source_.calls().streams()[stream];
    table.add_row({told.thread.pid, told.thread.tid, told.thread_name,
                   optional_time(thread.started, zero), optional_time(thread.ended, zero),
                   thread.any ? Cell(thread.first - zero) : Cell(),
                   thread.any ? Cell(thread.last - zero) : Cell(), thread.calls, thread.allocations,
                   thread.allocated_bytes, thread.throws, thread.waits, thread.waited});
  }
  section.add("threads", "", std::move(table));
  return section;
}

}  // namespace telltale
