#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "formats/csi/path_records.h"
#include "program/machine_blocks.h"

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

  // The code of a function of the program, at link-time addresses; empty: not known.
  using CodeOf = std::function<std::vector<uint8_t>(uint64_t begin, uint64_t end)>;

  PathPositions();
  // `machine_blocks`: in order. `code_of`: may be null.
  PathPositions(std::vector<csi::PathPosition> positions, std::vector<MachineBlock> machine_blocks,
                CodeOf code_of = nullptr);

  // [function_begin, function_end): the function that the code at `address` is in. A machine block
  // without a position continues the only block from which control comes: passes after path
  // tracing, such as those of sanitizers, split blocks and add some.
  [[nodiscard]] Found find(uint64_t address, uint64_t function_begin, uint64_t function_end) const;
  [[nodiscard]] bool has_function(uint64_t begin, uint64_t end) const;
  [[nodiscard]] bool empty() const { return positions_.empty(); }

 private:
  class Ways;
  struct Known;
  // The ways through a function, which are read once.
  [[nodiscard]] const Ways& ways_of(uint64_t function_begin, uint64_t function_end) const;

  std::vector<csi::PathPosition> positions_;  // by address
  std::vector<MachineBlock> machine_blocks_;
  CodeOf code_of_;
  std::shared_ptr<Known> known_;
};

}  // namespace telltale
