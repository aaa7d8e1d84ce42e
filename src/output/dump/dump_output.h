#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "bytes/block_writer.h"
#include "output/dump/record_table.h"
#include "output/table/field.h"

namespace telltale {

// How `dump` prints records.
struct DumpStyle {
  enum class Kind : uint8_t {
    text,     // one line per record: offset, kind, fields
    json,     // one object per line, as the format's JSON Schema says
    csv,      // one line per record of one kind: its table, without the header line
    declare,  // prints nothing: tells a RecordCollector what it would print
  };
  Kind kind = Kind::text;
  std::string_view record = {};          // only records of this kind; empty: all
  const RecordTable* table = nullptr;    // csv: of that kind
  RecordCollector* collector = nullptr;  // declare

  static const DumpStyle kText;
  static const DumpStyle kJson;
  // `table` outlives the dump.
  static DumpStyle csv(const RecordTable& table) {
    return {Kind::csv, table.record, &table, nullptr};
  }
  static DumpStyle declare(RecordCollector& collector) {
    return {Kind::declare, {}, nullptr, &collector};
  }
  [[nodiscard]] DumpStyle only(std::string_view one) const {
    DumpStyle style = *this;
    style.record = one;
    return style;
  }
};
inline constexpr DumpStyle DumpStyle::kText{Kind::text};
inline constexpr DumpStyle DumpStyle::kJson{Kind::json};

// The header line of a table in CSV.
std::string csv_header(const RecordTable& table);

// Where a dump goes; DumpLine writes its lines. Blocks are passed on as they fill.
class DumpOutput {
 public:
  DumpOutput(DumpStyle style, const ByteSink& sink);

  // Text is for people. All others are for programs: numbers are plain, texts are whole.
  [[nodiscard]] bool for_people() const { return style_.kind == DumpStyle::Kind::text; }
  [[nodiscard]] bool is_json() const { return style_.kind == DumpStyle::Kind::json; }
  // Nothing is printed: every field that a record can have is to be told, whatever its values.
  [[nodiscard]] bool declares() const { return style_.kind == DumpStyle::Kind::declare; }
  [[nodiscard]] bool failed() const { return out_.failed(); }
  Result<void> finish() { return out_.finish(); }

 private:
  friend class DumpLine;

  void begin_line(uint64_t offset, std::string_view record);
  void end_line();
  // Begins a field; its value is to be appended. `may_lack`: as for RecordCollector::field().
  std::string& field(std::string_view key, ValueType type, bool may_lack = false) {
    if (skips_ || style_.kind >= DumpStyle::Kind::csv) return field_elsewhere(key, type, may_lack);
    std::string& block = out_.block();
    const bool json = is_json();
    block += json ? ",\"" : " ";
    block += key;
    block += json ? "\":" : "=";
    return block;
  }
  std::string& field_elsewhere(std::string_view key, ValueType type, bool may_lack);

  DumpStyle style_;
  BlockWriter out_;
  bool skips_ = false;              // the open line is of another kind than style_.record
  std::string scratch_;             // takes the values that are not printed
  std::vector<std::string> cells_;  // csv: of the open line, by column
  std::string more_;                // csv: fields that no column is for
};

}  // namespace telltale
