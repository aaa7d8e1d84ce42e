#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace telltale::cli {

// Writes to standard error. Ignores errors: there is no other place to report them.
void write_message(std::string_view text);

// Formats a message and writes it. The format includes the line feed.
template <typename... Args>
void print_message(fmt::format_string<Args...> format, Args&&... args) {
  write_message(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace telltale::cli
