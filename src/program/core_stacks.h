#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "program/core_file.h"
#include "program/symbolizer.h"

namespace telltale {

// A variable of a function, as numbers. Arrays have one for each element.
struct StackVariable {
  std::string name;
  std::vector<int64_t> values;
  std::string missing;  // why there are no values; empty if there are
};

// A call that had not returned, or one that was inlined into it. Text is as in the program or core,
// never trusted; empty and 0 mean unknown.
struct StackFrame {
  uint64_t pc = 0;  // where it is executed, or was called to return to
  // Stopped at pc itself, not in a call before it; or an exception is about to go on there.
  bool interrupted = false;
  bool inlined = false;  // into the next frame that is not
  // No unwind table describes the code: its caller was found by the frame pointer, which misses one
  // if the function does not set it.
  bool may_lack_caller = false;
  std::string symbol;  // of the symbol table
  // Link-time addresses in the module: inside the instruction, and the bounds of the function by
  // the symbol table, without a symbol by the unwind tables; 0: unknown.
  uint64_t address = 0;
  uint64_t function_begin = 0;
  uint64_t function_end = 0;
  std::string linkage_name;  // of the debug information
  std::string file;
  std::string directory;       // that `file` is relative to
  uint32_t line = 0;           // of the instruction, or of the call
  std::string module;          // path of the program or shared object
  std::string missing_module;  // what the core file names there, if no file was found for it
  std::vector<StackVariable> variables;
};

// Variables of a function that need no debug information: 64-bit numbers at a distance from a
// register.
struct PlacedVariable {
  std::string name;
  uint64_t elements = 1;
  unsigned base = 0;     // number of the register in DWARF
  int64_t offset = 0;    // from the register
  uint64_t address = 0;  // link-time: the register has its value of this instruction
};
// Those of the function that a frame is of; none: unknown.
using FindVariables = std::function<std::vector<PlacedVariable>(const StackFrame& frame)>;

struct ThreadStack {
  int64_t tid = 0;
  std::vector<StackFrame> frames;  // the innermost first
  std::string cut;                 // why there are no further frames; empty at the outermost
};

// Whether the debug information of a module, given by its path, is read for its frames. Where not,
// they have the names of its symbols, and no lines.
using ReadDebugInfo = std::function<bool(const std::string& module)>;

struct CoreStackOptions {
  // Programs, shared objects and separate debug files. Those of the same build-id are used for what
  // the core file had mapped; others are found where the core file says, if their build-id is that
  // of the core file.
  std::vector<std::string> programs;
  bool other_programs = false;  // some of these may belong to other core files
  bool core_is_cut = false;     // before, or inside, what names its programs
  SymbolizerOptions debug_files;
  std::vector<std::string> variables;  // names of those that are read
  size_t most_frames = 10'000;         // of a thread
};

// The stacks of a core file, by the unwind tables and debug information of its programs
// (elfutils' libdwfl; memory and registers are read by CoreFile).
class CoreStacks {
 public:
  // Files that cannot be used go to `problems`. Errors: bad_field if a file of options.programs is
  // none of the core file's, without options.other_programs; io; those of read_elf_segments. Holds
  // a reference to `core`.
  static Result<CoreStacks> open(const CoreFile& core, const std::string& core_name,
                                 const CoreStackOptions& options, ProblemLog& problems);
  CoreStacks(CoreStacks&&) noexcept;
  CoreStacks& operator=(CoreStacks&&) noexcept;
  ~CoreStacks();

  // `find` is asked for frames of which the debug information names no variable. Either may be
  // empty: no further variables, all debug information. Debug information that was not found goes
  // to `problems`.
  [[nodiscard]] std::vector<ThreadStack> threads(const FindVariables& find,
                                                 const ReadDebugInfo& read_debug_info,
                                                 ProblemLog& problems) const;

  // A section of a program or of its separate debug file.
  struct Section {
    std::string module;   // the frames' `module`
    std::string file;     // that contains it
    uint64_t offset = 0;  // in the file
    std::string bytes;
    // Addresses less link-time addresses: one for each copy of the module that was loaded.
    std::vector<uint64_t> biases = {};
  };
  [[nodiscard]] std::vector<Section> sections(std::string_view name, ProblemLog& problems) const;
  // Of a module, by its path: as in its sections.
  [[nodiscard]] std::vector<uint64_t> biases_of(const std::string& module) const;
  // The same for two core files only if their programs, in the files as they are now, are the same,
  // and so are the given debug files.
  [[nodiscard]] std::string key_of_programs() const;

 private:
  class State;
  explicit CoreStacks(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace telltale
