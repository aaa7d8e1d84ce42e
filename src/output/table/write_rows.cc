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

// A cell as people see it, and its number of characters.
struct Shown {
  std::string_view text;
  size_t characters = 0;
};

// Shows cells one after the other: each is valid until the next.
class CellText {
 public:
  Shown show(const TableCell& cell, const Field& field) {
    if (const auto* text = std::get_if<std::string>(&cell); text && is_visible_ascii(*text))
      return {*text, text->size()};
    room_.clear();
    append_on_screen(room_, cell, field);
    return {room_, count_characters(room_)};
  }

 private:
  std::string room_;
};

// The columns as people see them: how wide each is at least.
class Widths final : public RowSink {
 public:
  struct Column {
    size_t declared = 0;  // index into the declared columns
    const Field* field = nullptr;
    std::string heading;
    size_t width = 0;
    Show show{};
    uint64_t largest = 0;  // number so far

    [[nodiscard]] bool is_text() const { return show == Show::text; }
  };

  explicit Widths(const TableSchema& schema) {
    for (const size_t declared : schema.shown()) {
      const Field& field = schema.declared()[declared];
      std::string heading = visible(heading_of(field));
      const size_t width = count_characters(heading);
      columns_.push_back({declared, &field, std::move(heading), width, show_of(field)});
    }
  }
  void add(std::span<const TableCell> row) override {
    for (Column& column : columns_) {
      const TableCell& cell = row[column.declared];
      // A number is not wider than a larger one of its column.
      if (const auto* number = std::get_if<uint64_t>(&cell);
          number != nullptr && column.show == Show::plain) {
        if (*number < column.largest) continue;
        column.largest = *number;
      }
      column.width = std::max(column.width, text_.show(cell, *column.field).characters);
    }
  }

  // Makes lines of at most `width` characters: texts are shortened; if names would become too short
  // to be of use, columns of numbers are left out, the last first. Returns their headings.
  std::vector<std::string> fit(size_t width) {
    constexpr size_t kUsefulName = 20;
    std::vector<std::string> left_out;
    while (least_width(kUsefulName) > width) {
      size_t last = columns_.size();
      for (size_t i = 1; i < columns_.size(); ++i)
        if (!columns_[i].is_text()) last = i;
      if (last == columns_.size()) break;
      left_out.insert(left_out.begin(), columns_[last].heading);
      columns_.erase(columns_.begin() + static_cast<ptrdiff_t>(last));
    }
    while (total_width() > width) {
      Column* widest = nullptr;
      for (Column& column : columns_)
        if (column.is_text() && (widest == nullptr || column.width > widest->width))
          widest = &column;
      if (widest == nullptr || widest->width <= 1) break;
      // Down to the second widest text at once would be unfair to it: one character at a time.
      --widest->width;
    }
    return left_out;
  }

  [[nodiscard]] std::span<const Column> columns() const { return columns_; }

 private:
  static constexpr size_t kBetween = 2;

  [[nodiscard]] size_t total_width() const { return least_width(~size_t{0}); }
  // With texts of at most so many characters.
  [[nodiscard]] size_t least_width(size_t of_text) const {
    size_t total = columns_.empty() ? 0 : kBetween * (columns_.size() - 1);
    for (const Column& column : columns_)
      total += column.is_text() ? std::min(column.width, of_text) : column.width;
    return total;
  }

  std::vector<Column> columns_;
  CellText text_;
};

class TextLines final : public RowSink {
 public:
  TextLines(const Widths& widths, BlockWriter& out, std::string_view indent)
      : columns_(widths.columns()), out_(out), indent_(indent) {}
  void write_head() {
    if (screen().colour) out_.block() += "\x1b[1m";
    write_line(
        [](const Widths::Column& column) {
          return Shown{column.heading, count_characters(column.heading)};
        },
        screen().colour ? "\x1b[0m" : "");
  }
  void add(std::span<const TableCell> row) override {
    write_line(
        [&](const Widths::Column& column) {
          return text_.show(row[column.declared], *column.field);
        },
        "");
  }

 private:
  // show_cell(column) returns a column's cell, valid until the next call.
  template <typename ShowCell>
  void write_line(ShowCell show_cell, std::string_view end) {
    std::string& line = out_.block();
    line += indent_;
    for (const Widths::Column& column : columns_) {
      if (&column != &columns_.front()) line += "  ";
      const Shown shown = show_cell(column);
      const size_t padding = column.width - std::min(column.width, shown.characters);
      if (!column.is_text()) line.append(padding, ' ');
      if (shown.characters > column.width) {  // only texts can be
        line += elided(shown.text, column.width);
      } else {
        line += shown.text;
      }
      if (column.is_text() && &column != &columns_.back()) line.append(padding, ' ');
    }
    line += end;
    out_.write("\n");
  }

  std::span<const Widths::Column> columns_;
  BlockWriter& out_;
  std::string_view indent_;
  CellText text_;
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
