#include "import/path_facts.h"

#include <cstddef>
#include <span>

#include "analysis/paths/frame_coverage.h"
#include "import/study_stacks.h"

namespace telltale {
namespace {

using Function = PathFacts::Function;
using Place = PathFacts::Place;

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

void add_frame(const FramePaths& frame, PathFacts& facts) {
  if (frame.decoded.size() != 1) return;
  const FramePaths::Decoded& decoded = frame.decoded.front();
  const PathGraph& graph = *decoded.graph;
  const PathHistory& history = decoded.history;
  // Only what is certain.
  if (graph.calls_setjmp || !history.contradiction.empty() || history.readings.size() != 1) return;
  const std::string& file = graph.scopes.empty() ? frame.file : graph.scopes.front().file;
  const Function function{frame.function, file};
  facts.decoded.insert(function);
  const PathHistory::Reading& reading = history.readings.front();
  for (size_t i = 0; i < reading.completed; ++i) {
    facts.add(PathFacts::Kind::took_path,
              {function, places_of(graph, file, history.completed[i].blocks)}, Ran::yes);
  }
  facts.add(PathFacts::Kind::stopped_on_path, {function, places_of(graph, file, reading.partial)},
            Ran::yes);
  const std::vector<Ran> ran = blocks_of_frame(graph, history);
  for (uint32_t node = 0; node < ran.size(); ++node) {
    if (node == kExitNode) continue;
    for (const Place& place : places_of(graph, file, node))
      facts.add(PathFacts::Kind::ran_in_call, {function, {place}}, ran[node]);
  }
}

}  // namespace

void PathFacts::add(Kind kind, Deed deed, Ran done) {
  const auto [known_deed, is_new] = of(kind).try_emplace(std::move(deed), done);
  if (!is_new) known_deed->second = any_of(known_deed->second, done);
}

Ran PathFacts::find(Kind kind, const Deed& deed) const {
  const auto& all = of(kind);
  if (const auto found = all.find(deed); found != all.end()) return found->second;
  const bool is_path = kind == Kind::took_path || kind == Kind::stopped_on_path;
  return is_path && decoded.contains(deed.function) ? Ran::no : Ran::maybe;
}

Result<PathFacts> read_path_facts(const StackPaths& stacks, ProblemLog& problems) {
  const auto threads = stacks.thread_paths(problems);
  if (!threads) return std::unexpected(threads.error());
  ProblemLog known;  // the same problems again
  const auto coverage = stacks.coverage(known);
  if (!coverage) return std::unexpected(coverage.error());
  PathFacts facts;
  for (const ThreadPaths& thread : *threads) {
    for (const FramePaths& frame : thread.frames) add_frame(frame, facts);
  }
  for (const FunctionCoverage& function : *coverage) {
    for (const auto& [place, ran] : function.lines)
      facts.add(PathFacts::Kind::ran_in_process, {{function.function, function.file}, {place}},
                ran);
  }
  facts.stack = core_stack(stacks, *threads);
  return facts;
}

}  // namespace telltale
