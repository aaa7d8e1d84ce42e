#include "output/table/write_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cmath>
#include <iterator>
#include <type_traits>
#include <utility>
#include <variant>

#include "output/escape.h"
#include "output/table/show_units.h"

namespace telltale {
namespace {

void append_plain_number(std::string& out, const TableCell& cell) {
  std::array<char, 32> text;
  char* end = text.data();
  const auto put = [&](auto number) {
    end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  };
  if (const auto* i = std::get_if<int64_t>(&cell)) put(*i);
  if (const auto* u = std::get_if<uint64_t>(&cell)) put(*u);
  if (const auto* d = std::get_if<double>(&cell); d != nullptr && std::isfinite(*d)) put(*d);
  out.append(text.data(), end);
}

double as_double(const TableCell& cell) {
  if (const auto* i = std::get_if<int64_t>(&cell)) return static_cast<double>(*i);
  if (const auto* u = std::get_if<uint64_t>(&cell)) return static_cast<double>(*u);
  if (const auto* d = std::get_if<double>(&cell)) return *d;
  return 0;
}

// The columns as people see them: how wide each is at least.
class Widths final : public RowSink {
 public:
  explicit Widths(const TableSchema& schema) : schema_(schema) {
    for (const size_t column : schema.shown()) {
      headings_.push_back(heading_of(schema.declared()[column]));
      widths_.push_back(count_characters(visible(headings_.back())));
    }
  }
  void add(std::span<const TableCell> row) override {
    for (size_t i = 0; i < widths_.size(); ++i) {
      const size_t column = schema_.shown()[i];
      shown_.clear();
      append_shown(shown_, row[column], show_of(schema_.declared()[column]));
      widths_[i] = std::max(widths_[i], count_characters(shown_));
    }
  }
  [[nodiscard]] std::span<const std::string> headings() const { return headings_; }
  [[nodiscard]] std::span<const size_t> widths() const { return widths_; }

 private:
  const TableSchema& schema_;
  std::vector<std::string> headings_;
  std::vector<size_t> widths_;
  std::string shown_;  // a cell; a member so that its memory is reused
};

class TextLines final : public RowSink {
 public:
  TextLines(const TableSchema& schema, const Widths& widths, BlockWriter& out,
            std::string_view indent)
      : schema_(schema), widths_(widths), out_(out), indent_(indent) {}
  void write_head() {
    write_line(
        [this](std::string& line, size_t i) { append_visible(line, widths_.headings()[i]); });
  }
  void add(std::span<const TableCell> row) override {
    write_line([&](std::string& line, size_t i) {
      const size_t column = schema_.shown()[i];
      append_shown(line, row[column], show_of(schema_.declared()[column]));
    });
  }

 private:
  // append_cell(line, i) appends the text of the i-th shown column's cell.
  template <typename AppendCell>
  void write_line(AppendCell append_cell) {
    std::string& line = out_.block();
    line += indent_;
    for (size_t i = 0; i < widths_.widths().size(); ++i) {
      if (i > 0) line += "  ";
      const size_t begin = line.size();
      append_cell(line, i);
      const size_t length = count_characters(std::string_view(line).substr(begin));
      const size_t width = widths_.widths()[i];
      const size_t padding = width > length ? width - length : 0;
      if (show_of(schema_.declared()[schema_.shown()[i]]) != Show::text) {
        line.insert(begin, padding, ' ');
      } else if (i + 1 != widths_.widths().size()) {
        line.append(padding, ' ');
      }
    }
    out_.write("\n");
  }

  const TableSchema& schema_;
  const Widths& widths_;
  BlockWriter& out_;
  std::string_view indent_;
};

}  // namespace

void append_shown(std::string& out, const TableCell& cell, Show show) {
  if (std::holds_alternative<std::monostate>(cell)) {
    out += '-';
  } else if (const auto* text = std::get_if<std::string>(&cell)) {
    append_visible(out, *text);
  } else if (show == Show::duration) {
    out += show_duration(as_double(cell));
  } else if (show == Show::percent) {
    fmt::format_to(std::back_inserter(out), "{:.1f} %", 100 * as_double(cell));
  } else if (const auto* d = std::get_if<double>(&cell)) {
    fmt::format_to(std::back_inserter(out), "{:.6g}", *d);
  } else {
    append_plain_number(out, cell);
  }
}

void append_csv_cell(std::string& out, const TableCell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) {
    append_csv(out, *text);
  } else {
    append_plain_number(out, cell);
  }
}

void write_text(const TableSchema& schema, const Rows& rows, BlockWriter& out,
                std::string_view indent) {
  Widths widths(schema);
  rows(widths);
  TextLines lines(schema, widths, out, indent);
  lines.write_head();
  rows(lines);
}

CsvSink::CsvSink(const TableSchema& schema, BlockWriter& out) : schema_(schema), out_(out) {
  bool first = true;
  for (const size_t column : schema.shown()) {
    if (!std::exchange(first, false)) out_.block() += ',';
    append_csv(out_.block(), schema.declared()[column].key);
  }
  out_.write("\n");
}

void CsvSink::add(std::span<const TableCell> row) {
  assert(row.size() == schema_.declared().size());
  bool first = true;
  for (const size_t column : schema_.shown()) {
    if (!std::exchange(first, false)) out_.block() += ',';
    append_csv_cell(out_.block(), row[column]);
  }
  out_.write("\n");
}

JsonSink::JsonSink(const TableSchema& schema, JsonWriter& json, BlockWriter* out)
    : schema_(schema), json_(json), out_(out) {
  json_.begin_array();
}

void JsonSink::add(std::span<const TableCell> row) {
  assert(row.size() == schema_.declared().size());
  json_.begin_object();
  for (const size_t column : schema_.shown()) {
    json_.key(schema_.declared()[column].key);
    write_json_cell(json_, row[column]);
  }
  json_.end_object();
  if (out_ != nullptr) out_->flush_if_full();
}

void write_json_cell(JsonWriter& json, const TableCell& cell) {
  std::visit(
      [&json]<typename T>(const T& value) {
        if constexpr (std::is_same_v<T, std::monostate>) {
          json.value(nullptr);
        } else {
          json.value(value);
        }
      },
      cell);
}

}  // namespace telltale
