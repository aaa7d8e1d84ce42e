#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bytes/block_writer.h"
#include "output/table/packed_rows.h"
#include "output/table/row_sink.h"
#include "output/table/show_units.h"
#include "output/table/table_schema.h"
#include "output/table/write_rows.h"

namespace telltale {

// Rows that are kept, to be written later or more than once.
class Table final : public RowSink {
 public:
  using Cell = TableCell;

  explicit Table(TableSchema schema) : schema_(std::move(schema)) {}

  // REQUIRES: a cell for each declared column. Cells of columns that are not shown are not kept.
  void add(std::span<const Cell> row) override;
  void add_row(const std::vector<Cell>& row) { add(row); }
  [[nodiscard]] size_t rows() const { return rows_.size(); }
  // How many rows there are, if not all of them are here.
  void set_total(size_t total) { total_ = total; }
  [[nodiscard]] size_t total() const { return total_ < rows() ? rows() : total_; }
  // Drops all rows but the first `most`.
  void keep_first(size_t most);
  [[nodiscard]] const TableSchema& schema() const { return schema_; }
  // Adds all rows to `sink`.
  void tell(RowSink& sink) const;

  // Write the rows as write_text(), CsvSink and JsonSink do.
  void write_text(BlockWriter& out, std::string_view indent = {}) const;
  [[nodiscard]] std::string to_text() const;
  void write_csv(BlockWriter& out) const;
  [[nodiscard]] std::string to_csv() const;
  void write_json_rows(JsonWriter& json, BlockWriter* out = nullptr) const;

 private:
  TableSchema schema_;
  PackedRows rows_;
  size_t total_ = 0;
};

}  // namespace telltale
