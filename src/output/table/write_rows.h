#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bytes/block_writer.h"
#include "output/json_writer.h"
#include "output/table/row_sink.h"
#include "output/table/table_schema.h"

namespace telltale {

// Rows are written as they come: a table of any length needs no memory. Schemas, writers and other
// references outlive the sinks.

// RFC 4180 with a header line of keys and line feeds as line ends; texts are guarded against
// formulas. The header line is written at once.
class CsvSink final : public RowSink {
 public:
  CsvSink(const TableSchema& schema, BlockWriter& out);
  void add(std::span<const TableCell> row) override;

 private:
  const TableSchema& schema_;
  BlockWriter& out_;
};

// An array of objects, of which the end is written by end(). If `json` writes to the block of a
// BlockWriter, that is `out`, and full blocks are flushed.
class JsonSink final : public RowSink {
 public:
  JsonSink(const TableSchema& schema, JsonWriter& json, BlockWriter* out = nullptr);
  void add(std::span<const TableCell> row) override;
  void end() { json_.end_array(); }

 private:
  const TableSchema& schema_;
  JsonWriter& json_;
  BlockWriter* out_;
};

// For people: a header line and a line a row, columns aligned by code points; texts are escaped for
// terminals; each line begins with `indent`. The rows are asked for twice: first for their widths.
void write_text(const TableSchema& schema, const Rows& rows, BlockWriter& out,
                std::string_view indent = {});

void append_csv_cell(std::string& out, const TableCell& cell);
void write_json_cell(JsonWriter& json, const TableCell& cell);
// A cell as text.
void append_shown(std::string& out, const TableCell& cell, Show show);

}  // namespace telltale
