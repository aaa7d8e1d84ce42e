#pragma once

#include <bit>
#include <cstdint>

#include "bytes/leb_word.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif
#if defined(__x86_64__) && defined(__GNUC__)
#define TELLTALE_HAS_BMI2 1
#endif

namespace telltale {

// The ends of the LEB128 numbers in `kCount` bytes (a multiple of 16, at most 64): bit i is set if
// byte i ends a number. REQUIRES: `kCount` bytes at `at`.
template <unsigned kCount>
[[gnu::always_inline]] inline uint64_t leb_ends(const uint8_t* at) {
  static_assert(kCount % 16 == 0 && kCount <= 64);
  uint64_t continues = 0;
  for (unsigned i = 0; i < kCount; i += 16) {
#if defined(__SSE2__)
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + i));
    continues |= uint64_t{static_cast<uint32_t>(_mm_movemask_epi8(bytes))} << i;
#else
    const auto bits = [](uint64_t word) {
      return ((word & kLebContinues) >> 7) * 0x0102'0408'1020'4080 >> 56;
    };
    continues |= (bits(leb_word(at + i)) | bits(leb_word(at + i + 8)) << 8) << i;
#endif
  }
  return continues ^ (~uint64_t{0} >> (64 - kCount));
}

// Whether a number may have more than eight bytes, by the ends in `kCount` bytes from leb_ends().
template <unsigned kCount>
[[gnu::always_inline]] inline bool leb_may_be_long(uint64_t ends) {
  uint64_t continues = ~ends & (~uint64_t{0} >> (64 - kCount));
  continues &= continues >> 1;  // a bit for two bytes in a row
  continues &= continues >> 2;
  continues &= continues >> 4;
  return continues != 0;
}

// Two ways of decoding numbers, as template arguments. Code that uses LebBmi2 must not run before
// LebBmi2::is_fast(); its function has the attribute TELLTALE_TARGET_BMI2.
struct LebPortable {
  // As leb_bits(word).
  [[gnu::always_inline]] static uint64_t bits(uint64_t word) { return leb_bits(word); }
  // The index of the lowest set bit; 64 if there is none.
  [[gnu::always_inline]] static unsigned first(uint64_t set) {
    return static_cast<unsigned>(std::countr_zero(set));
  }
  // The index of the set bit above `below` lower ones; 64 if there are fewer. REQUIRES: below < 64.
  [[gnu::always_inline]] static unsigned nth(uint64_t set, unsigned below) {
    for (; below != 0; --below) set &= set - 1;
    return first(set);
  }
};

#ifdef TELLTALE_HAS_BMI2
// Attribute of functions that use LebBmi2.
#define TELLTALE_TARGET_BMI2 gnu::target("bmi,bmi2")

// Assembler, because the compiler's own functions cannot be inlined through code for all
// processors.
struct LebBmi2 {
  // The processor has these instructions, and they take one step: in AMD's first Zens they take
  // some hundred.
  static bool is_fast() {
    static const bool kFast = __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("bmi") &&
                              !__builtin_cpu_is("znver1") && !__builtin_cpu_is("znver2");
    return kFast;
  }
  [[gnu::always_inline]] static uint64_t bits(uint64_t word) {
    uint64_t packed;
    asm("pextq %2, %1, %0" : "=r"(packed) : "r"(word), "r"(~kLebContinues));
    return packed;
  }
  [[gnu::always_inline]] static unsigned first(uint64_t set) {
    uint64_t index;
    asm("tzcntq %1, %0" : "=r"(index) : "r"(set) : "cc");
    return static_cast<unsigned>(index);
  }
  [[gnu::always_inline]] static unsigned nth(uint64_t set, unsigned below) {
    uint64_t bit;
    asm("pdepq %2, %1, %0" : "=r"(bit) : "r"(uint64_t{1} << below), "r"(set));
    return first(bit);
  }
};
#endif

}  // namespace telltale
