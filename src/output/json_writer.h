#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telltale {

// Writes JSON piece by piece to the end of a string, which may be flushed and cleared at any time
// between two calls. Writes commas, line breaks and escapes; the caller must write keys in objects
// and end what it begins. Calls: value, where value = scalar | begin_object (key value)* end_object
// | begin_array value* end_array.
class JsonWriter {
 public:
  // Members and elements down to nesting level `line_depth` are on separate lines, indented by two
  // blanks per level; deeper ones share a line. 0: everything on one line, without blanks.
  explicit JsonWriter(std::string& out, size_t line_depth = 0)
      : out_(out), line_depth_(line_depth) {}

  JsonWriter& begin_object() { return begin('{', '}'); }
  JsonWriter& begin_array() { return begin('[', ']'); }
  JsonWriter& end_object() { return end(); }
  JsonWriter& end_array() { return end(); }
  JsonWriter& key(std::string_view name);

  // Any bytes; ill-formed UTF-8 becomes U+FFFD.
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(const std::string& text) { return value(std::string_view(text)); }
  JsonWriter& value(bool truth);
  template <std::integral T>
  JsonWriter& value(T number) {
    if constexpr (std::signed_integral<T>) {
      return signed_value(number);
    } else {
      return unsigned_value(number);
    }
  }
  // The shortest text that reads back as the same number; null for infinities and not-a-number.
  JsonWriter& value(double number);
  JsonWriter& value(std::nullptr_t);
  template <typename T>
  JsonWriter& value(const std::optional<T>& maybe) {
    return maybe ? value(*maybe) : value(nullptr);
  }
  // Text that already is JSON.
  JsonWriter& raw(std::string_view json);

  template <typename T>
  JsonWriter& member(std::string_view name, const T& v) {
    key(name);
    return value(v);
  }

  // Nesting depth: 0 when every value that was begun is ended.
  [[nodiscard]] size_t depth() const { return levels_.size(); }

 private:
  struct Level {
    char closing;
    bool empty;
  };
  JsonWriter& begin(char opening, char closing);
  JsonWriter& end();
  JsonWriter& signed_value(int64_t number);
  JsonWriter& unsigned_value(uint64_t number);
  void separate();
  void break_line();

  std::string& out_;
  size_t line_depth_;
  bool after_key_ = false;
  std::vector<Level> levels_;
};

}  // namespace telltale
