#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace telltale {

// The terminal that texts for people are written to (docs/terminal.md). A program sets it once,
// before it writes; without a terminal texts are complete and plain.
struct Screen {
  size_t width = 0;  // in columns; 0: no terminal, lines may be of any length
  bool colour = false;

  [[nodiscard]] bool is_terminal() const { return width != 0; }
};
const Screen& screen();
void set_screen(const Screen& screen);

// The text with at most `width` characters: "…" in place of its middle if it has more. The text is
// visible() already. REQUIRES: width > 0.
std::string elided(std::string_view text, size_t width);

// On a terminal, the text in lines of at most its width, broken at spaces: the first continues at
// column `column`, the others are indented by `indent`. Longer words are elided. Otherwise the
// text.
std::string folded(std::string_view text, size_t column, size_t indent);

// "1234567" as "1,234,567".
std::string with_thousands(std::string_view digits);

}  // namespace telltale
