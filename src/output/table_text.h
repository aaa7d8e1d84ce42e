#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bytes/block_writer.h"
#include "output/json_writer.h"
#include "output/table.h"

namespace telltale {

// Rows as Table::write_text writes them, of which nothing is kept: whoever has them tells all of
// them to measure() first, and to write() again.
class TableText {
 public:
  explicit TableText(const std::vector<Table::Column>& columns);

  // REQUIRES, as write(): as many cells as columns.
  void measure(std::span<const Table::Cell> row);
  void write_head(BlockWriter& out, std::string_view indent = {}) const;
  void write(std::span<const Table::Cell> row, BlockWriter& out,
             std::string_view indent = {}) const;

 private:
  // append_cell(line, column) appends the text of a column's cell.
  template <typename AppendCell>
  void write_line(AppendCell append_cell, BlockWriter& out, std::string_view indent) const;

  const std::vector<Table::Column>& columns_;
  std::vector<size_t> widths_;
  std::string measured_;  // a cell; here so that its room is used again
};

// A header line of keys, and one row, as Table::write_csv writes them.
void write_csv_head(const std::vector<Table::Column>& columns, BlockWriter& out);
void write_csv_row(std::span<const Table::Cell> row, BlockWriter& out);
// An object, as Table::write_json_rows writes them.
void write_json_row(const std::vector<Table::Column>& columns, std::span<const Table::Cell> row,
                    JsonWriter& json);

// `rows(use)` calls use(std::span<const Table::Cell>) for each row; it is called twice.
template <typename Rows>
void stream_text(const std::vector<Table::Column>& columns, Rows rows, BlockWriter& out) {
  TableText text(columns);
  rows([&](std::span<const Table::Cell> row) { text.measure(row); });
  text.write_head(out);
  rows([&](std::span<const Table::Cell> row) { text.write(row, out); });
}
template <typename Rows>
void stream_csv(const std::vector<Table::Column>& columns, Rows rows, BlockWriter& out) {
  write_csv_head(columns, out);
  rows([&](std::span<const Table::Cell> row) { write_csv_row(row, out); });
}
// As Table::to_json.
template <typename Rows>
void stream_json(const std::vector<Table::Column>& columns, Rows rows, BlockWriter& out) {
  JsonWriter json(out.block(), 1);
  json.begin_array();
  rows([&](std::span<const Table::Cell> row) {
    write_json_row(columns, row, json);
    out.flush_if_full();
  });
  json.end_array();
}

}  // namespace telltale
