#include "analysis/paths/path_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "analysis/paths/prefix_history.h"
#include "model/late_variables.h"

namespace telltale {
namespace {

// Bounds on the cost of damaged or hostile input: blocks of completed paths, and edges visited on
// the way to candidates.
constexpr size_t kMostBlocks = size_t{1} << 22;
constexpr size_t kMostEdges = size_t{1} << 26;

using Path = PathHistory::Path;
using Reading = PathHistory::Reading;

class HistoryReader {
 public:
  HistoryReader(const PathGraph& graph, const PathRecord& record)
      : graph_(graph), numbers_(graph.numbers), record_(record) {}

  PathHistory read(std::span<const uint32_t> candidates) {
    if (read_ring()) {
      for (const uint32_t block : candidates) add_regular_readings(block);
      if (history_.readings.empty()) {
        for (const uint32_t block : candidates) add_readings_between_updates(block);
      }
    }
    if (history_.readings.empty()) read_unset(candidates);
    if (history_.readings.empty()) {
      contradict(
          gave_up_ ? "too many paths lead to the point where the function stopped"
                   : fmt::format("with path sum {}, the function cannot have stopped where it did",
                                 record_.sum));
    }
    return std::move(history_);
  }

 private:
  // Sets completed and complete. Returns false if nothing in the record is usable.
  bool read_ring() {
    const size_t size = record_.ring.size();
    if (size == 0 && !graph_.has_ring()) return history_.complete = true;
    if (size == 0) return contradict("the ring of path numbers is empty");
    if (record_.next >= size) {
      return contradict(
          fmt::format("the ring's index is {}, but it has {} slots", record_.next, size));
    }
    const bool full = record_.ring.back() != -1;
    size_t count = full ? size : static_cast<size_t>(record_.next);
    size_t first = full ? static_cast<size_t>(record_.next) : 0;
    if (const size_t most = kMostBlocks / graph_.blocks.size() + 1; count > most) {
      contradict(fmt::format("the oldest {} paths are omitted", count - most));
      first += count - most;
      count = most;
    }
    for (size_t i = 0; i < count; ++i) append(record_.ring[(first + i) % size]);
    // Only the first path begins at the entry.
    history_.complete =
        history_.completed.empty() ? !full && count == 0 : !history_.completed.front().start;
    if (!full && !history_.complete)
      contradict("the oldest path does not begin at the function's entry");
    return true;
  }

  // Older paths that do not lead to this one are dropped.
  void append(int64_t number) {
    const std::optional<Path> path = path_of(number);
    const bool fits = path && (history_.completed.empty() || follows(*path));
    if (!fits) {
      contradict(path ? fmt::format("path {} cannot follow the one before it", number)
                      : fmt::format("there is no path {}", number));
      history_.completed.clear();
    }
    if (path) history_.completed.push_back(*path);
  }

  [[nodiscard]] std::optional<Path> path_of(int64_t number) const {
    if (number < 0) return std::nullopt;
    const auto found = numbers_.path(static_cast<uint64_t>(number));
    if (!found) return std::nullopt;
    Path path;
    path.number = static_cast<uint64_t>(number);
    path.blocks = blocks_of(numbers_, *found);
    if (found->start != kFromEntry) path.start = found->start;
    if (!found->edges.empty() && numbers_.edges()[found->edges.back()].is_back)
      path.ended_with = found->edges.back();
    return path;
  }

  // Whether the newest path ends with the back edge after which this one begins.
  [[nodiscard]] bool follows(const Path& path) const {
    return path.start && path.start == history_.completed.back().ended_with;
  }
  [[nodiscard]] bool at_exit() const {
    return !history_.completed.empty() && !history_.completed.back().ended_with;
  }

  bool contradict(std::string what) {
    if (history_.contradiction.empty()) history_.contradiction = std::move(what);
    return false;
  }
  void add(std::optional<Reading> reading, bool between_updates = false) {
    if (!reading) return;
    reading->between_updates = between_updates;
    if (std::ranges::find(history_.readings, *reading) == history_.readings.end())
      history_.readings.push_back(*std::move(reading));
  }

  // Determines the start of the incomplete path.
  [[nodiscard]] PathStart start_of_partial() const {
    if (history_.completed.empty()) return kFromEntry;
    return history_.completed.back().ended_with.value_or(kFromEntry);
  }

  [[nodiscard]] std::optional<Reading> prefix_until(const Path& path, uint32_t block,
                                                    size_t completed) const {
    const auto at = std::ranges::find(path.blocks, block);
    if (at == path.blocks.end()) return std::nullopt;
    return Reading{.partial = {path.blocks.begin(), at + 1}, .completed = completed};
  }

  // Treats the newest path as the current one, stopped in `block` after its number was stored.
  [[nodiscard]] std::optional<Reading> reading_of_newest(uint32_t block) const {
    const Path& newest = history_.completed.back();
    auto reading = prefix_until(newest, block, history_.completed.size() - 1);
    if (!reading) return std::nullopt;
    // Its number cannot have been stored before a block that stores it.
    const auto stores = [&](uint32_t b) { return graph_.blocks[b].stores_path; };
    const bool later =
        std::any_of(newest.blocks.begin() + static_cast<ptrdiff_t>(reading->partial.size()),
                    newest.blocks.end(), stores);
    if (later && std::ranges::none_of(reading->partial, stores)) return std::nullopt;
    return reading;
  }

  void add_regular_readings(uint32_t block) {
    if (at_exit()) {
      if (record_.sum == 0) add(reading_of_newest(block));
      return;
    }
    for (Reading& reading : readings_with_sum(block, static_cast<uint64_t>(record_.sum)))
      add(std::move(reading));
  }

  std::vector<Reading> readings_with_sum(uint32_t block, uint64_t sum) {
    constexpr size_t kMostReadings = 4;
    constexpr size_t kMostSteps = 100'000;
    std::vector<Reading> readings;
    edges_seen_ += numbers_.edges().size();
    if (edges_seen_ > kMostEdges) gave_up_ = true;
    if (gave_up_) return readings;
    const PathPrefixes prefixes =
        numbers_.prefixes(start_of_partial(), block, sum, kMostReadings, kMostSteps);
    gave_up_ = !prefixes.is_complete;
    for (const AcyclicPath& path : prefixes.found) {
      readings.push_back(
          {.partial = blocks_of(numbers_, path), .completed = history_.completed.size()});
    }
    return readings;
  }

  // A record is updated by several stores; a signal, or another thread that crashes, can stop a
  // function between two of them.
  void add_readings_between_updates(uint32_t block) {
    if (!history_.completed.empty()) {
      // The index is updated, and the path sum is the stored number, 0, or the start of the next
      // path.
      const auto sum = static_cast<uint64_t>(record_.sum);
      const PathStart start = start_of_partial();
      if (sum == history_.completed.back().number || sum == 0 ||
          (start != kFromEntry && sum == numbers_.edges()[start].increment))
        add(reading_of_newest(block), true);
    }
    if (at_exit()) return;
    // The path sum is complete; the ring may contain it already, but the index is not updated.
    const std::optional<Path> path = path_of(record_.sum);
    if (path && path->start.value_or(kFromEntry) == start_of_partial())
      add(prefix_until(*path, block, history_.completed.size()), true);
    add_readings_beside_increments(block);
  }

  // The increment of an edge is added at the end of its source or at the start of its target.
  void add_readings_beside_increments(uint32_t block) {
    const auto sum = static_cast<uint64_t>(record_.sum);
    for (const PathEdge& edge : numbers_.edges()) {
      if (edge.is_back || edge.increment == 0) continue;
      if (edge.from == block && sum >= edge.increment) {
        for (Reading& reading : readings_with_sum(block, sum - edge.increment))
          add(std::move(reading), true);
      }
      if (edge.to == block && block != kExitNode) {
        for (Reading& reading : readings_with_sum(edge.from, sum)) {
          reading.partial.push_back(block);
          add(std::move(reading), true);
        }
      }
    }
  }

  // In the entry block the record may not be initialized yet; no other block precedes it.
  void read_unset(std::span<const uint32_t> candidates) {
    if (record_.is_set || std::ranges::find(candidates, kEntryNode) == candidates.end()) return;
    history_ = {};
    history_.complete = true;
    history_.readings.push_back({.partial = {kEntryNode}});
  }

  const PathGraph& graph_;
  const PathNumbers& numbers_;
  const PathRecord& record_;
  PathHistory history_;
  size_t edges_seen_ = 0;
  bool gave_up_ = false;
};

// Candidates by what their record has.
struct Candidates {
  std::vector<uint32_t> all;
  std::vector<uint32_t> without_ring;
  std::vector<uint32_t> without_sum;
};

Candidates sort_candidates(const LateVariables& late, std::span<const uint32_t> candidates) {
  Candidates sorted;
  for (const uint32_t block : candidates) {
    (!late.has_sum[block]    ? sorted.without_sum
     : !late.has_ring[block] ? sorted.without_ring
                             : sorted.all)
        .push_back(block);
  }
  return sorted;
}

// Where variables are set late, what they hold before is ignored.
PathHistory read_late(const PathGraph& graph, const PathRecord& record,
                      std::span<const uint32_t> candidates) {
  const PathNumbers& numbers = graph.numbers;
  const LateVariables late =
      late_variables(static_cast<uint32_t>(graph.blocks.size()), numbers.edges());
  const Candidates sorted = sort_candidates(late, candidates);
  const PathRecord fresh{.ring = {-1}, .next = 0, .sum = record.sum};
  PathHistory early = HistoryReader(graph, fresh).read(sorted.without_ring);
  size_t edges_seen = 0;
  for (const uint32_t block : sorted.without_sum) {
    edges_seen += numbers.edges().size();
    if (edges_seen > kMostEdges) break;
    for (const AcyclicPath& path :
         numbers.prefixes(kFromEntry, block, late.known_sum[block]).found) {
      early.contradiction.clear();
      early.readings.push_back({.partial = blocks_of(numbers, path)});
    }
  }
  if (sorted.all.empty()) return early;
  PathHistory history = HistoryReader(graph, record).read(sorted.all);
  if (history.readings.empty() && !early.readings.empty()) return early;
  std::ranges::move(early.readings, std::back_inserter(history.readings));
  return history;
}

}  // namespace

std::vector<uint32_t> blocks_of(const PathNumbers& numbers, const AcyclicPath& path) {
  std::vector<uint32_t> blocks = {numbers.first_node(path.start)};
  for (const uint32_t index : path.edges) {
    const PathEdge& edge = numbers.edges()[index];
    if (!edge.is_back && edge.to != kExitNode) blocks.push_back(edge.to);
  }
  return blocks;
}

uint64_t times_of(std::span<const PathHistory::Path> paths) {
  uint64_t times = 0;
  for (const PathHistory::Path& path : paths) times += path.times;
  return times;
}

bool PathGraph::has_ring() const { return std::ranges::any_of(blocks, &Block::stores_path); }

bool PathGraph::has_record() const {
  if (!sets_late || !prefixes) return true;
  const auto edges = numbers.edges();
  return needs_variables(late_variables(static_cast<uint32_t>(blocks.size()), edges), edges);
}

PathHistory read_path_history(const PathGraph& graph, const PathRecord& record,
                              std::span<const uint32_t> candidates) {
  if (graph.prefixes) return read_prefix_history(graph, record, candidates);
  return graph.sets_late ? read_late(graph, record, candidates)
                         : HistoryReader(graph, record).read(candidates);
}

}  // namespace telltale
