#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/paths/covered_lines.h"
#include "analysis/paths/function_coverage.h"
#include "formats/csi/path_records.h"

namespace telltale {

// The lines of a record of coverage, which are the same in all processes of a program.
struct LinesOfRecord {
  struct Place {
    uint32_t block = 0;
    uint32_t line = 0;  // index
  };
  explicit LinesOfRecord(const csi::CoverageRecord& record);

  std::vector<SourceLine> lines;  // in their order, each once
  std::vector<Place> places;
};

// What the flags of one mechanism say of a function: of all its activations, or of one.
struct FlagAnswers {
  Ran ran = Ran::no;  // the function
  CoveredLines lines;
  std::vector<FunctionCoverage::Call> calls;
};

// `lines`: of the record. `flags`: by number; empty: not known. Missing ones are not known, too.
// `has_begun`: it is known that the entry block ran.
FlagAnswers answers_of_flags(const csi::CoverageRecord& record, const LinesOfRecord& lines,
                             std::span<const std::optional<bool>> flags, bool has_begun = false);

}  // namespace telltale
