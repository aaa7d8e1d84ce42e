#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/paths/function_coverage.h"
#include "formats/csi/path_records.h"

namespace telltale {

// Lines by file and number.
using CoveredLines = std::map<std::pair<std::string, uint32_t>, Ran>;

// What the flags of one mechanism say of a function: of all its activations, or of one.
struct FlagAnswers {
  Ran ran = Ran::no;  // the function
  CoveredLines lines;
  std::vector<FunctionCoverage::Call> calls;
};

// `flags`: by number; empty: not known. Missing ones are not known, too. `has_begun`: it is known
// that the entry block ran.
FlagAnswers answers_of_flags(const csi::CoverageRecord& record,
                             std::span<const std::optional<bool>> flags, bool has_begun = false);

}  // namespace telltale
