#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace telltale {

// LEB128 numbers of up to eight bytes, decoded without a loop over the bytes. The word's lowest
// byte is the first.

inline constexpr uint64_t kLebContinues = 0x8080'8080'8080'8080;

// REQUIRES: eight bytes at `at`.
[[gnu::always_inline]] inline uint64_t leb_word(const uint8_t* at) {
  uint64_t word;
  std::memcpy(&word, at, sizeof word);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  return word;
}

// The number encoded in the bytes of `word`, seven bits each; their upper bits are ignored.
constexpr uint64_t leb_bits(uint64_t word) {
  word = (word & 0x007F'007F'007F'007F) | (word >> 1 & 0x3F80'3F80'3F80'3F80);
  word = (word & 0x0000'3FFF'0000'3FFF) | (word >> 2 & 0x0FFF'C000'0FFF'C000);
  return (word & 0x0FFF'FFFF) | (word >> 4 & 0x00FF'FFFF'F000'0000);
}

// `ends`: ~word & kLebContinues, which has a bit for each byte that ends a number; not 0. Returns
// the bytes up to the first end, with the others zeroed.
constexpr uint64_t leb_first(uint64_t word, uint64_t ends) { return word & (ends ^ (ends - 1)); }
// The number of these bytes.
constexpr unsigned leb_first_bytes(uint64_t ends) {
  return (static_cast<unsigned>(std::countr_zero(ends)) + 1) / 8;
}

// The lowest `bits` bits as a signed number. `bits`: 1 to 64.
constexpr uint64_t sign_extended(uint64_t value, unsigned bits) {
  return static_cast<uint64_t>(static_cast<int64_t>(value << (64 - bits)) >> (64 - bits));
}

}  // namespace telltale
