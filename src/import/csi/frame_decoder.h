#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "formats/csi/path_records.h"
#include "import/csi/frame_flags.h"
#include "import/csi/path_graphs.h"
#include "import/csi/path_positions.h"
#include "import/stack_paths.h"
#include "model/function_data.h"
#include "program/core_stacks.h"

namespace telltale {

// The variables of path tracing, under all names that compilers give them.
std::vector<std::string> path_variable_names();

// What a program says of its functions with path tracing.
struct ModulePaths {
  PathPositions positions;
  PathGraphs::ByKey graphs;
  std::unordered_map<std::string, std::string> skipped;  // symbol to reason
  std::unordered_map<std::string, std::string> sources;  // symbols of copies to those in the source
  std::vector<csi::PathFrameRecord> frames;              // by address
  std::unordered_map<uint64_t, uint32_t> ring_sizes;     // by key; 0: without a ring
  CoverageBySymbol coverage;
  std::vector<csi::FlowRecord> flows;
  std::vector<csi::UnitRecord> units;
  std::unordered_map<uint64_t, FunctionData> data;  // by key of the flow; if it was asked for
};

// Where the function of a frame keeps its record, by what the program says of its frames instead
// of debug information. None: it says nothing, or not clearly.
std::vector<PlacedVariable> find_record(const StackFrame& frame,
                                        const std::map<std::string, ModulePaths>& modules);

// Names the frames of functions without symbols: the path metadata have them.
void name_frames(ThreadStack& stack, const std::map<std::string, ModulePaths>& modules);

// Joins the frames of a stack with the graphs of their functions. `modules`: by path. `flags` is
// for all stacks of a process.
std::vector<FramePaths> decode_stack(const ThreadStack& stack, const PathGraphs& graphs,
                                     const std::map<std::string, ModulePaths>& modules,
                                     FrameFlags& flags);

}  // namespace telltale
