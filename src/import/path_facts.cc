#include "import/path_facts.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "analysis/paths/frame_coverage.h"
#include "import/study_stacks.h"

namespace telltale {
namespace {

using Function = PathFacts::Function;
using Place = PathFacts::Place;
using Said = PathFacts::Said;

std::vector<Place> places_of(const PathGraph& graph, const std::string& file, uint32_t node) {
  const PathGraph::Block& block = graph.blocks[node];
  std::vector<Place> places;
  for (const PathGraph::Place& place : block.places) {
    if (place.line != 0 && place.scope < graph.scopes.size())
      places.emplace_back(graph.scopes[place.scope].file, place.line);
  }
  if (!block.places.empty()) return places;
  for (const uint32_t line : block.lines) {
    if (line != 0) places.emplace_back(file, line);
  }
  return places;
}

std::vector<Place> places_of(const PathGraph& graph, const std::string& file,
                             std::span<const uint32_t> path) {
  std::vector<Place> places;
  for (const uint32_t node : path) {
    for (Place& place : places_of(graph, file, node)) {
      if (places.empty() || places.back() != place) places.push_back(std::move(place));
    }
  }
  return places;
}

bool is_certain(const FramePaths& frame) {
  if (frame.decoded.size() != 1) return false;
  const FramePaths::Decoded& decoded = frame.decoded.front();
  return !decoded.graph->calls_setjmp && decoded.history.contradiction.empty() &&
         decoded.history.readings.size() == 1;
}

Said said(Ran ran) { return ran == Ran::yes ? Said::yes : ran == Ran::no ? Said::no : Said::maybe; }

// Adds what is certain of a frame. `crashed`: the call was stopped by a signal.
void add_frame(const FramePaths& frame, bool crashed, PathFacts& facts) {
  if (!is_certain(frame)) return;
  const FramePaths::Decoded& decoded = frame.decoded.front();
  const PathGraph& graph = *decoded.graph;
  const PathHistory& history = decoded.history;
  const std::string& file = graph.scopes.empty() ? frame.file : graph.scopes.front().file;
  const Function function{frame.function, file};
  facts.decoded.insert(function);
  const PathHistory::Reading& reading = history.readings.front();
  for (size_t i = 0; i < reading.completed; ++i) {
    facts.add(PathFacts::Kind::took_path,
              {function, places_of(graph, file, history.completed[i].blocks)}, Said::yes);
  }
  facts.add(PathFacts::Kind::stopped_on_path, {function, places_of(graph, file, reading.partial)},
            Said::yes);
  const std::vector<Ran> ran = blocks_of_frame(graph, history);
  const std::vector<bool> ahead = blocks_from(graph, reading.block());
  for (uint32_t node = 0; node < ran.size(); ++node) {
    if (node == kExitNode) continue;
    const bool not_yet = crashed && ran[node] == Ran::no && ahead[node];
    for (const Place& place : places_of(graph, file, node))
      facts.add(PathFacts::Kind::ran_in_call, {function, {place}},
                not_yet ? Said::not_yet : said(ran[node]));
  }
}

// What the calls on the stacks of a crashed process could still have run.
class Ahead {
 public:
  explicit Ahead(std::span<const ThreadPaths> threads) {
    for (const ThreadPaths& thread : threads) {
      for (const FramePaths& frame : thread.frames) {
        if (!frame.inlined) add(frame);
      }
    }
  }

  [[nodiscard]] bool has(const FunctionCoverage& function, const Place& place) const {
    const auto open = open_.find({function.linkage_name, function.module});
    return open != open_.end() && (open->second.all || open->second.lines.contains(place));
  }

 private:
  struct Open {
    bool all = false;  // where a call stopped is not certain
    std::set<Place> lines;
  };

  void add(const FramePaths& frame) {
    Open& open = open_[{frame.linkage_name, frame.module}];
    if (!is_certain(frame)) {
      open.all = true;
      return;
    }
    const PathGraph& graph = *frame.decoded.front().graph;
    const std::string& file = graph.scopes.empty() ? frame.file : graph.scopes.front().file;
    const std::vector<bool> ahead =
        blocks_from(graph, frame.decoded.front().history.readings.front().block());
    for (uint32_t node = 0; node < ahead.size(); ++node) {
      if (!ahead[node] || node == kExitNode) continue;
      for (Place& place : places_of(graph, file, node)) open.lines.insert(std::move(place));
    }
  }

  std::map<std::pair<std::string, std::string>, Open> open_;  // by linkage name and module
};

bool was_called(const FunctionCoverage& function) {
  return function.ran == Ran::yes || std::ranges::any_of(function.lines, [](const auto& line) {
           return line.second == Ran::yes;
         });
}

}  // namespace

void PathFacts::add(Kind kind, Deed deed, Said done) {
  const auto [known_deed, is_new] = of(kind).try_emplace(std::move(deed), done);
  if (is_new) return;
  for (const Said stronger : {Said::yes, Said::maybe, Said::not_yet, Said::no}) {
    if (known_deed->second == stronger || done == stronger) {
      known_deed->second = stronger;
      return;
    }
  }
}

PathFacts::Said PathFacts::find(Kind kind, const Deed& deed) const {
  const auto& all = of(kind);
  if (const auto found = all.find(deed); found != all.end()) return found->second;
  const bool is_path = kind == Kind::took_path || kind == Kind::stopped_on_path;
  return is_path && decoded.contains(deed.function) ? Said::no : Said::maybe;
}

Result<PathFacts> read_path_facts(const StackPaths& stacks, ProblemLog& problems) {
  const auto threads = stacks.thread_paths(problems);
  if (!threads) return std::unexpected(threads.error());
  ProblemLog known;  // the same problems again
  const auto coverage = stacks.coverage(known);
  if (!coverage) return std::unexpected(coverage.error());
  const bool crashed = !stacks.why_stopped().empty();
  PathFacts facts;
  for (const ThreadPaths& thread : *threads) {
    for (const FramePaths& frame : thread.frames) add_frame(frame, crashed, facts);
  }
  const Ahead ahead(*threads);
  for (const FunctionCoverage& function : *coverage) {
    const bool called = was_called(function);
    for (const auto& [place, ran] : function.lines) {
      const bool not_yet = crashed && ran == Ran::no && (!called || ahead.has(function, place));
      facts.add(PathFacts::Kind::ran_in_process, {{function.function, function.file}, {place}},
                not_yet ? Said::not_yet : said(ran));
    }
  }
  facts.stack = core_stack(stacks, *threads);
  return facts;
}

}  // namespace telltale
