#pragma once

// The limits of the XRay recorder's settings, in one freestanding header for the recorder (C++17)
// and `telltale run`, which refuses a setting before the program starts.

#include <stddef.h>
#include <stdint.h>

namespace telltale::xray {

constexpr size_t kMostSettingDigits = 15;
constexpr uint64_t kMostSettingBytes = uint64_t{1} << 40;
constexpr uint64_t kLeastBuffer = 4096;
constexpr uint64_t kMostBuffer = uint64_t{16} << 20;
constexpr uint64_t kMostDepth = 65536;
constexpr uint64_t kMostThreadInterval = 1'000'000;
constexpr uint64_t kMostSettingSeconds = 3600;
constexpr size_t kMostPathBytes = 1023;
constexpr size_t kMostListBytes = 4095;

}  // namespace telltale::xray
