#pragma once

// The text of a logged variable. Numbers, characters, pointers and strings are formatted here
// without allocation; other types by their operator<<, or by std::formatter or fmt::formatter where
// those exist.

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

// Collects what is streamed: the first bytes in place, more of them on the heap.
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
  telltale_st_value_v1(&site, text.data(), text.size());
}

template <typename Number>
void hit_number(Site& site, Number value) {
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

// Any character type but char and its signed and unsigned form is streamed as a number.
template <typename T>
void hit_value(Site& site, const T& value) {
  using Value = std::decay_t<T>;
  if constexpr (std::is_same_v<Value, bool>) {
    hit_text(site, value ? "true" : "false");
  } else if constexpr (std::is_same_v<Value, char>) {
    hit_text(site, {&value, 1});
  } else if constexpr (std::is_same_v<Value, char*> || std::is_same_v<Value, const char*>) {
    const char* const text = value;
    hit_text(site, text == nullptr ? std::string_view("(null)") : std::string_view(text));
  } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    hit_text(site, value);
  } else if constexpr (std::is_integral_v<Value>) {
    hit_number(
        site,
        static_cast<std::conditional_t<std::is_signed_v<Value>, long long, unsigned long long>>(
            value));
  } else if constexpr (std::is_floating_point_v<Value>) {
    hit_number(site, value);
  } else if constexpr (std::is_enum_v<Value> && !IsStreamable<Value>::value) {
    hit_value(site, static_cast<std::underlying_type_t<Value>>(value));
  } else if constexpr (std::is_pointer_v<Value> &&
                       !std::is_function_v<std::remove_pointer_t<Value>>) {
    std::array<char, 20> text{'0', 'x'};
    const auto end = std::to_chars(text.data() + 2, text.data() + text.size(),
                                   reinterpret_cast<uintptr_t>(value), 16)
                         .ptr;
    hit_text(site, {text.data(), static_cast<size_t>(end - text.data())});
  } else {
    hit_formatted(site, value);
  }
}

}  // namespace telltale::st::detail
