#include "output/table/screen.h"

#include <algorithm>

#include "output/escape.h"

namespace telltale {
namespace {

Screen& current() {
  static Screen screen;
  return screen;
}

// Bytes of the first `count` characters.
size_t bytes_of(std::string_view text, size_t count) {
  size_t bytes = 0;
  for (; count != 0 && bytes < text.size(); --count)
    bytes += first_character(text.substr(bytes)).bytes;
  return bytes;
}

}  // namespace

const Screen& screen() { return current(); }
void set_screen(const Screen& screen) { current() = screen; }

std::string elided(std::string_view text, size_t width) {
  const size_t length = count_characters(text);
  if (length <= width) return std::string(text);
  // The end of a name says more than its beginning, which its neighbours share.
  const size_t front = (width - 1) * 2 / 5;
  const size_t back = width - 1 - front;
  std::string out(text.substr(0, bytes_of(text, front)));
  out += "…";
  out += text.substr(bytes_of(text, length - back));
  return out;
}

std::string folded(std::string_view text, size_t column, size_t indent) {
  constexpr size_t kLeastWidth = 20;
  if (!screen().is_terminal()) return std::string(text);
  const size_t width = std::max(screen().width, indent + kLeastWidth);
  std::string out;
  bool begins_line = true;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string word = elided(text.substr(0, end), width - indent);
    const size_t columns = count_characters(word);
    if (!begins_line && column + 1 + columns > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
      begins_line = true;
    }
    if (!begins_line) out += ' ';
    out += word;
    column += columns + (begins_line ? 0 : 1);
    begins_line = false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string with_thousands(std::string_view digits) {
  std::string out;
  if (digits.starts_with('-')) {
    out = "-";
    digits.remove_prefix(1);
  }
  constexpr size_t kGroup = 3;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % kGroup == 0) out += ',';
    out += digits[i];
  }
  return out;
}

}  // namespace telltale
