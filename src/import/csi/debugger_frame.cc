#include "import/csi/debugger_frame.h"

#include <charconv>
#include <optional>
#include <string>

#include "base/trimmed.h"
#include "model/short_name.h"

namespace telltale {
namespace {

// Values of arguments may contain anything in quotes.
std::string without_quoted(std::string_view text) {
  std::string rest;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (quote == 0) {
      rest += c;
    } else if (c == '\\') {
      ++i;
    } else if (c == quote) {
      quote = 0;
    }
  }
  return rest;
}

// Where the last group of parentheses begins, if it ends the text; otherwise its size.
size_t last_group(std::string_view text) {
  int open = 0;
  for (size_t i = text.size(); i-- > 0;) {
    if (text[i] == ')') ++open;
    if (text[i] == '(') --open;
    if (open == 0) return text[i] == '(' ? i : text.size();
  }
  return text.size();
}

// "a.c:15" or "a.c:15:7".
void read_place(std::string_view place, StackFrame& frame) {
  for (int part = 0; part < 2; ++part) {
    const size_t colon = place.rfind(':');
    if (colon == std::string_view::npos) break;
    const std::string_view digits = place.substr(colon + 1);
    uint32_t number = 0;
    const auto [end, problem] =
        std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (problem != std::errc{} || end != digits.data() + digits.size()) break;
    frame.line = number;  // the column first, if there is one
    place = place.substr(0, colon);
  }
  frame.file = place;
}

}  // namespace

int parentheses_open(std::string_view text) {
  int open = 0;
  for (const char c : without_quoted(text)) open += c == '(' ? 1 : c == ')' ? -1 : 0;
  return open;
}

StackFrame read_debugger_frame(std::string_view line) {
  StackFrame frame;
  if (line.starts_with(':')) line.remove_prefix(1);
  line = trimmed(line);
  const size_t place = line.rfind(" at ");
  std::string_view function = trimmed(line.substr(0, place));
  if (function.starts_with("0x")) {
    const std::string_view digits = function.substr(2);
    std::from_chars(digits.data(), digits.data() + digits.size(), frame.pc, 16);
    const size_t gap = function.find(' ');
    function = gap == std::string_view::npos ? std::string_view() : trimmed(function.substr(gap));
    if (function.starts_with("in ")) function = trimmed(function.substr(3));
  }
  const size_t module = function.find('`');
  std::string name =
      without_quoted(module == std::string_view::npos ? function : function.substr(module + 1));
  if (module == std::string_view::npos) {
    // gdb: the arguments, behind a name that may have parameters; or "from LIBRARY".
    name = name.substr(0, name.rfind(" from "));
    name = name.substr(0, last_group(name));
  } else {
    // LLDB: "f + 12" without debug information, "f(n=3) [inlined]".
    frame.inlined = name.contains(" [inlined]");
    for (const std::string_view behind : {" [", " + "}) name = name.substr(0, name.rfind(behind));
  }
  frame.symbol = bare_name(trimmed(name));
  if (place != std::string_view::npos) read_place(line.substr(place + 4), frame);
  return frame;
}

}  // namespace telltale
