#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/paths/covered_lines.h"
#include "analysis/paths/function_coverage.h"
#include "analysis/paths/path_history.h"
#include "base/error.h"
#include "base/problem.h"
#include "import/program_slice.h"
#include "model/call_filter.h"
#include "program/built_sources.h"

namespace telltale {

// A function on a stack and the paths that it ran. Text is never trusted; empty and 0 mean unknown.
struct FramePaths {
  size_t number = 0;     // in the stack; 0 is the innermost
  std::string function;  // demangled; "@0x4011d0" if its name is unknown
  std::string linkage_name;
  // Of the symbol table: a part of the function that the compiler separated, for example of a
  // coroutine. Otherwise `linkage_name`.
  std::string symbol;
  std::string file;
  std::string directory;  // of the compiler, that `file` is relative to
  uint32_t line = 0;      // of the instruction, or of the call
  // The instruction has no line: `line` is the last one before the block that it is in.
  bool is_line_before = false;
  // Of the instruction, or of the call, in the innermost function that was inlined there; the same
  // if none was.
  std::string innermost_file;
  uint32_t innermost_line = 0;
  std::string module;  // path of the program or shared object
  uint64_t pc = 0;
  bool interrupted = false;      // stopped at pc itself, not in a call before it
  bool inlined = false;          // into the next frame that is not
  bool may_lack_caller = false;  // the frame of its caller may be missing (StackFrame)
  // Other functions with equal code, which a linker put at the same address: it may be of any.
  struct Function {
    std::string name;  // demangled
    std::string linkage_name;
    std::string file;
    uint32_t line = 0;  // of its declaration
    bool operator==(const Function&) const = default;
  };
  std::vector<Function> same_address;
  // What it ran. More than one if several functions of this name fit; none: `untraced` says why.
  struct Decoded {
    // How the blocks were found that the function may have been stopped in.
    enum class FoundBy : uint8_t {
      position,    // the program says which block the instruction is in
      line,        // those that have the line
      all_blocks,  // nothing is known
    };
    std::shared_ptr<const PathGraph> graph;
    PathHistory history;
    FoundBy found_by = FoundBy::all_blocks;
  };
  std::vector<Decoded> decoded;
  std::string untraced;
  // Where the program says that the frame is in a function without path tracing.
  struct Place {
    uint64_t flow_key = 0;  // of the function's flow record
    uint32_t block = 0;     // index
  };
  std::optional<Place> place;
  // Whether this call ran a line, by file and number: what the flags of coverage in the frame say.
  // Empty: it has none, or they may not be cleared yet.
  CoveredLines lines;
  // What this call ran of the function's blocks, by all evidence of the process together: a block
  // ran if it began. Empty: not asked for, or the program does not describe them.
  struct Block {
    std::optional<uint64_t> id;  // in .debug_PT
    std::vector<SourceLine> lines;
    Ran ran = Ran::maybe;
    std::vector<Ran> lines_ran;  // by line: of the block that it stopped in, some may not have run
  };
  std::vector<Block> blocks;
  // Lines, by file and number, of which the optimiser left no trace in some place. This call may
  // have run them (maybe) although no block in `blocks` that may have run has them, or did not come
  // to any such place (no).
  struct LostLine {
    Ran ran = Ran::no;
    bool is_own = false;  // of the function itself, not only of one that was inlined
  };
  std::map<SourceLine, LostLine> lost_lines;
};

struct ThreadPaths {
  int64_t pid = 0;
  int64_t tid = 0;
  std::vector<FramePaths> frames;  // the innermost first
  std::string cut;                 // why there are no further frames; empty at the outermost
  std::shared_ptr<const ProgramSlice> slice = {};  // where it was asked for
};

// The capability "paths in stack frames": functions that kept the paths that they ran in their
// frames, as they were when the program stopped.
class StackPaths {
 public:
  StackPaths() = default;
  StackPaths(const StackPaths&) = delete;
  StackPaths& operator=(const StackPaths&) = delete;
  virtual ~StackPaths() = default;

  // "signal 11 (Segmentation fault)"; empty if the program was not stopped by one.
  [[nodiscard]] virtual std::string why_stopped() const = 0;
  // The one that received the signal is the first. Unwinds, and reads the programs, at each call.
  // What is missing or damaged goes to `problems`. Errors: programs that were given and do not fit
  // or cannot be read.
  [[nodiscard]] virtual Result<std::vector<ThreadPaths>> thread_paths(
      ProblemLog& problems) const = 0;
  // The same with the blocks of each frame, which takes time that grows with the programs.
  [[nodiscard]] virtual Result<std::vector<ThreadPaths>> thread_paths_and_blocks(
      ProblemLog& problems) const {
    return thread_paths(problems);
  }
  // The same with the slice of the first thread that the filter keeps, if there can be one.
  [[nodiscard]] virtual Result<std::vector<ThreadPaths>> thread_paths_and_slice(
      const CallFilter& /*filter*/, ProblemLog& problems) const {
    return thread_paths_and_blocks(problems);
  }
  // For each function with coverage, which of its parts ran in the process; empty if no function
  // has coverage. Errors: as above.
  [[nodiscard]] virtual Result<std::vector<FunctionCoverage>> coverage(
      ProblemLog& problems) const = 0;
  // What is particular to this run: the frames of thread_paths_and_blocks(), and coverage() without
  // calls and blocks, but none if that only repeats what is true of all runs of the programs. Takes
  // less time than both. Errors, and what goes to `problems`: as those of thread_paths().
  struct PathsAndCoverage {
    std::vector<ThreadPaths> threads;
    std::vector<FunctionCoverage> coverage;
  };
  [[nodiscard]] virtual Result<PathsAndCoverage> paths_and_coverage(ProblemLog& problems) const = 0;
  // What the programs with paths or coverage were compiled from, as far as these programs are here;
  // reads them at each call. What is damaged in them goes to `problems` as oddities.
  [[nodiscard]] virtual BuiltSources built_sources(ProblemLog& problems) const = 0;
};

}  // namespace telltale
