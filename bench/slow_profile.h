#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace telltale::bench {

// The profile of an XRay FDR trace (version 1 to 4) of one thread, computed in the plainest way and
// without telltale's code: the reference for the fast answers. Durations are ticks.
struct SlowRow {
  std::vector<uint64_t> durations;  // sorted
  uint64_t sum = 0;
  uint64_t self = 0;
  uint64_t total = 0;
  [[nodiscard]] uint64_t at(double fraction) const {
    return durations[static_cast<size_t>(static_cast<double>(durations.size()) * fraction)];
  }
};

inline std::map<uint32_t, SlowRow> slow_profile(const std::string& trace) {
  struct Open {
    uint32_t function;
    uint64_t entered;
    uint64_t child;
  };
  std::map<uint32_t, SlowRow> rows;
  std::map<uint32_t, int> open_count;
  std::vector<Open> stack;
  uint64_t tsc = 0;
  for (size_t at = 32; at + 8 <= trace.size();) {
    const auto first = static_cast<unsigned char>(trace[at]);
    if ((first & 1) != 0) {
      if (first == 0x05) std::memcpy(&tsc, trace.data() + at + 3, 8);  // NewCPUId
      if (first == 0x07) std::memcpy(&tsc, trace.data() + at + 1, 8);  // TSCWrap
      at += 16;
      continue;
    }
    uint32_t word = 0;
    uint32_t delta = 0;
    std::memcpy(&word, trace.data() + at, 4);
    std::memcpy(&delta, trace.data() + at + 4, 4);
    at += 8;
    tsc += delta;
    const uint32_t function = word >> 4;
    if ((word >> 1 & 7) == 0) {
      stack.push_back({function, tsc, 0});
      ++open_count[function];
      continue;
    }
    const Open call = stack.back();
    stack.pop_back();
    SlowRow& row = rows[function];
    const uint64_t duration = tsc - call.entered;
    row.durations.push_back(duration);
    row.sum += duration;
    row.self += duration - call.child;
    if (--open_count[function] == 0) row.total += duration;
    if (!stack.empty()) stack.back().child += duration;
  }
  for (auto& [function, row] : rows) std::ranges::sort(row.durations);
  return rows;
}

}  // namespace telltale::bench
