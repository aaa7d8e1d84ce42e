#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include "base/problem.h"
#include "bytes/block_writer.h"
#include "bytes/cursor.h"
#include "output/escape.h"

namespace telltale {

enum class DumpStyle : uint8_t {
  text,  // one line per record: offset, kind, fields
  json,  // one object per line; the page of each format lists the keys, "What dump prints"
};

// Untrusted text in quotes: as JSON, or visible(text) with quotes as \", so that the first plain
// quote ends it.
void append_quoted(std::string& out, std::string_view text, bool json);

// One line of `dump`: a record's name, offset and fields, in either style. Ends with the object.
class DumpLine {
 public:
  DumpLine(DumpStyle style, uint64_t offset, std::string_view record, std::string& out)
      : json_(style == DumpStyle::json), out_(out) {
    if (json_) {
      fmt::format_to(end(), R"({{"offset":{},"record":"{}")", offset, record);
    } else {
      fmt::format_to(end(), "{:>10} {}", offset, record);
    }
  }
  DumpLine(const DumpLine&) = delete;
  DumpLine& operator=(const DumpLine&) = delete;
  ~DumpLine() { out_ += json_ ? "}\n" : "\n"; }

  template <std::integral T>
  DumpLine& number(std::string_view key, T value) {
    begin(key);
    fmt::format_to(end(), "{}", value);
    return *this;
  }
  // A list; nothing if it is empty.
  DumpLine& numbers(std::string_view key, std::span<const uint64_t> values) {
    if (values.empty()) return *this;
    begin(key);
    fmt::format_to(end(), "[{}]", fmt::join(values, ","));
    return *this;
  }
  DumpLine& flag(std::string_view key, bool value) {
    begin(key);
    out_ += value ? "true" : "false";
    return *this;
  }
  // A trusted word: needs no escaping.
  DumpLine& word(std::string_view key, std::string_view value) {
    begin(key);
    if (json_) out_ += '"';
    out_ += value;
    if (json_) out_ += '"';
    return *this;
  }
  // A value already formatted for the style.
  DumpLine& raw(std::string_view key, std::string_view value) {
    begin(key);
    out_ += value;
    return *this;
  }
  // Untrusted text.
  DumpLine& text(std::string_view key, std::string_view value) {
    begin(key);
    append_quoted(out_, value, json_);
    return *this;
  }
  // A list of untrusted texts; nothing if it is empty.
  DumpLine& texts(std::string_view key, std::span<const std::string_view> values) {
    if (values.empty()) return *this;
    begin(key);
    out_ += '[';
    for (const std::string_view& value : values) {
      if (&value != values.data()) out_ += ',';
      append_quoted(out_, value, json_);
    }
    out_ += ']';
    return *this;
  }
  // Bytes: quoted text in text output, hexadecimal digits in JSON.
  DumpLine& bytes(Bytes value) {
    const std::string_view raw(reinterpret_cast<const char*>(value.data()), value.size());
    if (!json_) return text("data", raw);
    begin("data_hex");
    out_ += '"';
    append_hex(out_, raw);
    out_ += '"';
    return *this;
  }

 private:
  void begin(std::string_view key) {
    out_ += json_ ? ",\"" : " ";
    out_ += key;
    out_ += json_ ? "\":" : "=";
  }
  std::back_insert_iterator<std::string> end() { return std::back_inserter(out_); }

  bool json_;
  std::string& out_;
};

// A problem, at the position where it was found.
void dump_problem(const Problem& problem, DumpStyle style, BlockWriter& out);

}  // namespace telltale
