#include "output/json_writer.h"

#include <array>
#include <charconv>
#include <cmath>

#include "output/escape.h"

namespace telltale {

void JsonWriter::break_line() {
  if (levels_.size() > line_depth_) return;
  out_ += '\n';
  out_.append(2 * levels_.size(), ' ');
}

// Writes the separator between the previous and the next value.
void JsonWriter::separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (levels_.empty()) return;
  if (!levels_.back().empty) out_ += levels_.size() > line_depth_ && line_depth_ > 0 ? ", " : ",";
  levels_.back().empty = false;
  break_line();
}

JsonWriter& JsonWriter::begin(char opening, char closing) {
  separate();
  out_ += opening;
  levels_.push_back({closing, true});
  return *this;
}

JsonWriter& JsonWriter::end() {
  const Level level = levels_.back();
  const bool on_own_line = !level.empty && levels_.size() <= line_depth_;
  levels_.pop_back();
  if (on_own_line) {
    out_ += '\n';
    out_.append(2 * levels_.size(), ' ');
  }
  out_ += level.closing;
  if (levels_.empty() && line_depth_ > 0) out_ += '\n';
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  value(name);
  out_ += line_depth_ > 0 ? ": " : ":";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  separate();
  out_ += '"';
  append_json(out_, text);
  out_ += '"';
  return *this;
}

JsonWriter& JsonWriter::value(bool truth) { return raw(truth ? "true" : "false"); }
JsonWriter& JsonWriter::value(std::nullptr_t) { return raw("null"); }

JsonWriter& JsonWriter::signed_value(int64_t number) {
  std::array<char, 24> text;
  return raw({text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr});
}

JsonWriter& JsonWriter::unsigned_value(uint64_t number) {
  std::array<char, 24> text;
  return raw({text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr});
}

JsonWriter& JsonWriter::value(double number) {
  if (!std::isfinite(number)) return value(nullptr);
  std::array<char, 32> text;
  return raw({text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr});
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  separate();
  out_.append(json);
  return *this;
}

}  // namespace telltale
