#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace telltale {

class JsonWriter;

// A table as the verbs print it: for people, as CSV, or as JSON rows.
class Table {
 public:
  // How a column's numbers are shown to people; CSV and JSON always get the number itself.
  enum class Show : uint8_t {
    plain,     // the number; integers with no grouping
    duration,  // nanoseconds, as 1.234 us
    percent,   // a fraction of one, as 12.3 %
    text,      // left-aligned, escaped
  };
  struct Column {
    std::string key;    // in JSON and the CSV header; stable
    std::string title;  // for people
    Show show = Show::plain;
  };
  // Nothing: an empty field, or null.
  using Cell = std::variant<std::monostate, std::string, int64_t, uint64_t, double>;

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // REQUIRES: as many cells as columns.
  void add_row(std::vector<Cell> cells) { rows_.push_back(std::move(cells)); }
  [[nodiscard]] size_t rows() const { return rows_.size(); }

  // A header line and a line a row, columns aligned by code points; texts are escaped for
  // terminals.
  [[nodiscard]] std::string to_text() const;
  // RFC 4180 with a header line of keys and line feeds as line ends; texts are guarded against
  // formulas.
  [[nodiscard]] std::string to_csv() const;
  // An array of objects, a line each; or appended to a document in the making.
  [[nodiscard]] std::string to_json() const;
  void write_json_rows(JsonWriter& json) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

// "999 bytes", "1.234 KiB", "12.35 MiB": four significant digits.
std::string show_bytes(double bytes);
// "999 ns", "1.234 us", "12.35 ms", "1.5 s": four significant digits, rounded to nearest.
std::string show_duration(double ns);

}  // namespace telltale
