#include "cli/options/shell_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace telltale::cli {
namespace {

// Quotes a word for sh, on one line.
std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  const bool controls = std::ranges::any_of(
      word, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
  std::string text = controls ? "$'" : "'";
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    if (controls && (byte < ' ' || byte == 0x7f)) {
      text += fmt::format("\\x{:02x}", byte);
    } else if (controls && (c == '\'' || c == '\\')) {
      text += fmt::format("\\{}", c);
    } else if (c == '\'') {
      text += "'\\''";
    } else {
      text += c;
    }
  }
  return text + "'";
}

}  // namespace

std::string shell_command(const std::vector<std::string>& words) {
  std::string command;
  for (const std::string& word : words) command += (command.empty() ? "" : " ") + shell_word(word);
  return command;
}

}  // namespace telltale::cli
