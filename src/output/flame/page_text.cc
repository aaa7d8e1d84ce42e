#include "output/flame/page_text.h"

#include <fmt/format.h>

#include "output/escape.h"

namespace telltale {

std::string json_for_script(const std::string& json) {
  std::string text;
  for (size_t i = 0; i < json.size(); ++i) {
    const std::string_view rest = std::string_view(json).substr(i, 3);
    if (json[i] == '<' || json[i] == '>' || json[i] == '&') {
      text += fmt::format("\\u{:04x}", static_cast<unsigned>(json[i]));
    } else if (rest == "\u2028" || rest == "\u2029") {
      text += rest == "\u2028" ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      text += json[i];
    }
  }
  return text;
}

std::string visible_source(std::string_view line) {
  std::string text;
  for (const char c : line) {
    if (c == '\t') {
      text.append(8 - text.size() % 8, ' ');
    } else if (c != '\r') {
      text += c;
    }
  }
  std::string shown;
  std::string_view left = text;
  while (true) {
    const size_t backslash = left.find('\\');
    append_visible(shown, left.substr(0, backslash));
    if (backslash == std::string_view::npos) return shown;
    shown += '\\';
    left.remove_prefix(backslash + 1);
  }
}

}  // namespace telltale
