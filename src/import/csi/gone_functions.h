#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/paths/coverage.h"
#include "formats/csi/path_records.h"

namespace telltale {

// Functions that may have run although nothing shows it: the optimiser removed their code, or a
// call of them or of a function that calls them.
class GoneFunctions {
 public:
  using Name = std::pair<std::string, std::string>;  // file and symbol
  using Names = std::set<std::pair<std::string_view, std::string_view>>;

  void add(const csi::FlowRecord& record);
  void add(const csi::UnitRecord::Callees& callees);
  // Returns views of the names that were added. `ran` is indexed by record, in the order of add(),
  // and by block. Modules are not distinguished: functions of two modules that have the same file
  // and symbol share one name.
  [[nodiscard]] Names that_may_have_run(const std::vector<std::vector<Ran>>& ran) const;

 private:
  uint32_t number_of(const std::string& file, const std::string& symbol);

  struct Call {
    size_t record = 0;
    uint32_t block = 0;
    uint32_t callee = 0;  // its number
    bool with_callees = false;
  };
  std::map<Name, uint32_t> numbers_;
  std::vector<const Name*> names_;
  std::vector<std::vector<uint32_t>> callees_;
  std::vector<Call> calls_;  // of which nothing is left
  size_t records_ = 0;
};

}  // namespace telltale
