#include "output/table/show_units.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>

namespace telltale {

std::string show_duration(double ns) {
  static constexpr std::array<const char*, 4> kUnits = {"ns", "us", "ms", "s"};
  if (!std::isfinite(ns)) return "-";
  size_t unit = 0;
  double value = ns;
  // 999.95 rounds to 1000 in four digits, which is 1 of the next unit.
  while (unit + 1 < kUnits.size() && std::fabs(value) >= 999.95) {
    value /= 1000;
    ++unit;
  }
  if (std::fabs(value) >= 999.95) return fmt::format("{:.0f} {}", value, kUnits[unit]);
  return fmt::format("{:.4g} {}", value, kUnits[unit]);
}

std::string show_bytes(double bytes) {
  static constexpr std::array<const char*, 5> kUnits = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  if (!std::isfinite(bytes)) return "-";
  size_t unit = 0;
  double value = bytes;
  while (unit + 1 < kUnits.size() && std::fabs(value) >= 1023.5) {
    value /= 1024;
    ++unit;
  }
  return std::fabs(value) >= 999.95 ? fmt::format("{:.0f} {}", value, kUnits[unit])
                                    : fmt::format("{:.4g} {}", value, kUnits[unit]);
}

}  // namespace telltale
