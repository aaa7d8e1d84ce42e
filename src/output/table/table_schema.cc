#include "output/table/table_schema.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

namespace telltale {

TableSchema::TableSchema(std::span<const Field> declared)
    : declared_(declared), shown_(declared.size()) {
  std::iota(shown_.begin(), shown_.end(), size_t{0});
}

size_t TableSchema::column(std::string_view key) const {
  const auto found = std::ranges::find(declared_, key, &Field::key);
  if (found == declared_.end())
    throw std::logic_error("no column is declared as " + std::string(key));
  return static_cast<size_t>(found - declared_.begin());
}

TableSchema& TableSchema::show(std::span<const std::string_view> keys) {
  shown_.clear();
  for (const std::string_view key : keys) shown_.push_back(column(key));
  return *this;
}

TableSchema& TableSchema::leave_out(std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) std::erase(shown_, column(key));
  return *this;
}

}  // namespace telltale
