#include "model/template_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

namespace telltale {
namespace {

constexpr std::string_view kOperator = "operator";
// Those with brackets; the longest first.
constexpr auto kOperators = std::to_array<std::string_view>(
    {"<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">"});

bool is_in_name(char character) {
  return std::isalnum(static_cast<unsigned char>(character)) != 0 || character == '_';
}

// How many bytes at `position` are the name of an operator whose brackets are no arguments.
size_t operator_length(std::string_view name, size_t position) {
  if (!name.substr(position).starts_with(kOperator)) return 0;
  if (position > 0 && is_in_name(name[position - 1])) return 0;
  const std::string_view rest = name.substr(position + kOperator.size());
  const auto* const found = std::ranges::find_if(
      kOperators, [&](std::string_view symbol) { return rest.starts_with(symbol); });
  return found == kOperators.end() ? 0 : kOperator.size() + found->size();
}

}  // namespace

std::string template_name(std::string_view name) {
  std::string result;
  size_t depth = 0;
  for (size_t i = 0; i < name.size();) {
    const size_t symbol = operator_length(name, i);
    const size_t length = std::max<size_t>(symbol, 1);
    if (symbol == 0 && name[i] == '<') {
      ++depth;
    } else if (symbol == 0 && name[i] == '>') {
      if (depth == 0) return std::string(name);
      --depth;
    } else if (depth == 0) {
      result += name.substr(i, length);
    }
    i += length;
  }
  return depth == 0 ? result : std::string(name);
}

}  // namespace telltale
