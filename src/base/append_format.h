#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

namespace telltale {

// As append_format, with type-erased arguments.
void append_formatted(std::string& text, fmt::string_view format, fmt::format_args arguments);

// Appends to `text`. fmt::format_to with an iterator into a string would compile {fmt}'s whole
// engine in each unit that uses it.
template <typename... Values>
void append_format(std::string& text, fmt::format_string<Values...> format, Values&&... values) {
  append_formatted(text, format, fmt::make_format_args(values...));
}

}  // namespace telltale
