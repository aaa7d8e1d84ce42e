#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "output/table/field.h"

namespace telltale {

// The columns of a table: a declaration, and which of its columns this table shows. A row has a
// cell for each declared column, shown or not, so that whoever makes rows need not know what is
// shown.
class TableSchema {
 public:
  // Shows all columns. `declared` outlives this and all copies.
  explicit TableSchema(std::span<const Field> declared);
  template <size_t kCount>
  TableSchema(const std::array<Field, kCount>& declared)  // NOLINT(google-explicit-constructor)
      : TableSchema(std::span<const Field>(declared)) {}

  // Shows these columns no longer. Throws std::logic_error if one is not declared, as column().
  TableSchema& leave_out(std::initializer_list<std::string_view> keys);
  [[nodiscard]] TableSchema without(std::initializer_list<std::string_view> keys) const {
    return TableSchema(*this).leave_out(keys);
  }

  // Shows exactly these columns, in this order. Throws as leave_out().
  TableSchema& show(std::span<const std::string_view> keys);

  [[nodiscard]] std::span<const Field> declared() const { return declared_; }
  // Numbers of the declared columns that are shown, in the order in which they are shown.
  [[nodiscard]] std::span<const size_t> shown() const { return shown_; }
  // Number of the declared column.
  [[nodiscard]] size_t column(std::string_view key) const;

 private:
  std::span<const Field> declared_;
  std::vector<size_t> shown_;
};

}  // namespace telltale
