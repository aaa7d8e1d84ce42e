#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_set>
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
    return visits_.insert({uint64_t{activation} << 32U | visit, number}).second;
  }

 private:
  struct Hash {
    size_t operator()(const std::pair<uint64_t, uint32_t>& visit) const {
      constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;
      return static_cast<size_t>((visit.first ^ visit.second * kGolden) * kGolden >> 16U);
    }
  };
  std::map<SliceTarget, uint32_t> targets_;
  std::unordered_set<std::pair<uint64_t, uint32_t>, Hash> visits_;
};

}  // namespace telltale
