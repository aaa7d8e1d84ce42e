#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/paths/covered_lines.h"
#include "analysis/paths/program_flow.h"
#include "import/csi/flow_functions.h"

namespace telltale {

// Lines that certainly ran although none of their blocks certainly did: code has copies, and each
// way passes one of them. A function that has copies under symbols of their own is one function
// here.
class PassedLines {
 public:
  // Module, symbol in the source, file.
  using Function = std::tuple<std::string, std::string, std::string>;

  // `ran` is of `functions` and `known`.
  PassedLines(const FlowFunctions& functions, const ProgramEvidence& known,
              const ProgramBlocks& ran);

  // The lines of functions that certainly ran.
  using Lines = std::map<Function, std::set<SourceLine>, std::less<>>;
  [[nodiscard]] const Lines& lines() const { return lines_; }

 private:
  using Indices = std::vector<uint32_t>;
  // Blocks of a function, and of the copies that may run in its place.
  struct Graph {
    struct Block {
      uint32_t function = 0;
      uint32_t index = 0;
      bool is_possible = false;
      bool is_end = false;
      bool runs_other_copy = false;  // and does nothing else
      Indices next;
    };
    std::vector<Block> blocks;
    Indices entries;
    size_t functions = 0;
    bool leaves_ends = true;  // the activation left the last of its blocks at its end
  };

  void add_returned(const Indices& functions);
  void add_frame(const ProgramEvidence::Frame& frame, const std::vector<Ran>& blocks);
  [[nodiscard]] Graph graph_of(const Indices& functions) const;
  void conclude(const Graph& graph);
  void conclude_lines(const Graph& graph, std::set<SourceLine>& lines);
  void conclude_lines(const Graph& graph, const FlowFunction& function,
                      std::set<SourceLine>& lines);
  void conclude_calls(const Graph& graph);
  // Whether each way from an entry to an end passes one of the blocks.
  bool passes(const Graph& graph, const Indices& blocks);
  [[nodiscard]] Function name_of(uint32_t function) const;

  const FlowFunctions& functions_;
  const ProgramBlocks& ran_;
  Lines lines_;
  std::vector<Indices> pending_;  // of each, one has certainly returned
  std::set<Indices> known_;
  uint64_t steps_left_ = uint64_t{1} << 25;
};

}  // namespace telltale
