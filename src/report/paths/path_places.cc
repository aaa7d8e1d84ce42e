#include "report/paths/path_places.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <unordered_map>

#include "analysis/paths/frame_coverage.h"
#include "analysis/paths/function_coverage.h"
#include "base/sort_rows.h"
#include "import/lines_of_call.h"
#include "report/paths/paths_view.h"

namespace telltale {

using Reading = PathHistory::Reading;

namespace {

using Line = std::pair<std::string, uint32_t>;

Line line_of(const FramePaths& frame, const PathGraph& graph, const PathGraph::Place& place) {
  return {file_of(frame, graph, place), place.line};
}

// Lines that are only after the place where it stopped, by one of the readings.
std::set<Line> not_reached(const FramePaths& frame, const FramePaths::Decoded& decoded) {
  const PathGraph& graph = *decoded.graph;
  std::set<Line> all;
  std::set<Line> completed;
  std::vector<bool> is_passed(graph.blocks.size(), false);
  size_t paths = 0;
  for (const Reading& reading : distinct_readings(decoded)) {  // with fewer paths first
    for (; paths < reading.completed; ++paths) {
      for (const uint32_t node : decoded.history.completed[paths].blocks) {
        if (is_passed[node]) continue;
        is_passed[node] = true;
        for (const PathGraph::Place& place : places_of(graph, std::span(&node, 1)))
          completed.insert(line_of(frame, graph, place));
      }
    }
    std::set<Line> reached;
    std::set<Line> later;
    for (const auto& shown : shown_places(frame, graph, reading.partial, true, true).places)
      (shown.not_yet ? later : reached).insert(line_of(frame, graph, shown.place));
    for (const Line& line : later)
      if (!reached.contains(line) && !completed.contains(line)) all.insert(line);
  }
  return all;
}

}  // namespace

std::vector<PathGraph::Place> places_of(const PathGraph& graph, std::span<const uint32_t> blocks) {
  std::vector<PathGraph::Place> places;
  const auto add = [&places](PathGraph::Place place) {
    if (places.empty() || places.back() != place) places.push_back(place);
  };
  for (const uint32_t index : blocks) {
    const PathGraph::Block& block = graph.blocks[index];
    for (const PathGraph::Place& place : block.places) add(place);
    // Without the function's record, the lines are all that is known of the block.
    if (!graph.scopes.empty()) continue;
    for (const uint32_t line : block.lines) add({.scope = 0, .line = line});
  }
  return places;
}

const std::string& file_of(const FramePaths& frame, const PathGraph& graph,
                           const PathGraph::Place& place) {
  return is_inlined(graph, place) ? graph.scopes[place.scope].file : frame.file;
}

std::optional<size_t> place_where_stopped(const FramePaths& frame, const PathGraph& graph,
                                          std::span<const uint32_t> partial) {
  const std::vector<PathGraph::Place> places = places_of(graph, partial);
  // The place before the last block may be in it, too: what follows itself is one.
  const size_t before = places_of(graph, partial.first(partial.size() - 1)).size();
  const size_t first = before == 0 ? 0 : before - 1;
  const auto is_own_line = [&](const PathGraph::Place& place) {
    return !is_inlined(graph, place) && place.line == frame.line;
  };
  if (frame.is_line_before) {
    const bool is_last_before = before != 0 && is_own_line(places[first]);
    return is_last_before ? std::optional(first) : std::nullopt;
  }
  const auto name = [](const std::string& file) {
    return std::filesystem::path(file).filename().string();
  };
  const auto find = [&](auto fits) -> std::optional<size_t> {
    for (size_t i = first; i < places.size(); ++i) {
      if (fits(places[i])) return i;
    }
    return std::nullopt;
  };
  // In a function that was inlined there, the line is that function's.
  if (const auto inner = find([&](const PathGraph::Place& place) {
        return is_inlined(graph, place) && place.line == frame.innermost_line &&
               name(graph.scopes[place.scope].file) == name(frame.innermost_file);
      }))
    return inner;
  return find(is_own_line);
}

ShownPlaces shown_places(const FramePaths& frame, const PathGraph& graph,
                         std::span<const uint32_t> blocks, bool stopped, bool system_headers) {
  std::vector<PathGraph::Place> places = places_of(graph, blocks);
  std::optional<size_t> here = stopped ? place_where_stopped(frame, graph, blocks) : std::nullopt;
  if (stopped && !here && frame.line != 0 && !blocks.empty()) {
    // The optimiser moved the instruction there: what it is a part of may still follow. Or the line
    // is that of the path before this one.
    here = places_of(graph, blocks.first(blocks.size() - 1)).size();
    places.insert(places.begin() + static_cast<std::ptrdiff_t>(*here),
                  PathGraph::Place{.scope = 0, .line = frame.line});
  }
  // Without a line it may be anywhere in the last block.
  const bool is_anywhere = stopped && !here && !blocks.empty();
  const size_t whole_blocks =
      is_anywhere ? places_of(graph, blocks.first(blocks.size() - 1)).size() : 0;
  size_t last_here = here.value_or(0);
  for (size_t i = last_here; here && !frame.is_line_before && i < places.size(); ++i)
    if (places[i] == places[*here]) last_here = i;
  ShownPlaces shown;
  for (size_t i = 0; i < places.size(); ++i) {
    const bool is_later = here && i > *here;
    const ShownPlaces::Shown one{
        .place = places[i],
        .here = here == i,
        .or_here = is_later && !frame.is_line_before && places[i] == places[*here],
        .not_yet = is_anywhere ? i >= whole_blocks : is_later && i > last_here};
    if (!system_headers && !one.here && !one.or_here && is_inlined(graph, places[i]) &&
        is_system_header(graph.scopes[places[i].scope].file)) {
      shown.left_out_system_headers = true;
    } else if (shown.places.empty() || shown.places.back() != one) {
      shown.places.push_back(one);
    }
  }
  return shown;
}

std::vector<Ran> blocks_ran(const FramePaths& frame, const FramePaths::Decoded& decoded) {
  const PathGraph& graph = *decoded.graph;
  std::vector<Ran> ran = blocks_of_frame(graph, decoded.history);
  if (frame.decoded.size() != 1) return ran;
  std::unordered_map<uint64_t, Ran> told;
  for (const FramePaths::Block& block : frame.blocks)
    if (block.id) told.emplace(*block.id, block.ran);
  for (uint32_t node = 0; node < ran.size(); ++node) {
    const auto found = told.find(graph.blocks[node].id);
    if (found != told.end()) ran[node] = agree(ran[node], found->second);
  }
  return ran;
}

CallLines lines_of_paths(const FramePaths& frame, const FramePaths::Decoded& decoded) {
  const PathGraph& graph = *decoded.graph;
  CallLines lines;
  const auto add = [&lines](const Line& line, Ran ran, bool is_own) {
    const auto [known, is_new] = lines.try_emplace(line, CallLine{ran, is_own});
    if (is_new) return;
    known->second = {any_of(known->second.ran, ran), known->second.is_own || is_own};
  };
  const std::vector<Ran> ran = blocks_ran(frame, decoded);
  for (uint32_t node = 0; node < ran.size(); ++node) {
    for (const PathGraph::Place& place : places_of(graph, std::span(&node, 1)))
      add(line_of(frame, graph, place), ran[node], !is_inlined(graph, place));
  }
  const std::string own_file = graph.scopes.empty() ? frame.file : graph.scopes.front().file;
  for (const auto& [place, lost] : frame.lost_lines) {
    const Line line(place.first == own_file ? frame.file : place.first.str(), place.second);
    // Of a function that is inlined in several places, some may have the line without a trace.
    if (lost.is_own || lost.ran == Ran::maybe) add(line, lost.ran, lost.is_own);
  }
  // Flags of coverage in the frame know what older paths ran.
  if (frame.decoded.size() == 1) {
    const CoveredLines flags = lines_by_flags(frame);
    for (auto& [line, its] : lines) {
      const auto told = its.is_own ? flags.find({own_file, line.second}) : flags.end();
      if (told != flags.end()) its.ran = agree(its.ran, told->second);
    }
  }
  for (const Line& line : not_reached(frame, decoded)) lines[line].ran = Ran::maybe;
  return lines;
}

std::vector<Reading> distinct_readings(const FramePaths::Decoded& decoded) {
  std::vector<Reading> kept;
  for (const Reading& reading : decoded.history.readings) {
    const bool known = std::ranges::any_of(kept, [&](const Reading& other) {
      return other.completed == reading.completed &&
             places_of(*decoded.graph, other.partial) == places_of(*decoded.graph, reading.partial);
    });
    if (!known) kept.push_back(reading);
  }
  sort_rows(kept, {}, &Reading::completed);
  return kept;
}

}  // namespace telltale
