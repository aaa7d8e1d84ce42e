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

#include "base/append_format.h"
#include "base/joined.h"
#include "output/escape.h"
#include "output/table/screen.h"
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

// A cell as people see it on this screen.
void append_on_screen(std::string& out, const TableCell& cell, const Field& field) {
  const bool grouped =
      screen().is_terminal() && field.unit == Unit::count &&
      (std::holds_alternative<uint64_t>(cell) || std::holds_alternative<int64_t>(cell));
  if (!grouped) return append_shown(out, cell, show_of(field));
  std::string digits;
  append_plain_number(digits, cell);
  out += with_thousands(digits);
}

// The columns as people see them: how wide each is at least.
class Widths final : public RowSink {
 public:
  explicit Widths(const TableSchema& schema) : schema_(schema) {
    for (const size_t column : schema.shown()) {
      columns_.push_back(column);
      headings_.push_back(visible(heading_of(schema.declared()[column])));
      widths_.push_back(count_characters(headings_.back()));
    }
    largest_.resize(widths_.size());
  }
  void add(std::span<const TableCell> row) override {
    for (size_t i = 0; i < widths_.size(); ++i) {
      // A number is not wider than a larger one of its column.
      if (const auto* number = std::get_if<uint64_t>(&row[columns_[i]]);
          number != nullptr && show_of(field(i)) == Show::plain) {
        if (*number < largest_[i]) continue;
        largest_[i] = *number;
      }
      shown_.clear();
      append_on_screen(shown_, row[columns_[i]], field(i));
      widths_[i] = std::max(widths_[i], count_characters(shown_));
    }
  }

  // Makes lines of at most `width` characters: texts are shortened; if names would become too short
  // to be of use, columns of numbers are left out, the last first. Returns their headings.
  std::vector<std::string> fit(size_t width) {
    constexpr size_t kUsefulName = 20;
    std::vector<std::string> left_out;
    while (least_width(kUsefulName) > width) {
      size_t last = widths_.size();
      for (size_t i = 1; i < widths_.size(); ++i)
        if (!is_text(i)) last = i;
      if (last == widths_.size()) break;
      left_out.insert(left_out.begin(), headings_[last]);
      const auto at = static_cast<ptrdiff_t>(last);
      columns_.erase(columns_.begin() + at);
      headings_.erase(headings_.begin() + at);
      widths_.erase(widths_.begin() + at);
    }
    while (total_width() > width) {
      size_t widest = widths_.size();
      for (size_t i = 0; i < widths_.size(); ++i)
        if (is_text(i) && (widest == widths_.size() || widths_[i] > widths_[widest])) widest = i;
      if (widest == widths_.size() || widths_[widest] <= 1) break;
      // Down to the second widest text at once would be unfair to it: one character at a time.
      --widths_[widest];
    }
    return left_out;
  }

  [[nodiscard]] size_t size() const { return columns_.size(); }
  [[nodiscard]] size_t column(size_t i) const { return columns_[i]; }
  [[nodiscard]] const Field& field(size_t i) const { return schema_.declared()[columns_[i]]; }
  [[nodiscard]] bool is_text(size_t i) const { return show_of(field(i)) == Show::text; }
  [[nodiscard]] const std::string& heading(size_t i) const { return headings_[i]; }
  [[nodiscard]] size_t width(size_t i) const { return widths_[i]; }

 private:
  static constexpr size_t kBetween = 2;

  [[nodiscard]] size_t total_width() const { return least_width(~size_t{0}); }
  // With texts of at most so many characters.
  [[nodiscard]] size_t least_width(size_t of_text) const {
    size_t total = widths_.empty() ? 0 : kBetween * (widths_.size() - 1);
    for (size_t i = 0; i < widths_.size(); ++i)
      total += is_text(i) ? std::min(widths_[i], of_text) : widths_[i];
    return total;
  }

  const TableSchema& schema_;
  std::vector<size_t> columns_;
  std::vector<std::string> headings_;
  std::vector<size_t> widths_;
  std::vector<uint64_t> largest_;  // number of each column so far
  std::string shown_;              // a cell; a member so that its memory is reused
};

class TextLines final : public RowSink {
 public:
  TextLines(const Widths& widths, BlockWriter& out, std::string_view indent)
      : widths_(widths), out_(out), indent_(indent) {}
  void write_head() {
    if (screen().colour) out_.block() += "\x1b[1m";
    write_line([this](std::string& line, size_t i) { line += widths_.heading(i); },
               screen().colour ? "\x1b[0m" : "");
  }
  void add(std::span<const TableCell> row) override {
    write_line([&](std::string& line,
                   size_t i) { append_on_screen(line, row[widths_.column(i)], widths_.field(i)); },
               "");
  }

 private:
  // append_cell(line, i) appends the text of the i-th shown column's cell.
  template <typename AppendCell>
  void write_line(AppendCell append_cell, std::string_view end) {
    std::string& line = out_.block();
    line += indent_;
    for (size_t i = 0; i < widths_.size(); ++i) {
      if (i > 0) line += "  ";
      const size_t begin = line.size();
      append_cell(line, i);
      const size_t length = count_characters(std::string_view(line).substr(begin));
      const size_t width = widths_.width(i);
      if (length > width) {  // only texts can be
        const std::string shorter = elided(std::string_view(line).substr(begin), width);
        line.replace(begin, std::string::npos, shorter);
      }
      const size_t padding = width > length ? width - length : 0;
      if (!widths_.is_text(i)) {
        line.insert(begin, padding, ' ');
      } else if (i + 1 != widths_.size()) {
        line.append(padding, ' ');
      }
    }
    line += end;
    out_.write("\n");
  }

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
    append_format(out, "{:.1f} %", 100 * as_double(cell));
  } else if (const auto* d = std::get_if<double>(&cell)) {
    append_format(out, "{:.6g}", *d);
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
  std::vector<std::string> left_out;
  if (screen().is_terminal())
    left_out = widths.fit(screen().width - std::min(screen().width - 1, indent.size()));
  TextLines lines(widths, out, indent);
  lines.write_head();
  rows(lines);
  if (!left_out.empty())
    out.write(fmt::format("{}left out for want of room: {}\n", indent, joined(left_out, ", ")));
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
