#include "output/table/table.h"

#include <cassert>
#include <utility>

namespace telltale {
namespace {

// The output of `write` as one string.
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

void Table::add(std::span<const Cell> row) {
  assert(row.size() == schema_.declared().size());
  if (schema_.shown().size() == row.size()) return rows_.add(row);
  std::vector<Cell> shown(row.size());
  for (const size_t column : schema_.shown()) shown[column] = row[column];
  rows_.add(shown);
}

void Table::tell(RowSink& sink) const {
  rows_.for_each(schema_.declared().size(), [&](std::span<const Cell> row) { sink.add(row); });
}

void Table::keep_first(size_t most) {
  if (rows() <= most) return;
  total_ = total();
  PackedRows kept;
  rows_.for_each(schema_.declared().size(), [&](std::span<const Cell> row) {
    if (kept.size() < most) kept.add(row);
  });
  rows_ = std::move(kept);
}

void Table::write_text(BlockWriter& out, std::string_view indent) const {
  telltale::write_text(schema_, [this](RowSink& sink) { tell(sink); }, out, indent);
}

std::string Table::to_text() const {
  return written([this](BlockWriter& out) { write_text(out); });
}

void Table::write_csv(BlockWriter& out) const {
  CsvSink sink(schema_, out);
  tell(sink);
}

std::string Table::to_csv() const {
  return written([this](BlockWriter& out) { write_csv(out); });
}

void Table::write_json_rows(JsonWriter& json, BlockWriter* out) const {
  JsonSink sink(schema_, json, out);
  tell(sink);
  sink.end();
}

}  // namespace telltale
