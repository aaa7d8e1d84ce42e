#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bytes/block_writer.h"
#include "output/packed_rows.h"
#include "output/table/show_units.h"
#include "output/table/write_rows.h"

namespace telltale {

// A table as the verbs print it: for people, as CSV, or as JSON rows.
class Table {
 public:
  struct Column {
    std::string key;    // in JSON and the CSV header; stable
    std::string title;  // for people
    Show show = Show::plain;
  };
  using Cell = TableCell;

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // REQUIRES: as many cells as columns.
  void add_row(const std::vector<Cell>& cells) { rows_.add(cells); }
  [[nodiscard]] size_t rows() const { return rows_.size(); }

  // A header line and a line a row, columns aligned by code points; texts are escaped for
  // terminals. Each line begins with `indent`.
  void write_text(BlockWriter& out, std::string_view indent = {}) const;
  [[nodiscard]] std::string to_text() const;
  // RFC 4180 with a header line of keys and line feeds as line ends; texts are guarded against
  // formulas.
  void write_csv(BlockWriter& out) const;
  [[nodiscard]] std::string to_csv() const;
  // An array of objects, a line each; or appended to a document in the making, whose writer writes
  // to the block of `out` if that is given.
  [[nodiscard]] std::string to_json() const;
  void write_json_rows(JsonWriter& json, BlockWriter* out = nullptr) const;

 private:
  std::vector<Column> columns_;
  PackedRows rows_;
};

}  // namespace telltale
