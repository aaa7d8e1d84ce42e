#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "bytes/cursor.h"

namespace telltale {

// Fields whose offset and width are only known at run time, from a description of the format. Safe
// on any input: a field that is not entirely inside the bytes is 0.

// The unsigned integer of `size` (1, 2, 4 or 8; others are 0) bytes at `offset`.
inline uint64_t load_unsigned(Bytes bytes, size_t offset, size_t size, std::endian order) {
  if (offset > bytes.size() || size > bytes.size() - offset) return 0;
  const std::byte* at = bytes.data() + offset;
  const bool swap = order != std::endian::native;
  switch (size) {
    case 1:
      return std::to_integer<uint64_t>(*at);
    case 2: {
      uint16_t value = 0;
      std::memcpy(&value, at, sizeof value);
      return swap ? __builtin_bswap16(value) : value;
    }
    case 4: {
      uint32_t value = 0;
      std::memcpy(&value, at, sizeof value);
      return swap ? __builtin_bswap32(value) : value;
    }
    case 8: {
      uint64_t value = 0;
      std::memcpy(&value, at, sizeof value);
      return swap ? __builtin_bswap64(value) : value;
    }
    default:
      return 0;
  }
}

// The same, as two's complement.
inline int64_t load_signed(Bytes bytes, size_t offset, size_t size, std::endian order) {
  const uint64_t value = load_unsigned(bytes, offset, size, order);
  if (size == 0 || size >= 8) return static_cast<int64_t>(value);
  const uint64_t sign = uint64_t{1} << (8 * size - 1);
  return static_cast<int64_t>((value ^ sign) - sign);
}

// Writes the low `size` bytes (1, 2, 4 or 8) of `value`. REQUIRES: at has space for them.
inline void store_integer(char* at, uint64_t value, size_t size, std::endian order) {
  for (size_t i = 0; i < size; ++i) {
    const size_t place = order == std::endian::little ? i : size - 1 - i;
    at[place] = static_cast<char>(value >> (8 * i));
  }
}

}  // namespace telltale
