#include "formats/sampler/tag.h"

#include <algorithm>

namespace telltale::sampler {
namespace {

bool is_name_character(char c) { return (c >= 'a' && c <= 'z') || c == '-' || c == '_'; }

std::string_view take_name(std::string_view& rest) {
  size_t length = 0;
  while (length < rest.size() && is_name_character(rest[length])) ++length;
  const std::string_view name = rest.substr(0, length);
  rest.remove_prefix(length);
  return name;
}

size_t skip_blanks(std::string_view& rest) {
  const size_t blanks = std::min(rest.find_first_not_of(' '), rest.size());
  rest.remove_prefix(blanks);
  return blanks;
}

// key="value"
bool take_attribute(std::string_view& rest, Tag& tag) {
  const std::string_view key = take_name(rest);
  if (key.empty() || !rest.starts_with("=\"")) return false;
  rest.remove_prefix(2);
  const size_t end = rest.find('"');
  if (end == std::string_view::npos || tag.attribute_count == Tag::kMaxAttributes) return false;
  tag.attributes[tag.attribute_count++] = {key, rest.substr(0, end)};
  rest.remove_prefix(end + 1);
  return true;
}

}  // namespace

std::string_view Tag::attribute(std::string_view key) const {
  for (size_t i = 0; i < attribute_count; ++i) {
    if (attributes[i].first == key) return attributes[i].second;
  }
  return {};
}

std::optional<Tag> parse_tag(std::string_view line) {
  if (line.size() < 3 || line.front() != '<' || line.back() != '>') return std::nullopt;
  std::string_view rest = line.substr(1, line.size() - 2);
  Tag tag;
  if (rest.front() == '/') {
    tag.closes = true;
    rest.remove_prefix(1);
  }
  tag.name = take_name(rest);
  if (tag.name.empty()) return std::nullopt;
  while (!rest.empty()) {
    const size_t blanks = skip_blanks(rest);
    if (blanks != 1 || rest.empty()) tag.letter_perfect = false;
    if (rest.empty()) break;
    if (blanks == 0 || !take_attribute(rest, tag)) return std::nullopt;
  }
  if (tag.closes && tag.attribute_count != 0) return std::nullopt;
  return tag;
}

bool is_unit_signature(std::string_view text) {
  return text.size() == kUnitDigits && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

const SchemeLayout* find_scheme(std::string_view name) {
  for (const SchemeLayout& scheme : kSchemes) {
    if (name == scheme.name) return &scheme;
  }
  return nullptr;
}

}  // namespace telltale::sampler
