#pragma once

#include <boost/container/flat_map.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/paths/covered_lines.h"
#include "analysis/paths/function_coverage.h"
#include "import/csi/block_lines.h"
#include "import/csi/flow_functions.h"
#include "import/csi/frame_decoder.h"

namespace telltale {

// What to find out of functions: which lines ran, or which lines and blocks.
enum class Detail : uint8_t { lines, blocks };

// What the copies of a function of the source say of it; `ran` only what its inlined copies say.
struct SourceFunction {
  std::optional<Ran> ran;
  boost::container::flat_map<uint32_t, Ran> lines;
  uint32_t line = 0;  // of its declaration; 0: unknown
};

// Answers for functions of one name and file, of which the copies have different blocks.
struct FunctionAnswers {
  FunctionCoverage coverage;
  CoveredLines entered;  // whether the blocks with a line were entered; of functions that began
};

// What is to be said of a process in which no function of the program began: most functions of a
// program do not begin, and each process starts from it.
struct AnswersIfNothingRan {
  AnswersIfNothingRan() = default;
  AnswersIfNothingRan(const FlowFunctions& flow, const std::map<std::string, ModulePaths>& modules);

  FlowFunctions::SourceNumbers groups;      // by module, symbol and file: index of `functions`
  std::vector<uint32_t> group_of;           // by index in `flow`
  std::vector<FunctionCoverage> functions;  // in the order of `groups`
  std::vector<SourceFunction> sources;      // by number in `flow`
  SourceLineSet vanished;                   // lines that may have run without a trace
};

// The same for a process.
class ProgramAnswers {
 public:
  ProgramAnswers(const FlowFunctions& flow, const AnswersIfNothingRan& if_nothing_ran);

  // Function number `f` of the program: `blocks` are of its first copy. With Detail::blocks, all
  // functions are to be added; else those that may have begun.
  void add(uint32_t f, const std::vector<BlockAnswer>& blocks, Detail detail);

  std::vector<FunctionAnswers> functions;
  std::vector<SourceFunction> sources;

 private:
  const FlowFunctions& flow_;
  const std::vector<uint32_t>& group_of_;
};

// In .debug_PT.
std::optional<uint64_t> id_of(const csi::FlowRecord::Block& block);

}  // namespace telltale
