#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/paths/coverage.h"
#include "analysis/paths/covered_lines.h"
#include "base/interned_text.h"
#include "formats/csi/path_records.h"
#include "import/csi/gone_functions.h"

namespace telltale {

// The copies of each source function: the function itself, and where it was inlined. Optimisers
// leave no instruction of some lines in one copy, but in another.
class LinesOfCopies {
 public:
  void add(const csi::FlowRecord& record);
  // A function of which some unit has no code left.
  void add_removed(const csi::UnitRecord::Lines& function);
  // Lines that some copy has, but not each copy that may have run: what the blocks with them say
  // does not rule out that they ran. `ran` is by record, in the order of add(), and block; `gone`:
  // functions of which another copy may have run, without any line.
  [[nodiscard]] SourceLineSet uncertain(const std::vector<std::vector<Ran>>& ran,
                                        const GoneFunctions::Names& gone) const;

 private:
  struct Copy {
    size_t record = 0;
    std::vector<uint32_t> blocks = {};  // with its lines
    std::vector<uint32_t> lines = {};
    std::vector<uint32_t> lost = {};
  };
  struct Function {
    InternedText file;
    std::string symbol;
    std::vector<Copy> copies = {};
  };

  uint32_t number_of(const std::string& file, const std::string& symbol);

  std::map<std::pair<std::string, std::string>, uint32_t> numbers_;  // of functions
  std::vector<Function> functions_;
  size_t records_ = 0;
};

}  // namespace telltale
