#pragma once

#include <array>
#include <cstdint>
#include <numeric>
#include <optional>

namespace telltale {

// The result of a format's verifier. `Violation` has an offset and a Kind, of which there are
// kKinds.
template <typename Violation>
struct VerdictOf {
  uint64_t records = 0;  // as the format counts them
  std::array<uint64_t, Violation::kKinds> counts{};
  std::optional<Violation> first;  // the one with the smallest offset
  [[nodiscard]] bool valid() const { return !first.has_value(); }
  [[nodiscard]] uint64_t violations() const {
    return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
  }
};

}  // namespace telltale
