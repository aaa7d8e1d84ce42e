#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "output/table/text_pool.h"

namespace telltale {

// A cell of a table. monostate: an empty field, or null.
using TableCell = std::variant<std::monostate, std::string, int64_t, uint64_t, double>;

// Packed rows of a table: a cell takes a tag and as many bytes as its number needs; the first
// kMostKept distinct texts are stored once. A table may have a row for every value of a recording.
class PackedRows {
 public:
  static constexpr size_t kMostKept = 1 << 16;

  void add(std::span<const TableCell> cells);
  [[nodiscard]] size_t size() const { return rows_; }

  // Calls use(std::span<const TableCell>) for each row, in order; the cells are valid during the
  // call. REQUIRES: every row has `columns` cells.
  template <typename Use>
  void for_each(size_t columns, Use use) const {
    std::vector<TableCell> cells(columns);
    for (const std::string& block : blocks_) {
      const char* at = block.data();
      const char* const end = at + block.size();
      while (at != end) {
        for (TableCell& cell : cells) at = unpack(at, cell);
        use(std::span<const TableCell>(cells));
      }
    }
    // A table without columns has rows of no bytes.
    if (columns == 0)
      for (size_t row = 0; row < rows_; ++row) use(std::span<const TableCell>());
  }

 private:
  void pack(std::string& to, const TableCell& cell);
  void pack_text(std::string& to, const std::string& text);
  const char* unpack(const char* at, TableCell& cell) const;

  size_t rows_ = 0;
  std::vector<std::string> blocks_;  // complete rows
  TextPool kept_;
};

}  // namespace telltale
