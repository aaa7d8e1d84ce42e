#pragma once

#include <cstdint>
#include <string>

namespace telltale {

// Variable-length encoding for the program's own data: seven bits a byte, least significant first;
// the top bit marks continuation. Numbers from files are read with LebCursor, which checks them.
inline void append_varint(std::string& to, uint64_t number) {
  for (; number >= 0x80; number >>= 7) to += static_cast<char>(number | 0x80);
  to += static_cast<char>(number);
}

// Reads the number at `at` and advances past it. REQUIRES: append_varint wrote it.
inline uint64_t take_varint(const char*& at) {
  uint64_t number = 0;
  for (unsigned shift = 0;; shift += 7) {
    const auto byte = static_cast<uint8_t>(*at++);
    number |= uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) return number;
  }
}

// Maps small numbers of either sign to small unsigned ones, and back (zigzag).
constexpr uint64_t fold_sign(int64_t number) {
  return (static_cast<uint64_t>(number) << 1) ^ static_cast<uint64_t>(number >> 63);
}
constexpr int64_t unfold_sign(uint64_t number) {
  return static_cast<int64_t>((number >> 1) ^ (0 - (number & 1)));
}

}  // namespace telltale
