#include "import/csi/path_positions.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <ranges>
#include <set>
#include <span>
#include <utility>

#include "base/sort_rows.h"
#include "program/jumps.h"

namespace telltale {

// How control goes between the machine blocks of a function.
class PathPositions::Ways {
 public:
  Ways(const PathPositions& all, uint64_t function_begin, uint64_t function_end)
      : positions_(all.positions_), end_(function_end) {
    const auto from =
        std::ranges::lower_bound(all.machine_blocks_, function_begin, {}, &MachineBlock::begin);
    const auto to = std::ranges::lower_bound(from, all.machine_blocks_.end(), function_end, {},
                                             &MachineBlock::begin);
    blocks_ = {from, to};
    if (blocks_.empty() || blocks_.size() > kMostBlocks || all.code_of_ == nullptr) return;
    const uint64_t begin = blocks_.front().begin;
    const std::vector<uint8_t> code = all.code_of_(begin, function_end);
    if (code.empty()) return;
    next_.resize(blocks_.size());
    for (size_t i = 0; i < blocks_.size(); ++i) {
      const MachineBlock& block = blocks_[i];
      if (block.falls_through && i + 1 < blocks_.size()) add(i, i + 1);
      if (block.end < block.begin || block.end - begin > code.size()) continue;
      const std::span<const uint8_t> own =
          std::span(code).subspan(block.begin - begin, block.end - block.begin);
      for (const uint64_t target : last_jumps(own, block.end))
        if (const std::optional<size_t> number = number_of(target)) add(i, *number);
    }
  }

  // The position of the machine block that a check of a sanitizer divides from the one that begins
  // there: control goes to it, or elsewhere, but never on from there with another position.
  [[nodiscard]] std::optional<csi::PathPosition> position_before_check(uint64_t begin) const {
    const std::optional<size_t> block = number_of(begin);
    if (!block || next_.empty()) return std::nullopt;
    const auto [first, last] = before_.equal_range(begin);
    for (const auto& [to, number] : std::ranges::subrange(first, last)) {
      const std::vector<size_t>& next = next_[number];
      if (next.size() != 2 || next[0] == next[1]) continue;
      if (!leads_nowhere_else(next[0] == *block ? next[1] : next[0], *block)) continue;
      const std::optional<csi::PathPosition> position = last_position(number);
      return position ? position : position_before(blocks_[number].begin);
    }
    return std::nullopt;
  }

  // For a machine block without a position: the position at the end of the blocks from which
  // control comes. Empty if they have several, or none is known.
  [[nodiscard]] std::optional<csi::PathPosition> position_before(uint64_t begin) const {
    std::optional<csi::PathPosition> found;
    std::set<uint64_t> seen = {begin};
    std::vector<uint64_t> pending = {begin};
    while (!pending.empty()) {
      const uint64_t block = pending.back();
      pending.pop_back();
      const auto [first, last] = before_.equal_range(block);
      if (first == last) return std::nullopt;  // the function's first, a landing pad, a table's
      for (const auto& [to, number] : std::ranges::subrange(first, last)) {
        const std::optional<csi::PathPosition> position = last_position(number);
        if (!position) {
          if (seen.insert(blocks_[number].begin).second) pending.push_back(blocks_[number].begin);
        } else if (found && (found->key != position->key || found->block != position->block)) {
          return std::nullopt;
        } else {
          found = position;
        }
      }
    }
    return found;
  }

 private:
  static constexpr size_t kMostBlocks = 20'000;

  // Of the block that begins there.
  [[nodiscard]] std::optional<size_t> number_of(uint64_t begin) const {
    const auto found = std::ranges::lower_bound(blocks_, begin, {}, &MachineBlock::begin);
    if (found == blocks_.end() || found->begin != begin) return std::nullopt;
    return static_cast<size_t>(found - blocks_.begin());
  }
  void add(size_t from, size_t to) {
    before_.emplace(blocks_[to].begin, from);
    next_[from].push_back(to);
  }
  // Whether the code from a block on has no position and leads back to another one, or ends.
  [[nodiscard]] bool leads_nowhere_else(size_t from, size_t back) const {
    constexpr size_t kMost = 16;  // blocks of a check
    std::set<size_t> seen = {from, back};
    std::vector<size_t> pending = {from};
    while (!pending.empty()) {
      const size_t block = pending.back();
      pending.pop_back();
      if (last_position(block) || seen.size() > kMost) return false;
      for (const size_t next : next_[block])
        if (seen.insert(next).second) pending.push_back(next);
    }
    return true;
  }

  // The last one in a machine block.
  [[nodiscard]] std::optional<csi::PathPosition> last_position(size_t number) const {
    const uint64_t end = number + 1 < blocks_.size() ? blocks_[number + 1].begin : end_;
    const auto next = std::ranges::lower_bound(positions_, end, {}, &csi::PathPosition::address);
    if (next == positions_.begin() || (next - 1)->address < blocks_[number].begin)
      return std::nullopt;
    return *(next - 1);
  }

  std::span<const csi::PathPosition> positions_;  // of the program
  uint64_t end_;                                  // of the function
  std::span<const MachineBlock> blocks_;          // of the function
  std::multimap<uint64_t, size_t> before_;        // by beginning: numbers of blocks that lead there
  std::vector<std::vector<size_t>> next_;         // by number; empty: nothing is known
};

// A deep recursion asks for the same function again and again.
struct PathPositions::Known {
  std::mutex mutex;
  std::map<std::pair<uint64_t, uint64_t>, std::unique_ptr<const Ways>> ways;  // by function
};

PathPositions::PathPositions() : known_(std::make_shared<Known>()) {}

PathPositions::PathPositions(std::vector<csi::PathPosition> positions,
                             std::vector<MachineBlock> machine_blocks, CodeOf code_of)
    : positions_(std::move(positions)),
      machine_blocks_(std::move(machine_blocks)),
      code_of_(std::move(code_of)),
      known_(std::make_shared<Known>()) {
  // Of positions at one address the last holds; the others have no instructions.
  sort_rows(positions_, {}, &csi::PathPosition::address);
  uint64_t address = 0;
  size_t empty_blocks = 0;  // machine blocks without code at `address`, of those not seen yet
  std::erase_if(positions_, [&](const csi::PathPosition& position) {
    const auto begins =
        std::ranges::equal_range(machine_blocks_, position.address, {}, &MachineBlock::begin);
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
  const auto block = std::ranges::upper_bound(machine_blocks_, address, {}, &MachineBlock::begin);
  const uint64_t begin = block == machine_blocks_.begin() ? 0 : (block - 1)->begin;
  const uint64_t end =
      block == machine_blocks_.end() ? std::numeric_limits<uint64_t>::max() : block->begin;
  if ((next - 1)->address >= begin) return {.place = Place::known, .position = *(next - 1)};
  const Ways& ways = ways_of(function_begin, function_end);
  if (next == positions_.end() || next->address >= end) {
    const auto before = ways.position_before(begin);
    return before ? Found{.place = Place::known, .position = *before} : Found{};
  }
  // Code at the beginning of a machine block belongs to the first position in it, unless the block
  // is the rest of a divided one.
  return {.place = Place::known, .position = ways.position_before_check(begin).value_or(*next)};
}

const PathPositions::Ways& PathPositions::ways_of(uint64_t function_begin,
                                                  uint64_t function_end) const {
  const std::lock_guard locked(known_->mutex);
  std::unique_ptr<const Ways>& ways = known_->ways[{function_begin, function_end}];
  if (ways == nullptr) ways = std::make_unique<const Ways>(*this, function_begin, function_end);
  return *ways;
}

bool PathPositions::has_function(uint64_t begin, uint64_t end) const {
  const auto first = std::ranges::lower_bound(positions_, begin, {}, &csi::PathPosition::address);
  return first != positions_.end() && first->address < end;
}

}  // namespace telltale
