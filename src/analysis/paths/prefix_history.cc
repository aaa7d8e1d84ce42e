#include "analysis/paths/prefix_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <ranges>
#include <string>
#include <utility>

#include "model/late_variables.h"

namespace telltale {
namespace {

// Bounds the cost of damaged or hostile input: blocks of the paths of all candidates.
constexpr size_t kMostBlocksSeen = size_t{1} << 22;

using Path = PathHistory::Path;
using Reading = PathHistory::Reading;

// The record as one candidate explains it.
struct Chain {
  std::vector<Path> newest_first;
  bool complete = false;
  bool fits = true;  // no number contradicts the path after it
  std::vector<uint32_t> partial;
};

std::pair<uint64_t, uint64_t> what_ran(const Path& path) { return {path.number, path.times}; }

class PrefixReader {
 public:
  PrefixReader(const PathGraph& graph, const PathRecord& record)
      : graph_(graph),
        record_(record),
        late_(late_variables(static_cast<uint32_t>(graph.blocks.size()), graph.numbers.edges())),
        has_repetitions_(std::ranges::any_of(graph.numbers.edges(), &PathEdge::repeats)) {}

  PathHistory read(std::span<const uint32_t> candidates) {
    std::vector<Chain> chains;
    for (const uint32_t block : candidates) {
      if (block != kExitNode) read_candidate(block, chains);
    }
    if (std::ranges::any_of(chains, &Chain::fits))
      std::erase_if(chains, [](const Chain& chain) { return !chain.fits; });
    return join(std::move(chains));
  }

 private:
  void read_candidate(uint32_t block, std::vector<Chain>& chains) {
    if (blocks_seen_ > kMostBlocksSeen)
      return contradict("blocks are left out: there are too many paths");
    const bool has_ring = late_.has_ring[block];
    if (has_ring && record_.next >= record_.ring.size()) {
      contradict(record_.ring.empty() ? "the ring of path numbers is empty"
                                      : fmt::format("the ring's index is {}, but it has {} slots",
                                                    record_.next, record_.ring.size()));
      return;
    }
    const int64_t sum = !late_.has_sum[block]  ? 0
                        : record_.ring.empty() ? record_.sum
                                               : record_.ring[has_ring ? record_.next : 0];
    const auto way = graph_.prefixes->way(block, number_of(sum));
    if (!way || (!has_ring && way->start != kFromEntry)) {
      contradict(
          fmt::format("with path sum {}, the function cannot have stopped where it did", sum));
      return;
    }
    Chain chain;
    const std::optional<AcyclicPath> current = read_repetitions(*way, sum, chain);
    if (!current) {
      contradict(fmt::format("with path sum {}, a loop repeated that the path does not pass", sum));
      return;
    }
    chain.partial = blocks_of(graph_.numbers, *current);
    blocks_seen_ += chain.partial.size();
    read_completed(way->start, chain);
    chains.push_back(std::move(chain));
  }

  // Follows the ring backward from a path that begins with `start`.
  void read_completed(PathStart start, Chain& chain) {
    const size_t size = record_.ring.size();
    size_t slot = static_cast<size_t>(record_.next);
    for (size_t left = size; start != kFromEntry && left > 1; --left) {
      if (blocks_seen_ > kMostBlocksSeen) {
        contradict("older paths are omitted");
        return;
      }
      slot = (slot + size - 1) % size;
      const int64_t sum = record_.ring[slot];
      const auto way = graph_.prefixes->way(graph_.numbers.edges()[start].from, number_of(sum));
      if (!way || !add_completed(*way, sum, start, chain)) {
        contradict(
            fmt::format("no path with the number {} can have been before the one after it", sum));
        chain.fits = false;
        return;
      }
      start = way->start;
    }
    chain.complete = start == kFromEntry;
  }

  // Adds a path that ended with the edge `end`, and its repetitions. Returns false if it has some
  // and passes no loop.
  bool add_completed(const AcyclicPath& way, int64_t sum, PathStart end, Chain& chain) {
    Chain repetitions;
    const std::optional<AcyclicPath> last = read_repetitions(way, sum, repetitions);
    if (!last) return false;
    add_path(*last, end, 1, chain);
    std::ranges::move(repetitions.newest_first, std::back_inserter(chain.newest_first));
    return true;
  }

  // Adds the paths of a way's repetitions before the last, which is returned: the way itself if
  // there are none. Nothing if it has some and passes no loop.
  std::optional<AcyclicPath> read_repetitions(const AcyclicPath& way, int64_t sum, Chain& chain) {
    const uint64_t times = has_repetitions_ ? static_cast<uint64_t>(sum) >> kRepetitionShift : 0;
    if (times == 0) return way;
    auto repeated = graph_.prefixes->repeated(way);
    if (!repeated) return std::nullopt;
    const PathStart edge = repeated->last.start;
    if (times > 1) add_path(std::move(repeated->middle), edge, times - 1, chain);
    add_path(std::move(repeated->first), edge, 1, chain);
    return std::move(repeated->last);
  }

  void add_path(AcyclicPath way, PathStart end, uint64_t times, Chain& chain) {
    Path path{.blocks = blocks_of(graph_.numbers, way),
              .start = way.start == kFromEntry ? std::nullopt : std::optional(way.start),
              .ended_with = end,
              .times = times};
    way.edges.push_back(end);
    path.number = graph_.numbers.number(way);
    blocks_seen_ += path.blocks.size();
    chain.newest_first.push_back(std::move(path));
  }

  [[nodiscard]] uint64_t number_of(int64_t sum) const {
    const auto all = static_cast<uint64_t>(sum);
    return has_repetitions_ ? all % kRepetition : all;
  }

  PathHistory join(std::vector<Chain> chains) {
    PathHistory history;
    if (chains.empty() || !chains.front().fits) history.contradiction = contradiction_;
    if (chains.empty()) return history;
    std::vector<Path> common = chains.front().newest_first;
    history.complete = chains.front().complete;
    for (const Chain& chain : chains | std::views::drop(1)) {
      const auto [end, unused] =
          std::ranges::mismatch(common, chain.newest_first, {}, what_ran, what_ran);
      history.complete = history.complete && chain.complete && end == common.end() &&
                         common.size() == chain.newest_first.size();
      common.erase(end, common.end());
    }
    std::ranges::reverse(common);
    history.completed = std::move(common);
    for (Chain& chain : chains)
      history.readings.push_back(
          {.partial = std::move(chain.partial), .completed = history.completed.size()});
    return history;
  }

  void contradict(std::string what) {
    if (contradiction_.empty()) contradiction_ = std::move(what);
  }

  const PathGraph& graph_;
  const PathRecord& record_;
  LateVariables late_;
  bool has_repetitions_;
  std::string contradiction_;
  size_t blocks_seen_ = 0;
};

}  // namespace

PathHistory read_prefix_history(const PathGraph& graph, const PathRecord& record,
                                std::span<const uint32_t> candidates) {
  return PrefixReader(graph, record).read(candidates);
}

}  // namespace telltale
