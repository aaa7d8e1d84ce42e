#pragma once

// The text of a logged variable. Numbers, characters, pointers and strings are formatted here
// without allocation; other types by their operator<<, or by std::formatter or fmt::formatter if
// those exist. If that code throws, the text is "(exception)".

#include <cxxabi.h>

#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>
#include <telltale/stacktrack_control.hpp>
#include <type_traits>
#if __has_include(<version>)
#include <version>
#endif
#ifdef __cpp_lib_format
#include <format>
#endif

namespace telltale::st::detail {

// Collects streamed text: the first bytes in place, more on the heap.
class TextBuffer : public std::streambuf {
 public:
  TextBuffer() { setp(first_.data(), first_.data() + first_.size()); }
  std::string_view text() {
    if (spilled_.empty()) return {first_.data(), static_cast<size_t>(pptr() - pbase())};
    spill();
    return spilled_;
  }

 protected:
  int_type overflow(int_type next) override {
    spill();
    if (!traits_type::eq_int_type(next, traits_type::eof())) sputc(traits_type::to_char_type(next));
    return traits_type::not_eof(next);
  }

 private:
  void spill() {
    spilled_.append(pbase(), static_cast<size_t>(pptr() - pbase()));
    setp(first_.data(), first_.data() + first_.size());
  }

  std::array<char, 256> first_;
  std::string spilled_;
};

template <typename T, typename = void>
struct IsStreamable : std::false_type {};
template <typename T>
struct IsStreamable<
    T, std::void_t<decltype(std::declval<std::ostream&>() << std::declval<const T&>())>>
    : std::true_type {};

inline void hit_text(Site& site, std::string_view text) noexcept {
#ifdef TELLTALE_ST_INLINE
  if (!text.empty() && text.size() <= kInfoBytes)
    return hit_short_text(site, short_text(text.data(), text.size()));
#endif
  telltale_st_value_v1(&site, text.data(), text.size());
}

#if defined(TELLTALE_ST_INLINE) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define TELLTALE_ST_SHORT_NUMBERS 1

// The eight decimal digits of a number below 10^8, 0 to 9 each, the first in the lowest byte. The
// four pairs of digits are computed in parallel, and so are the digits of all pairs: the time is
// that of the longest chain of dependent steps.
inline uint64_t eight_digits(uint64_t number) noexcept {
  // number / 10^6, / 10^4 and / 100 by multiplication, exact for numbers up to 10^8.
  const uint64_t first = number * 1125899907 >> 50;
  const uint64_t second = number * 3518437209 >> 45;
  const uint64_t third = number * 1374389535 >> 37;
  const uint64_t pairs = first | (second - first * 100) << 16 | (third - second * 100) << 32 |
                         (number - third * 100) << 48;
  const uint64_t tens = (pairs * 103 >> 10) & 0x000F'000F'000F'000F;  // n / 10 below 100
  return tens | (pairs - tens * 10) << 8;
}

// A number of at most 15 digits as text, padded with zeros.
constexpr uint64_t kShortNumbers = 1'000'000'000'000'000;
inline ShortText short_number(uint64_t magnitude, bool negative) noexcept {
  constexpr uint64_t kHalf = 100'000'000;
  constexpr uint64_t kZeros = 0x3030'3030'3030'3030;
  uint64_t low;
  uint64_t high = 0;
  int bytes;
  if (magnitude < kHalf) {
    const uint64_t digits = eight_digits(magnitude);
    // The last digit stays, even if it is 0.
    const int leading = __builtin_ctzll(digits | uint64_t{1} << 56) / 8;
    low = (digits + kZeros) >> (8 * leading);
    bytes = 8 - leading;
  } else {
    const uint64_t first = eight_digits(magnitude / kHalf);  // below 10^7: a leading zero
    const uint64_t last = eight_digits(magnitude % kHalf) + kZeros;
    const int leading = __builtin_ctzll(first) / 8;
    low = (first + kZeros) >> (8 * leading) | last << (64 - 8 * leading);
    high = last >> (8 * leading);
    bytes = 16 - leading;
  }
  if (negative) {
    high = high << 8 | low >> 56;
    low = low << 8 | '-';
    ++bytes;
  }
  return {{low, high}, static_cast<size_t>(bytes)};
}
#endif

template <typename Number>
void hit_number(Site& site, Number value) {
#ifdef TELLTALE_ST_SHORT_NUMBERS
  if constexpr (std::is_integral_v<Number>) {
    const bool negative = value < 0;
    const uint64_t magnitude =
        negative ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    if (magnitude < kShortNumbers) return hit_short_text(site, short_number(magnitude, negative));
  }
#endif
  std::array<char, 64> text;
  char* end = text.data();
#if defined(__cpp_lib_to_chars)
  end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
#else
  if constexpr (std::is_integral_v<Number>) {
    end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  } else {
    end += snprintf(text.data(), text.size(), "%.*Lg", std::numeric_limits<Number>::max_digits10,
                    static_cast<long double>(value));
  }
#endif
  hit_text(site, {text.data(), static_cast<size_t>(end - text.data())});
}

#ifdef __SIZEOF_INT128__
// Standard modes have it, but it is no integral type there.
__extension__ typedef __int128 Int128;            // NOLINT(modernize-use-using)
__extension__ typedef unsigned __int128 Uint128;  // NOLINT(modernize-use-using)

template <typename T>
constexpr bool kIs128Bits = std::is_same_v<T, Int128> || std::is_same_v<T, Uint128>;

template <typename Number>
void hit_wide_number(Site& site, Number value) {
  const bool negative = value < 0;
  Uint128 magnitude = negative ? 0 - static_cast<Uint128>(value) : static_cast<Uint128>(value);
  std::array<char, 40> text;  // 39 digits and a sign
  size_t at = text.size();
  do {
    text[--at] = static_cast<char>('0' + static_cast<int>(magnitude % 10));
    magnitude /= 10;
  } while (magnitude != 0);
  if (negative) text[--at] = '-';
  hit_text(site, {text.data() + at, text.size() - at});
}
#else
template <typename>
constexpr bool kIs128Bits = false;
#endif

template <typename T, typename Char>
constexpr bool kIsText = std::is_convertible_v<const T&, std::basic_string_view<Char>>;

template <typename Char, typename T>
std::basic_string_view<Char> view_text(const T& value) {
  if constexpr (std::is_array_v<T> && std::extent_v<T> != 0) {
    // It may have no terminator.
    const std::basic_string_view<Char> all(value, std::extent_v<T>);
    return all.substr(0, all.find(Char{}));
  } else {
    return value;
  }
}

// Text in UTF-16 or UTF-32, as UTF-8. The library truncates longer text than fits here.
template <typename Char>
void hit_wide_text(Site& site, std::basic_string_view<Char> text) {
  std::array<char, 2048> utf8;
  size_t bytes = 0;
  const auto add = [&](uint32_t byte) { utf8[bytes++] = static_cast<char>(byte); };
  const auto add_rest = [&](uint32_t code, int shift) { add(0x80 | (code >> shift & 0x3f)); };
  for (size_t i = 0; i < text.size() && bytes + 4 <= utf8.size(); ++i) {
    uint32_t code = static_cast<uint32_t>(text[i]);
    if (sizeof(Char) == 2 && code >> 10 == 0x36 && i + 1 < text.size()) {
      const uint32_t next = static_cast<uint32_t>(text[i + 1]);
      if (next >> 10 == 0x37) {
        code = 0x10000 + ((code & 0x3ff) << 10 | (next & 0x3ff));
        ++i;
      }
    }
    if (code > 0x10ffff || code >> 11 == 0x1b) code = 0xfffd;  // no character
    if (code < 0x80) {
      add(code);
    } else if (code < 0x800) {
      add(0xc0 | code >> 6);
      add_rest(code, 0);
    } else {
      if (code < 0x10000) {
        add(0xe0 | code >> 12);
      } else {
        add(0xf0 | code >> 18);
        add_rest(code, 12);
      }
      add_rest(code, 6);
      add_rest(code, 0);
    }
  }
  hit_text(site, {utf8.data(), bytes});
}

template <typename Char, typename T>
void hit_string(Site& site, const T& value) {
  if constexpr (std::is_pointer_v<T>) {
    if (value == nullptr) return hit_text(site, "(null)");
  }
  const std::basic_string_view<Char> text = view_text<Char>(value);
  if constexpr (std::is_same_v<Char, char>) {
    hit_text(site, text);
  } else if constexpr (sizeof(Char) == 1) {
    hit_text(site, {reinterpret_cast<const char*>(text.data()), text.size()});
  } else {
    hit_wide_text(site, text);
  }
}

template <typename T>
void hit_formatted(Site& site, const T& value) {
  if constexpr (IsStreamable<T>::value) {
    TextBuffer buffer;
    std::ostream stream(&buffer);
    stream << value;
    hit_text(site, buffer.text());
  } else {
#if defined(FMT_VERSION)
    hit_text(site, fmt::format("{}", value));
#elif defined(__cpp_lib_format)
    hit_text(site, std::format("{}", value));
#else
    static_assert(IsStreamable<T>::value,
                  "TELLTALE_VALUE needs a type with operator<< or a formatter");
#endif
  }
}

// Character types other than char, signed char and unsigned char are streamed as numbers.
template <typename T>
void hit_any(Site& site, const T& value) {
  using Value = std::decay_t<T>;
  if constexpr (std::is_volatile_v<T> && std::is_scalar_v<Value>) {
    hit_any(site, static_cast<Value>(value));  // read once
  } else if constexpr (std::is_same_v<Value, bool>) {
    hit_text(site, value ? "true" : "false");
  } else if constexpr (std::is_same_v<Value, char>) {
    hit_text(site, {&value, 1});
  } else if constexpr (std::is_null_pointer_v<Value>) {
    hit_text(site, "nullptr");  // before C++23 a string_view can be made of it, but not read
  } else if constexpr (kIsText<T, char>) {
    hit_string<char>(site, value);
#ifdef __cpp_char8_t
  } else if constexpr (kIsText<T, char8_t>) {
    hit_string<char8_t>(site, value);
#endif
  } else if constexpr (kIsText<T, wchar_t>) {
    hit_string<wchar_t>(site, value);
  } else if constexpr (kIsText<T, char16_t>) {
    hit_string<char16_t>(site, value);
  } else if constexpr (kIsText<T, char32_t>) {
    hit_string<char32_t>(site, value);
  } else if constexpr (kIs128Bits<Value>) {
    hit_wide_number(site, value);
  } else if constexpr (std::is_integral_v<Value>) {
    hit_number(
        site,
        static_cast<std::conditional_t<std::is_signed_v<Value>, long long, unsigned long long>>(
            value));
  } else if constexpr (std::is_floating_point_v<Value>) {
    hit_number(site, value);
  } else if constexpr (std::is_enum_v<Value> && !IsStreamable<Value>::value) {
    hit_any(site, static_cast<std::underlying_type_t<Value>>(value));
  } else if constexpr (std::is_pointer_v<Value>) {
    std::array<char, 20> text{'0', 'x'};
    const auto end = std::to_chars(text.data() + 2, text.data() + text.size(),
                                   reinterpret_cast<uintptr_t>(static_cast<Value>(value)), 16)
                         .ptr;
    hit_text(site, {text.data(), static_cast<size_t>(end - text.data())});
  } else {
    hit_formatted(site, value);
  }
}

// A program must not depend on whether it is recorded: an exception of a value's code ends here.
template <typename T>
void hit_value(Site& site, const T& value) {
#ifdef __cpp_exceptions
  try {
    hit_any(site, value);
#ifdef _CXXABI_FORCED_H
  } catch (const __cxxabiv1::__forced_unwind&) {
    throw;  // the thread is cancelled
#endif
  } catch (...) {
    hit_text(site, "(exception)");
  }
#else
  hit_any(site, value);
#endif
}

}  // namespace telltale::st::detail
