#include "output/dump/dump_output.h"

#include <algorithm>
#include <stdexcept>

#include "base/append_format.h"
#include "output/table/write_rows.h"

namespace telltale {
namespace {

constexpr std::string_view kMore = "more";

}  // namespace

std::string csv_header(const RecordTable& table) {
  std::string line = "offset";
  for (const Field& column : table.columns) {
    line += ',';
    line += column.key;
  }
  if (table.open) {
    line += ',';
    line += kMore;
  }
  return line + "\n";
}

DumpOutput::DumpOutput(DumpStyle style, const ByteSink& sink)
    : style_(style),
      out_(sink),
      cells_(style.kind == DumpStyle::Kind::csv ? style.table->columns.size() : 0) {}

void DumpOutput::begin_line(uint64_t offset, std::string_view record) {
  skips_ = !style_.record.empty() && style_.record != record;
  if (skips_) return;
  std::string& block = out_.block();
  switch (style_.kind) {
    case DumpStyle::Kind::text:
      append_format(block, "{:>10} {}", offset, record);
      break;
    case DumpStyle::Kind::json:
      append_format(block, R"({{"offset":{},"record":"{}")", offset, record);
      break;
    case DumpStyle::Kind::csv:
      block += fmt::format_int(offset).str();
      for (std::string& cell : cells_) cell.clear();
      more_.clear();
      break;
    case DumpStyle::Kind::declare:
      style_.collector->begin(record);
      break;
  }
}

std::string& DumpOutput::field_elsewhere(std::string_view key, ValueType type, bool may_lack) {
  scratch_.clear();
  if (skips_) return scratch_;
  if (style_.kind == DumpStyle::Kind::declare) {
    style_.collector->field(key, type, may_lack);
    return scratch_;
  }
  const std::vector<Field>& columns = style_.table->columns;
  const auto found = std::ranges::find(columns, key, &Field::key);
  if (found != columns.end()) {
    std::string& cell = cells_[static_cast<size_t>(found - columns.begin())];
    cell.clear();
    return cell;
  }
  if (!style_.table->open)
    throw std::logic_error("no column of " + style_.table->record + " is " + std::string(key));
  if (!more_.empty()) more_ += ' ';
  more_ += key;
  more_ += '=';
  return more_;
}

void DumpOutput::end_line() {
  if (skips_) return;
  std::string& block = out_.block();
  switch (style_.kind) {
    case DumpStyle::Kind::text:
      block += '\n';
      break;
    case DumpStyle::Kind::json:
      block += "}\n";
      break;
    case DumpStyle::Kind::csv:
      for (size_t i = 0; i < cells_.size(); ++i) {
        block += ',';
        const ValueType type = style_.table->columns[i].type;
        if (type == ValueType::text || type == ValueType::list || type == ValueType::scalar) {
          append_csv_cell(block, cells_[i]);
        } else {
          block += cells_[i];
        }
      }
      if (style_.table->open) {
        block += ',';
        append_csv_cell(block, more_);
      }
      block += '\n';
      break;
    case DumpStyle::Kind::declare:
      style_.collector->end();
      return;
  }
  out_.flush_if_full();
}

}  // namespace telltale
