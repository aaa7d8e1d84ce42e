#include "import/stacktrack/stacktrack_processes.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

namespace telltale {
namespace {

// A thread's events in the next file may be slightly older than its last ones in the file before: a
// signal handler interrupts an event, and its own events fill the file.
constexpr double kToleranceMs = 1;

// From the first event to the last; without events, the beginning.
StacktrackPart::Span span_of(const StacktrackPart& part) {
  if (part.threads.empty()) return {part.start, part.start};
  StacktrackPart::Span whole = part.threads.begin()->second;
  for (const auto& [tid, span] : part.threads) {
    whole.first = std::min(whole.first, span.first);
    whole.last = std::max(whole.last, span.last);
  }
  return whole;
}

struct Process {
  int64_t pid = 0;
  uint32_t first_file = 0;
  const StacktrackPart* latest = nullptr;
  std::string series;  // of the latest part
  std::string program;
  std::vector<std::pair<uint64_t, uint64_t>> cycles;  // the first and the last of each part
  uint64_t last_cycle = 0;
  double end = 0;
  std::map<int64_t, double> thread_ends;  // by tid
  std::vector<size_t> parts;              // their indexes

  explicit Process(const StacktrackPart& part) : pid(part.pid), first_file(part.file) { add(part); }

  void add(const StacktrackPart& part) {
    first_file = std::min(first_file, part.file);
    if (!part.program.empty()) program = part.program;
    series = part.series;
    cycles.emplace_back(part.first_cycle, part.last_cycle);
    last_cycle = std::max(last_cycle, part.last_cycle);
    const double part_end = span_of(part).last;
    end = latest == nullptr ? part_end : std::max(end, part_end);
    for (const auto& [tid, span] : part.threads) {
      double& last = thread_ends.try_emplace(tid, span.last).first->second;
      last = std::max(last, span.last);
    }
    latest = &part;
  }

  // REQUIRES: the same pid.
  [[nodiscard]] bool continues_in(const StacktrackPart& part) const {
    if (!program.empty() && !part.program.empty() && program != part.program) return false;
    // A ring in memory that was written to several files has the same cycle in each.
    const bool same_sink = part.start != 0 && part.start == latest->start;
    const bool cycles_known = last_cycle != 0 && part.first_cycle != 0;
    // A thread that is stopped while it records may write to a later file of the series first.
    if (cycles_known && is_of_series(part)) return !has_cycles_of(part) || same_sink;
    if (cycles_known && part.first_cycle <= last_cycle && !same_sink) return false;
    return overlap_with(part) <= kToleranceMs * part.ticks_per_ms;
  }

  [[nodiscard]] bool is_of_series(const StacktrackPart& part) const {
    return !series.empty() && series == part.series;
  }
  [[nodiscard]] bool has_cycles_of(const StacktrackPart& part) const {
    return std::ranges::any_of(cycles, [&](const auto& each) {
      return part.first_cycle <= each.second && each.first <= part.last_cycle;
    });
  }

  // The most of its threads, in ticks.
  [[nodiscard]] double overlap_with(const StacktrackPart& part) const {
    double most = 0;
    for (const auto& [tid, span] : part.threads) {
      const auto found = thread_ends.find(tid);
      if (found != thread_ends.end()) most = std::max(most, found->second - span.first);
    }
    return most;
  }

  // The larger, the more probable.
  [[nodiscard]] auto fit(const StacktrackPart& part) const {
    return std::tuple(is_of_series(part), overlap_with(part) == 0,
                      part.first_cycle == last_cycle + 1, end);
  }
};

}  // namespace

std::string series_of(const std::string& path) {
  constexpr std::string_view kDigits = "0123456789";
  const size_t name = path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1;
  const std::string stem = path.substr(0, std::max(name, path.find('.', name)));
  const size_t last = stem.find_last_not_of(kDigits);
  if (last == std::string::npos || last + 1 == stem.size() || last <= name || stem[last] != '_')
    return {};
  return stem.substr(0, last);
}

StacktrackProcesses number_processes(std::span<const StacktrackPart> parts,
                                     const std::function<bool(size_t, size_t)>& share_events) {
  std::vector<uint32_t> in_time(parts.size());
  std::iota(in_time.begin(), in_time.end(), 0U);
  std::ranges::stable_sort(in_time, {}, [&](uint32_t i) {
    return std::tuple(span_of(parts[i]).first, parts[i].first_cycle, parts[i].file);
  });
  std::vector<Process> processes;
  std::map<int64_t, std::vector<size_t>> by_pid;
  std::vector<size_t> of_parts(parts.size());
  for (const uint32_t i : in_time) {
    std::vector<size_t>& same_pid = by_pid[parts[i].pid];
    std::optional<size_t> best;
    for (const size_t p : same_pid) {
      const bool shares =
          share_events && std::ranges::any_of(processes[p].parts,
                                              [&](size_t other) { return share_events(other, i); });
      if (shares) {
        best = p;
        break;
      }
      if (processes[p].continues_in(parts[i]) &&
          (!best || processes[p].fit(parts[i]) > processes[*best].fit(parts[i]))) {
        best = p;
      }
    }
    if (best) {
      processes[*best].add(parts[i]);
    } else {
      same_pid.push_back(processes.size());
      processes.emplace_back(parts[i]);
    }
    of_parts[i] = best.value_or(processes.size() - 1);
    processes[of_parts[i]].parts.push_back(i);
  }
  std::vector<size_t> order(processes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {},
                    [&](size_t p) { return std::pair(processes[p].pid, processes[p].first_file); });
  StacktrackProcesses numbered;
  std::vector<uint32_t> numbers(processes.size());
  for (size_t i = 0; i < order.size(); ++i) {
    numbers[order[i]] = static_cast<uint32_t>(i);
    const int64_t pid = processes[order[i]].pid;
    const bool same_pid = i != 0 && pid == processes[order[i - 1]].pid;
    const bool alone = by_pid[pid].size() == 1;
    numbered.among_pid.push_back(alone ? 0 : same_pid ? numbered.among_pid.back() + 1 : 1);
  }
  for (const size_t process : of_parts) numbered.of_parts.push_back(numbers[process]);
  return numbered;
}

}  // namespace telltale
