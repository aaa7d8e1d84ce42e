#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/paths/path_history.h"
#include "import/stack_paths.h"

namespace telltale {

// The places of a sequence of blocks; what follows itself is one. Scope 0 is the function.
std::vector<PathGraph::Place> places_of(const PathGraph& graph, std::span<const uint32_t> blocks);

// Whether a place is of a function that was inlined.
inline bool is_inlined(const PathGraph& graph, const PathGraph::Place& place) {
  return place.scope != 0 && place.scope < graph.scopes.size();
}
// The source file of a place. REQUIRES: `graph` is of the frame.
const std::string& file_of(const FramePaths& frame, const PathGraph& graph,
                           const PathGraph::Place& place);

// Where the frame was stopped: index among the places of a partial path, in its last block if that
// has lines. Empty: no line fits.
std::optional<size_t> place_where_stopped(const FramePaths& frame, const PathGraph& graph,
                                          std::span<const uint32_t> partial);

// The places of a sequence of blocks that people see; `stopped`: it is the partial path.
struct ShownPlaces {
  struct Shown {
    PathGraph::Place place;
    bool here = false;     // where the frame was stopped
    bool or_here = false;  // the same line again, in unrolled code: it may have been there
    bool not_yet = false;  // later in the block that the frame stopped in: may not have run
    bool operator==(const Shown&) const = default;
  };
  std::vector<Shown> places;  // what follows itself is one
  bool left_out_system_headers = false;
};
ShownPlaces shown_places(const FramePaths& frame, const PathGraph& graph,
                         std::span<const uint32_t> blocks, bool stopped, bool system_headers);

// What the call ran, by node of the graph: by its paths, and by FramePaths::blocks.
std::vector<Ran> blocks_ran(const FramePaths& frame, const FramePaths::Decoded& decoded);

// What the call ran of the lines of the function and of those that were inlined into it, by file
// and number. Lines of the block that it stopped in that are after that place may have run.
struct CallLine {
  Ran ran = Ran::no;
  bool is_own = false;  // of the function itself, not only of one that was inlined
};
using CallLines = std::map<std::pair<std::string, uint32_t>, CallLine>;
CallLines lines_of_paths(const FramePaths& frame, const FramePaths::Decoded& decoded);

// Readings that do not show the same lines, with fewer completed paths first.
std::vector<PathHistory::Reading> distinct_readings(const FramePaths::Decoded& decoded);

}  // namespace telltale
