#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "formats/csi/path_records.h"

namespace telltale {

// Which block of which function the code of a program belongs to (docs/formats/csi.md,
// "Position"). Addresses are link-time addresses.
class PathPositions {
 public:
  enum class Place : uint8_t {
    known,
    before_body,  // the function's variables are not set yet
    unknown,      // code of several blocks, or of no function with positions
  };
  struct Found {
    Place place = Place::unknown;
    csi::PathPosition position;  // if known; before_body: the first
  };

  PathPositions() = default;
  PathPositions(std::vector<csi::PathPosition> positions, std::vector<uint64_t> machine_blocks);

  // [function_begin, function_end): the function that the code at `address` is in.
  [[nodiscard]] Found find(uint64_t address, uint64_t function_begin, uint64_t function_end) const;
  [[nodiscard]] bool has_function(uint64_t begin, uint64_t end) const;
  [[nodiscard]] bool empty() const { return positions_.empty(); }

 private:
  std::vector<csi::PathPosition> positions_;  // by address
  std::vector<uint64_t> machine_blocks_;      // their beginnings, ascending
};

}  // namespace telltale
