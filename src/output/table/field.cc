#include "output/table/field.h"

#include <cctype>

namespace telltale {

std::string heading_of(const Field& field) {
  if (field.title) return std::string(*field.title);
  std::string_view words = field.key;
  if (field.unit == Unit::ns && words.ends_with("_ns")) words.remove_suffix(3);
  std::string heading;
  for (const char c : words)
    heading += c == '_' ? ' ' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return heading;
}

}  // namespace telltale
