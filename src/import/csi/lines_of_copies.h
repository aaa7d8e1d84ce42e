#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/paths/coverage.h"
#include "formats/csi/path_records.h"

namespace telltale {

// The copies of each source function: the function itself, and where it was inlined. Optimisers
// leave no instruction of some lines in one copy, but in another.
class LinesOfCopies {
 public:
  using Line = std::pair<std::string, uint32_t>;  // file and line

  // `ran` is by block of the record.
  void add(const csi::FlowRecord& record, const std::vector<Ran>& ran);
  // A function of which some unit has no code left.
  void add_removed(const csi::UnitRecord::Lines& function);
  // Lines that some copy has, but not each copy that may have run: what the blocks with them say
  // does not rule out that they ran.
  [[nodiscard]] std::set<Line> uncertain() const;

 private:
  struct Copies {
    uint64_t may_have_run = 0;
    // How many of these have the line, or have lost it; 0: only others.
    std::map<uint32_t, uint64_t> with_line;
    std::map<uint32_t, uint64_t> losing_line;
  };
  std::map<std::pair<std::string, std::string>, Copies> functions_;  // by file and symbol
};

}  // namespace telltale
