#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/joined.h"
#include "base/problem.h"
#include "bytes/cursor.h"
#include "output/dump/dump_output.h"
#include "output/escape.h"

namespace telltale {

// Untrusted text in quotes: as JSON, or visible(text) with quotes as \", so that the first plain
// quote ends it.
void append_quoted(std::string& out, std::string_view text, bool json);

// One line of `dump`: a record's name, offset and fields. It is the codec that a format's grammar
// of records prints with. Ends with the object.
class DumpLine {
 public:
  DumpLine(DumpOutput& out, uint64_t offset, std::string_view record) : out_(out) {
    out_.begin_line(offset, record);
  }
  DumpLine(const DumpLine&) = delete;
  DumpLine& operator=(const DumpLine&) = delete;
  ~DumpLine() { out_.end_line(); }

  [[nodiscard]] bool for_people() const { return out_.for_people(); }

  template <std::integral T>
  DumpLine& number(std::string_view key, T value) {
    constexpr bool kSigned = std::is_signed_v<T>;
    std::string& out = out_.field(key, kSigned ? ValueType::integer : ValueType::unsigned_integer);
    const fmt::format_int digits(value);
    out.append(digits.data(), digits.size());
    return *this;
  }
  // A list; nothing if it is empty.
  template <std::integral T>
  DumpLine& numbers(std::string_view key, std::span<const T> values) {
    if (values.empty() && !declares()) return *this;
    std::string& out = out_.field(key, ValueType::list, true);
    out += '[';
    out += joined(values, ",");
    out += ']';
    return *this;
  }
  DumpLine& flag(std::string_view key, bool value) {
    out_.field(key, ValueType::boolean) += value ? "true" : "false";
    return *this;
  }
  // A trusted word: needs no escaping.
  DumpLine& word(std::string_view key, std::string_view value) {
    std::string& out = out_.field(key, ValueType::text);
    if (out_.is_json()) out += '"';
    out += value;
    if (out_.is_json()) out += '"';
    return *this;
  }
  // An address, as hexadecimal digits in every style.
  DumpLine& address(std::string_view key, uint64_t value) {
    return word(key, fmt::format("{:#x}", value));
  }
  // A value already formatted for the output. `may_lack`: as for RecordCollector::field().
  DumpLine& raw(std::string_view key, std::string_view value, ValueType type,
                bool may_lack = false) {
    out_.field(key, type, may_lack) += value;
    return *this;
  }
  // Untrusted text.
  DumpLine& text(std::string_view key, std::string_view value) {
    append_text(out_.field(key, ValueType::text), value);
    return *this;
  }
  // Untrusted text; nothing if it is empty.
  DumpLine& text_if_any(std::string_view key, std::string_view value) {
    if (value.empty() && !declares()) return *this;
    append_text(out_.field(key, ValueType::text, true), value);
    return *this;
  }
  // A list of untrusted texts; nothing if it is empty.
  DumpLine& texts(std::string_view key, std::span<const std::string_view> values) {
    if (values.empty() && !declares()) return *this;
    std::string& out = out_.field(key, ValueType::list, true);
    out += '[';
    for (const std::string_view& value : values) {
      if (&value != values.data()) out += ',';
      append_quoted(out, value, !out_.for_people());
    }
    out += ']';
    return *this;
  }
  // Bytes: quoted text for people, hexadecimal digits for programs.
  DumpLine& bytes(Bytes value) {
    const std::string_view raw(reinterpret_cast<const char*>(value.data()), value.size());
    if (out_.for_people()) return text("data", raw);
    std::string digits;
    append_hex(digits, raw);
    return word("data_hex", digits);
  }

  // Whether the line declares the fields that records of its kind may have (record_tables()).
  [[nodiscard]] bool declares() const { return out_.declares(); }

 private:
  void append_text(std::string& out, std::string_view value) const {
    if (out_.for_people() || out_.is_json()) {
      append_quoted(out, value, out_.is_json());
    } else {
      out += value;
    }
  }

  DumpOutput& out_;
};

// A problem, at the position where it was found.
void dump_problem(const Problem& problem, DumpOutput& out);
// All that were found, and adds them to `problems`.
void dump_problems(const ProblemLog& found, DumpOutput& out, ProblemLog& problems);

}  // namespace telltale
