#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace telltale {

// Whether a path is that of libc, libm, libstdc++ or another library of the system or the compiler,
// by the beginning of its file name.
constexpr bool is_system_library(std::string_view path) {
  constexpr std::array<std::string_view, 12> kBeginnings = {
      "libc.so",     "libc-2",    "libm.so",   "libpthread", "ld-linux", "libstdc++.so",
      "libgcc_s.so", "libc++.so", "libc++abi", "libasan.so", "libubsan", "linux-vdso"};
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return std::ranges::any_of(kBeginnings,
                             [&](std::string_view each) { return name.starts_with(each); });
}

}  // namespace telltale
