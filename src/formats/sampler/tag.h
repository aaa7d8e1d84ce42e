#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "formats/sampler/wire.h"

namespace telltale::sampler {

// A line of the form <name key="value" ...> or </name>. Views of the line.
struct Tag {
  static constexpr size_t kMaxAttributes = 8;
  std::string_view name;
  bool closes = false;
  bool letter_perfect = true;  // one blank before each attribute, nothing else between
  std::array<std::pair<std::string_view, std::string_view>, kMaxAttributes> attributes{};
  size_t attribute_count = 0;

  // Empty if there is no such attribute.
  [[nodiscard]] std::string_view attribute(std::string_view key) const;
};

// `line` has no line feed. Empty if it is not a tag.
std::optional<Tag> parse_tag(std::string_view line);

// 32 lower-case hexadecimal digits.
bool is_unit_signature(std::string_view text);
// Null for an unknown scheme.
const SchemeLayout* find_scheme(std::string_view name);

// The unit and scheme of a section, which join a run's report with its program.
struct SectionKey {
  std::string unit;
  std::string scheme;
  bool operator==(const SectionKey&) const = default;
  auto operator<=>(const SectionKey&) const = default;
};

}  // namespace telltale::sampler
