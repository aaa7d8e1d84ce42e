#include "output/file_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "output/escape.h"

namespace telltale {
namespace {

using Mark = std::pair<std::string_view, std::string_view>;  // how the file begins, and its kind

constexpr std::array kMarks = {
    Mark("\x7f"
         "ELF",
         "an ELF file"),
    Mark("\x1f\x8b", "a gzip file"),
    Mark("\x28\xb5\x2f\xfd", "a zstd file"),
    Mark("<!doctype html", "an HTML page"),
    Mark("<html", "an HTML page"),
    Mark("<svg", "an SVG picture"),
    Mark("digraph", "a DOT graph"),
    Mark("# callgrind", "a callgrind profile"),
    Mark("TN:", "an LCOV file"),
    Mark("SF:", "an LCOV file"),
};

bool begins_with(std::string_view text, std::string_view mark) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return text.size() >= mark.size() &&
         std::ranges::equal(text.substr(0, mark.size()), mark, {}, lower, lower);
}

// By the first line, but at least a few bytes: later lines of a text may hold names with any bytes.
bool is_binary(std::string_view head) {
  constexpr size_t kLeast = 16;
  head = head.substr(0, std::max(head.find('\n'), kLeast));
  return std::ranges::any_of(head, [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t' &&
           c != '\f' && c != '\x1b';
  });
}

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// Up to the first key's end: {"traceEvents".
std::string json_kind(std::string_view head) {
  std::string begin;
  for (const char c : head.substr(0, head.find(':'))) {
    if (!is_space(c)) begin += c;
    if (begin.size() == 40) break;
  }
  return "a JSON file that begins with " + visible(begin);
}

// "main;read;parse 120".
bool is_folded(std::string_view line) {
  const size_t blank = line.rfind(' ');
  return blank != std::string_view::npos && blank != 0 && blank + 1 < line.size() &&
         std::ranges::all_of(line.substr(blank + 1), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::string file_kind(std::string_view head) {
  head = head.substr(0, kKindBytes);
  if (head.empty()) return "an empty file";
  for (const auto& [mark, kind] : kMarks) {
    if (begins_with(head, mark)) return std::string(kind);
  }
  if (begins_with(head, "<?xml"))
    return head.find("<svg") == std::string_view::npos ? "an XML file" : "an SVG picture";
  if (is_binary(head))
    return fmt::format("a binary file that begins with {:#04x}",
                       static_cast<unsigned char>(head.front()));
  std::string_view text = head;
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  if (text.starts_with('{') || text.starts_with('[')) return json_kind(text);
  const std::string_view line = text.substr(0, text.find('\n'));
  if (is_folded(line)) return "a file of folded stacks";
  const auto* const end = std::ranges::find_if(line, is_space);
  return "a text that begins with " +
         visible(std::string(line.begin(), std::min(end, line.begin() + 40)));
}

}  // namespace telltale
