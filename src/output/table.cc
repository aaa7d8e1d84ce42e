#include "output/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>

#include "output/escape.h"
#include "output/json_writer.h"
#include "output/table_text.h"

namespace telltale {
namespace {

// What `write` puts into a BlockWriter, as one string.
template <typename Write>
std::string written(Write write) {
  std::string all;
  const ByteSink sink = [&all](std::string_view block) -> Result<void> {
    all += block;
    return {};
  };
  BlockWriter out(sink);
  write(out);
  (void)out.finish();
  return all;
}

}  // namespace

std::string Table::to_text() const {
  return written([this](BlockWriter& out) { write_text(out); });
}

void Table::write_text(BlockWriter& out, std::string_view indent) const {
  TableText text(columns_);
  rows_.for_each(columns_.size(), [&](std::span<const Cell> row) { text.measure(row); });
  text.write_head(out, indent);
  rows_.for_each(columns_.size(), [&](std::span<const Cell> row) { text.write(row, out, indent); });
}

TableText::TableText(const std::vector<Table::Column>& columns) : columns_(columns) {
  for (const Table::Column& column : columns_)
    widths_.push_back(count_characters(visible(column.title)));
}

void TableText::measure(std::span<const Table::Cell> row) {
  std::string& shown = measured_;
  for (size_t c = 0; c < row.size(); ++c) {
    shown.clear();
    append_shown(shown, row[c], columns_[c].show);
    widths_[c] = std::max(widths_[c], count_characters(shown));
  }
}

template <typename AppendCell>
void TableText::write_line(AppendCell append_cell, BlockWriter& out,
                           std::string_view indent) const {
  std::string& line = out.block();
  line += indent;
  for (size_t c = 0; c < columns_.size(); ++c) {
    if (c > 0) line += "  ";
    const size_t begin = line.size();
    append_cell(line, c);
    const size_t length = count_characters(std::string_view(line).substr(begin));
    const size_t padding = widths_[c] > length ? widths_[c] - length : 0;
    if (columns_[c].show != Show::text) {
      line.insert(begin, padding, ' ');
    } else if (c + 1 != columns_.size()) {
      line.append(padding, ' ');
    }
  }
  out.write("\n");
}

void TableText::write_head(BlockWriter& out, std::string_view indent) const {
  write_line([this](std::string& line, size_t c) { append_visible(line, columns_[c].title); }, out,
             indent);
}

void TableText::write(std::span<const Table::Cell> row, BlockWriter& out,
                      std::string_view indent) const {
  write_line([&](std::string& line, size_t c) { append_shown(line, row[c], columns_[c].show); },
             out, indent);
}

std::string Table::to_csv() const {
  return written([this](BlockWriter& out) { write_csv(out); });
}

void Table::write_csv(BlockWriter& out) const {
  write_csv_head(columns_, out);
  rows_.for_each(columns_.size(), [&](std::span<const Cell> row) { write_csv_row(row, out); });
}

void write_csv_head(const std::vector<Table::Column>& columns, BlockWriter& out) {
  for (size_t c = 0; c < columns.size(); ++c) {
    if (c > 0) out.block() += ',';
    append_csv(out.block(), columns[c].key);
  }
  out.write("\n");
}

void write_csv_row(std::span<const Table::Cell> row, BlockWriter& out) {
  for (size_t c = 0; c < row.size(); ++c) {
    if (c > 0) out.block() += ',';
    append_csv_cell(out.block(), row[c]);
  }
  out.write("\n");
}

std::string Table::to_json() const {
  std::string out;
  JsonWriter json(out, 1);
  write_json_rows(json);
  return out;
}

void Table::write_json_rows(JsonWriter& json, BlockWriter* out) const {
  json.begin_array();
  rows_.for_each(columns_.size(), [&](std::span<const Cell> row) {
    write_json_row(columns_, row, json);
    if (out != nullptr) out->flush_if_full();
  });
  json.end_array();
}

void write_json_row(const std::vector<Table::Column>& columns, std::span<const Table::Cell> row,
                    JsonWriter& json) {
  json.begin_object();
  for (size_t c = 0; c < row.size(); ++c) {
    json.key(columns[c].key);
    write_json_cell(json, row[c]);
  }
  json.end_object();
}

}  // namespace telltale
