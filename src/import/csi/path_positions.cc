#include "import/csi/path_positions.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/sort_rows.h"

namespace telltale {

PathPositions::PathPositions(std::vector<csi::PathPosition> positions,
                             std::vector<uint64_t> machine_blocks)
    : positions_(std::move(positions)), machine_blocks_(std::move(machine_blocks)) {
  // Of positions at one address the last holds; the others have no instructions.
  sort_rows(positions_, {}, &csi::PathPosition::address);
  uint64_t address = 0;
  size_t empty_blocks = 0;  // machine blocks without code at `address`, of those not seen yet
  std::erase_if(positions_, [&](const csi::PathPosition& position) {
    const auto begins = std::ranges::equal_range(machine_blocks_, position.address);
    // At the start of a machine block, such a position belongs to the end of the block before.
    if (position.after_instruction) return !begins.empty();
    if (position.address != address) {
      address = position.address;
      empty_blocks = begins.size() < 2 ? 0 : begins.size() - 1;
    }
    if (empty_blocks == 0) return false;
    --empty_blocks;
    return true;
  });
}

PathPositions::Found PathPositions::find(uint64_t address, uint64_t function_begin,
                                         uint64_t function_end) const {
  const auto next = std::ranges::upper_bound(positions_, address, {}, &csi::PathPosition::address);
  if (next == positions_.begin() || (next - 1)->address < function_begin) {
    const bool later = next != positions_.end() && next->address < function_end;
    if (later) return {.place = Place::before_body, .position = *next};
    return {};
  }
  const auto block = std::ranges::upper_bound(machine_blocks_, address);
  const uint64_t begin = block == machine_blocks_.begin() ? 0 : *(block - 1);
  const uint64_t end =
      block == machine_blocks_.end() ? std::numeric_limits<uint64_t>::max() : *block;
  if ((next - 1)->address >= begin) return {.place = Place::known, .position = *(next - 1)};
  // Code at the beginning of a machine block belongs to the first position in it.
  if (next == positions_.end() || next->address >= end) return {};
  return {.place = Place::known, .position = *next};
}

bool PathPositions::has_function(uint64_t begin, uint64_t end) const {
  const auto first = std::ranges::lower_bound(positions_, begin, {}, &csi::PathPosition::address);
  return first != positions_.end() && first->address < end;
}

}  // namespace telltale
