#include "output/flame/page_room.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/counted.h"
#include "output/escape.h"
#include "output/flame/page_text.h"

namespace telltale {
namespace {

constexpr std::string_view kEllipsis = "\u2026";

// At most `most` bytes of the text, whole characters only.
std::string_view beginning(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  size_t end = most;
  while (end > 0 && most - end < 4 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
    --end;
  return text.substr(0, end);
}

}  // namespace

std::string PageRoom::text(std::string_view text) {
  const size_t most = std::clamp(text_left_, kLeastBytes, kTextBytes);
  const std::string_view kept = beginning(text, most);
  text_left_ -= std::min(text_left_, kept.size());
  if (kept.size() == text.size()) return visible(text);
  ++texts_cut_;
  return visible(kept).append(kEllipsis);
}

std::string PageRoom::source_line(std::string_view line) {
  const std::string_view kept = beginning(line, kLineBytes);
  if (kept.size() == line.size()) return visible_source(line);
  ++lines_cut_;
  return visible_source(kept).append(kEllipsis);
}

bool PageRoom::source_file(size_t bytes) {
  if (bytes > source_left_) {
    ++rows_["source file"];
    return false;
  }
  source_left_ -= bytes;
  return true;
}

size_t PageRoom::rows(size_t count, size_t most, std::string_view noun) {
  if (count <= most) return count;
  rows_[std::string(noun)] += count - most;
  return most;
}

std::string PageRoom::left_out() const {
  std::string told;
  const auto add = [&told](const std::string& what) {
    if (!told.empty()) told += "; ";
    told += what;
  };
  for (const auto& [noun, count] : rows_) add(counted(count, noun));
  if (texts_cut_ != 0) add("the ends of " + counted(texts_cut_, "long name"));
  if (lines_cut_ != 0) add("the ends of " + counted(lines_cut_, "long line"));
  return told;
}

}  // namespace telltale
