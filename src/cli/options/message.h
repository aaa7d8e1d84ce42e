#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace telltale::cli {

// Writes to standard error. Nobody can be told if that fails, and nothing else depends on it.
void write_message(std::string_view text);

// The same of a formatted text, with its line feed.
template <typename... Args>
void print_message(fmt::format_string<Args...> format, Args&&... args) {
  write_message(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace telltale::cli
