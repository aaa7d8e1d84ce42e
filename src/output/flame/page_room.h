#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace telltale {

// What fits on a page, so that a browser shows any page quickly and in little memory, whatever the
// recording contains (docs/design/page-kit.md, "Limits"). The parts of a page ask it for room; what
// has none is left out, and left_out() says so on the page.
class PageRoom {
 public:
  static constexpr size_t kTextBytes = size_t{128} << 10;  // of a name
  static constexpr size_t kAllBytes = size_t{16} << 20;    // of all names; likewise of all source
  static constexpr size_t kLeastBytes = 64;              // of a name when there is no room any more
  static constexpr size_t kLineBytes = size_t{4} << 10;  // of a line of source

  // visible(text); of a very long one, or when there is no more room, the beginning and an
  // ellipsis.
  std::string text(std::string_view text);
  // visible_source(line), likewise.
  std::string source_line(std::string_view line);
  // Whether there is room for that much more source.
  bool source_file(size_t bytes);
  // How many of `count` things are shown: at most `most`. The others are left out; `noun` is what
  // they are, in the singular.
  size_t rows(size_t count, size_t most, std::string_view noun);

  // "2000 rows; the ends of 3 long names"; empty: nothing is left out.
  [[nodiscard]] std::string left_out() const;

 private:
  size_t text_left_ = kAllBytes;
  size_t source_left_ = kAllBytes;
  uint64_t texts_cut_ = 0;
  uint64_t lines_cut_ = 0;
  std::map<std::string, uint64_t, std::less<>> rows_;  // by noun: how many are left out
};

}  // namespace telltale
