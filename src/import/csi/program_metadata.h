#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/paths/flow_structure.h"
#include "base/problem.h"
#include "bytes/input_file.h"
#include "formats/csi/path_records.h"
#include "import/csi/coverage_flags.h"
#include "import/csi/flow_functions.h"
#include "import/csi/frame_decoder.h"
#include "import/csi/functions_of_records.h"
#include "import/csi/lines_of_copies.h"
#include "import/csi/path_graphs.h"
#include "import/csi/program_answers.h"
#include "program/core_file.h"
#include "program/core_stacks.h"

namespace telltale {

// The metadata of the programs of a process, without anything that depends on the process.
struct ProgramMetadata {
  // The coverage of a section of records.
  struct Coverage {
    struct Function {
      csi::CoverageRecord record;
      LinesOfRecord lines;
      std::vector<uint64_t> arrays = {};  // link-time addresses of its flags, each once
      std::optional<uint32_t> flow = {};  // FlowFunctions::flagged_by() it
    };
    std::string module;
    std::vector<Function> functions;  // each record once, though linking leaves copies
    bool calls_dlclose = false;
    bool defines_main = false;
  };
  PathGraphs graphs;
  std::map<std::string, ModulePaths> modules;  // by path
  FlowFunctions functions;                     // refers to `modules`
  FlowStructure structure{ProgramFlow()};      // of `functions`
  FunctionsOfRecords functions_of_records;     // refers to `graphs`
  AnswersIfNothingRan answers;                 // of `functions`
  LinesOfCopies lines_of_copies;               // by the index of `functions`
  GoneFunctions gone_functions;                // likewise
  std::vector<Coverage> coverage;
  std::unordered_map<std::string, std::string> names;  // demangled, of functions of the source
  ProblemLog problems;                                 // of reading it

  // The demangled name; from `names` if it is there, since demangling is slow.
  [[nodiscard]] std::string name_of(const std::string& symbol) const;
};

// Data flow is decoded only where it is needed: it is half as large as all other records.
enum class DataFlow : uint8_t { skip, read };

// Reads the metadata of the programs of a core file. `texts`: sections .debug_PT that were given as
// files.
ProgramMetadata read_program_metadata(const CoreFile& core, const CoreStacks& stacks,
                                      const std::vector<InputFile>& texts, DataFlow data_flow);

// The same, without data flow. Keeps the metadata of the two sets of programs that were used last:
// a study has many core files of one program, and reading its metadata takes longer than reading
// any of them. Thread-safe.
std::shared_ptr<const ProgramMetadata> shared_program_metadata(const CoreFile& core,
                                                               const CoreStacks& stacks,
                                                               const std::vector<InputFile>& texts);

}  // namespace telltale
