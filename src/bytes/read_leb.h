#pragma once

#include <cstdint>

#include "bytes/cursor.h"

namespace telltale {

// An unsigned LEB128 number; bits above the 64th are dropped.
inline uint64_t read_leb(Cursor& in) {
  uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const auto byte = in.read<uint8_t>("LEB128");
    if (shift < 64) value |= uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) return value;
  }
}

}  // namespace telltale
