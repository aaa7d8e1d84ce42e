#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "formats/csi/path_records.h"
#include "import/csi/coverage_flags.h"
#include "program/core_stacks.h"

namespace telltale {

using CoverageBySymbol = std::unordered_multimap<std::string, csi::CoverageRecord>;

// Names of the arrays of flags in a frame.
std::vector<std::string> flag_variable_names();
bool is_coverage_flags(const StackVariable& variable);

// What single activations ran, by the flags of coverage in their frames.
class FrameFlags {
 public:
  // `coverage`: of the frame's module; it must live as long as this. Empty if the frame has no
  // flags whose function is known. REQUIRES: the activation has cleared its flags.
  const CoveredLines& lines_of(const CoverageBySymbol& coverage, const StackFrame& frame);

 private:
  // Frames of a recursion are often equal.
  using Key = std::tuple<const csi::CoverageRecord*, std::vector<int64_t>>;
  const CoveredLines& lines_of(const csi::CoverageRecord& record,
                               const std::vector<int64_t>& values);

  std::map<Key, CoveredLines> known_;
  std::map<std::pair<const CoveredLines*, const CoveredLines*>, CoveredLines> joined_;
  // Steps for frames that are not equal to an earlier one; bounds the time of deep stacks.
  uint64_t steps_left_ = uint64_t{1} << 28;
  const CoveredLines none_;
};

}  // namespace telltale
