#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "import/csi/flow_functions.h"
#include "import/csi/frame_decoder.h"

namespace telltale {

// Which functions the records of a program are of, by the keys that processes have of them.
class FunctionsOfRecords {
 public:
  FunctionsOfRecords() = default;
  FunctionsOfRecords(const FlowFunctions& functions,
                     const std::map<std::string, ModulePaths>& modules);

  // A function with path tracing: the block of each id in .debug_PT.
  struct Traced {
    uint32_t function = 0;
    std::unordered_map<uint64_t, uint32_t> blocks;
  };
  // Null: none, or several fit.
  [[nodiscard]] const Traced* traced_by(const PathGraph& graph) const;
  // Functions with a flow record of this key.
  [[nodiscard]] const std::vector<uint32_t>& with_key(uint64_t key) const;

 private:
  std::unordered_map<const PathGraph*, std::optional<Traced>> traced_;  // empty: several fit
  std::unordered_map<uint64_t, std::vector<uint32_t>> by_key_;
};

}  // namespace telltale
