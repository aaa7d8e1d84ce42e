#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "import/csi/path_graphs.h"
#include "import/csi/path_positions.h"
#include "import/stack_paths.h"
#include "program/core_stacks.h"

namespace telltale {

// The variables of path tracing, under all names that compilers give them.
std::vector<std::string> path_variable_names();

// What a program says of its functions with path tracing.
struct ModulePaths {
  PathPositions positions;
  PathGraphs::ByKey graphs;
  std::unordered_map<std::string, std::string> skipped;  // symbol to reason
};

// Joins the frames of a stack with the graphs of their functions. `modules`: by path.
std::vector<FramePaths> decode_stack(const ThreadStack& stack, const PathGraphs& graphs,
                                     const std::map<std::string, ModulePaths>& modules);

}  // namespace telltale
