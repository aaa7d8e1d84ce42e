#include "import/path_facts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "analysis/paths/frame_coverage.h"
#include "base/join_maps.h"
#include "import/lines_of_call.h"
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

bool begins_with(const PathFacts::Deed& path, const PathFacts::Deed& beginning) {
  return path.function == beginning.function && !beginning.places.empty() &&
         beginning.places.size() <= path.places.size() &&
         std::equal(beginning.places.begin(), beginning.places.end(), path.places.begin());
}

bool is_certain(const FramePaths& frame) {
  if (frame.decoded.size() != 1) return false;
  const FramePaths::Decoded& decoded = frame.decoded.front();
  return !decoded.graph->calls_setjmp && decoded.history.contradiction.empty() &&
         decoded.history.readings.size() == 1;
}

Said said(Ran ran) { return ran == Ran::yes ? Said::yes : ran == Ran::no ? Said::no : Said::maybe; }

// What the call could have run from the block on that it stopped in.
std::set<Place> places_ahead(const PathGraph& graph, const std::string& file,
                             const PathHistory& history) {
  const std::vector<bool> ahead = blocks_from(graph, history.readings.front().block());
  std::set<Place> places;
  for (uint32_t node = 0; node < ahead.size(); ++node) {
    if (!ahead[node] || node == kExitNode) continue;
    for (Place& place : places_of(graph, file, node)) places.insert(std::move(place));
  }
  return places;
}

// By the paths alone. The call may have stopped in the middle of its last block: the lines of that
// block certainly ran only if an earlier path, or an earlier part of this one, passed it.
std::map<Place, Ran> lines_of_paths(const PathGraph& graph, const std::string& file,
                                    const PathHistory& history) {
  std::vector<Ran> ran = blocks_of_frame(graph, history);
  const PathHistory::Reading& reading = history.readings.front();
  const std::span<const uint32_t> before =
      std::span(reading.partial).first(reading.partial.empty() ? 0 : reading.partial.size() - 1);
  const auto passed = [&](std::span<const uint32_t> path) {
    return std::ranges::find(path, reading.block()) != path.end();
  };
  const bool is_certain =
      passed(before) || std::ranges::any_of(std::span(history.completed).first(reading.completed),
                                            [&](const auto& path) { return passed(path.blocks); });
  if (reading.block() < ran.size() && !is_certain) ran[reading.block()] = Ran::maybe;
  std::map<Place, Ran> lines;
  for (uint32_t node = 0; node < ran.size(); ++node) {
    if (node == kExitNode) continue;
    for (const Place& place : places_of(graph, file, node)) add_copy(lines, place, ran[node]);
  }
  return lines;
}

void add_lines_of_call(const FramePaths& frame, const PathGraph& graph, const std::string& file,
                       bool crashed, PathFacts& facts) {
  const PathHistory& history = frame.decoded.front().history;
  std::map<Place, Ran> lines;
  for (const auto& [line, ran] : lines_of_call(frame)) lines.emplace(line, ran);
  if (frame.blocks.empty()) lines = lines_of_paths(graph, file, history);
  std::set<Place> ahead = places_ahead(graph, file, history);
  for (const auto& [place, ran] : lines) {
    const bool not_yet = crashed && ran == Ran::no && ahead.contains(place);
    facts.add(PathFacts::Kind::ran_in_call, {{frame.function, file}, {place}},
              not_yet ? Said::not_yet : said(ran));
  }
  if (crashed) facts.ahead[{frame.function, file}].merge(ahead);
}

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
  facts.add(PathFacts::Kind::followed_path, {function, places_of(graph, file, reading.partial)},
            Said::yes);
  add_lines_of_call(frame, graph, file, crashed, facts);
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

  // A function that was inlined is ahead where its copy is.
  [[nodiscard]] bool has(const FunctionCoverage& function, const SourceLine& line) const {
    return lines_.contains(line) || uncertain_.contains({function.linkage_name, function.module});
  }

 private:
  void add(const FramePaths& frame) {
    if (!is_certain(frame)) uncertain_.emplace(frame.linkage_name, frame.module);
    for (const FramePaths::Decoded& decoded : frame.decoded) {
      const PathGraph& graph = *decoded.graph;
      const std::string& file = graph.scopes.empty() ? frame.file : graph.scopes.front().file;
      if (is_certain(frame)) {
        add(places_ahead(graph, file, decoded.history));
        continue;
      }
      for (uint32_t node = 0; node < graph.blocks.size(); ++node) add(places_of(graph, file, node));
    }
  }

  template <typename Places>
  void add(const Places& places) {
    for (const auto& [file, number] : places) lines_.emplace(file, number);
  }

  // By linkage name and module: where a call stopped is not certain.
  std::set<std::pair<std::string, std::string>> uncertain_;
  SourceLineSet lines_;
};

// The lines of its code; its own have the answers of all copies, also of those that were inlined
// into other functions.
CoveredLines lines_of(const FunctionCoverage& function) {
  CoveredLines lines = function.lines;
  const InternedText file(function.file);
  CoveredLines own;
  own.reserve(function.source_lines.size());
  for (const auto& [line, ran] : function.source_lines) own.try_emplace({file, line}, ran);
  join_maps(lines, own, [](auto& line, Ran ran) { line.second = ran; });
  return lines;
}

bool was_called(const FunctionCoverage& function, const CoveredLines& lines) {
  return function.ran == Ran::yes ||
         std::ranges::any_of(lines, [](const auto& line) { return line.second == Ran::yes; });
}

}  // namespace

void PathFacts::add(Kind kind, Deed deed, Said done) {
  const auto [known_deed, is_new] = of(kind).try_emplace(std::move(deed), done);
  if (!is_new) known_deed->second = join(known_deed->second, done);
}

PathFacts::Said PathFacts::join(Said a, Said b) {
  for (const Said stronger : {Said::yes, Said::maybe, Said::not_yet})
    if (a == stronger || b == stronger) return stronger;
  return Said::no;
}

PathFacts::Said PathFacts::find(Kind kind, const Deed& deed) const {
  const auto& all = of(kind);
  if (const auto found = all.find(deed); found != all.end()) return found->second;
  const bool is_path = kind == Kind::took_path || kind == Kind::followed_path;
  if (!is_path || !decoded.contains(deed.function)) return Said::maybe;
  if (kind == Kind::followed_path && followed(deed)) return Said::yes;
  return could_still_follow(deed) ? Said::not_yet : Said::no;
}

// Whether a path of the run begins like this.
bool PathFacts::followed(const Deed& beginning) const {
  return std::ranges::any_of(std::array{Kind::took_path, Kind::followed_path}, [&](Kind kind) {
    // In the order of the map, what begins with it is next.
    const auto next = of(kind).lower_bound(beginning);
    return next != of(kind).end() && begins_with(next->first, beginning);
  });
}

// Whether a call that a crash stopped was on the way along this path, or could have come to it.
bool PathFacts::could_still_follow(const Deed& path) const {
  const auto open = ahead.find(path.function);
  if (open == ahead.end()) return false;
  const auto is_ahead = [&](std::span<const Place> rest) {
    return std::ranges::all_of(rest, [&](const Place& at) { return open->second.contains(at); });
  };
  const std::span<const Place> places = path.places;
  if (is_ahead(places)) return true;
  return std::ranges::any_of(of(Kind::followed_path), [&](const auto& stopped) {
    return begins_with(path, stopped.first) &&
           is_ahead(places.subspan(stopped.first.places.size()));
  });
}

Result<SeparateFacts> read_separate_facts(const StackPaths& stacks, ProblemLog& problems) {
  const auto paths = stacks.paths_and_coverage(problems);
  if (!paths) return std::unexpected(paths.error());
  const std::vector<ThreadPaths>& threads = paths->threads;
  SeparateFacts separate;
  PathFacts& facts = separate.facts;
  facts.stack = core_stack(stacks, threads);
  const bool crashed = !stacks.why_stopped().empty();
  for (const ThreadPaths& thread : threads) {
    for (const FramePaths& frame : thread.frames) add_frame(frame, crashed, facts);
  }
  const Ahead ahead(threads);
  for (const FunctionCoverage& function : paths->coverage) {
    const CoveredLines lines = lines_of(function);
    const bool called = was_called(function, lines);
    LinesOfFunction& all = separate.lines.emplace_back();
    all.function = {function.function, function.file};
    all.lines.reserve(lines.size());
    for (const auto& [line, ran] : lines) {
      const bool not_yet = crashed && ran == Ran::no && (!called || ahead.has(function, line));
      all.lines.try_emplace(line, not_yet ? Said::not_yet : said(ran));
    }
  }
  return separate;
}

Result<PathFacts> read_path_facts(const StackPaths& stacks, ProblemLog& problems) {
  Result<SeparateFacts> separate = read_separate_facts(stacks, problems);
  if (!separate) return std::unexpected(separate.error());
  PathFacts facts = std::move(separate->facts);
  for (const auto& [function, lines] : separate->lines) {
    for (const auto& [line, said] : lines)
      facts.add(PathFacts::Kind::ran_in_process, {function, {{line.first, line.second}}}, said);
  }
  return facts;
}

}  // namespace telltale
