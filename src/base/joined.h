#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <type_traits>

namespace telltale {

// The items of a range of texts, characters or integers, with `between` between them. (fmt::join
// compiles {fmt}'s formatting of texts in each unit that uses it.)
template <typename Range>
std::string joined(const Range& items, std::string_view between) {
  std::string text;
  bool first = true;
  for (const auto& item : items) {
    if (!first) text += between;
    first = false;
    using Item = std::remove_cvref_t<decltype(item)>;
    if constexpr (std::is_integral_v<Item> && !std::is_same_v<Item, char>) {
      const fmt::format_int digits(item);
      text.append(digits.data(), digits.size());
    } else {
      text += item;
    }
  }
  return text;
}

}  // namespace telltale
