#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>

#include "analysis/paths/slice_effects.h"

namespace telltale {

// Where a search has been, for each target.
class SliceVisits {
 public:
  // Whether it was not there yet.
  bool add(uint32_t activation, uint32_t visit, const SliceTarget& target) {
    const uint32_t number =
        targets_.try_emplace(target, static_cast<uint32_t>(targets_.size())).first->second;
    uint64_t& seen = visits_[{uint64_t{activation} << 32U | visit / 64, number}];
    const uint64_t bit = uint64_t{1} << visit % 64;
    const bool is_new = (seen & bit) == 0;
    seen |= bit;
    return is_new;
  }

 private:
  struct Hash {
    size_t operator()(const std::pair<uint64_t, uint32_t>& visit) const {
      constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;
      return static_cast<size_t>((visit.first ^ visit.second * kGolden) * kGolden >> 16U);
    }
  };
  std::map<SliceTarget, uint32_t> targets_;
  // A bit for each of 64 visits: searches reach most blocks of a function.
  std::unordered_map<std::pair<uint64_t, uint32_t>, uint64_t, Hash> visits_;
};

}  // namespace telltale
