#include "formats/sampler/backtrace.h"

#include <charconv>

namespace telltale::sampler {
namespace {

std::optional<uint64_t> parse_hex(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  text.remove_prefix(2);
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// SYMBOL+0xOFFSET, SYMBOL-0xOFFSET, +0xOFFSET, SYMBOL, or nothing.
void read_parentheses(std::string_view inside, BacktraceFrame& frame) {
  const size_t sign = inside.find_last_of("+-");
  if (sign != std::string_view::npos) frame.offset = parse_hex(inside.substr(sign + 1));
  if (!frame.offset) {
    frame.symbol = inside;
    return;
  }
  frame.negative_offset = inside[sign] == '-';
  frame.symbol = inside.substr(0, sign);
}

}  // namespace

std::optional<BacktraceFrame> parse_backtrace_frame(std::string_view line) {
  const size_t bracket = line.rfind('[');
  if (bracket == std::string_view::npos || !line.ends_with(']')) return std::nullopt;
  const std::optional<uint64_t> address =
      parse_hex(line.substr(bracket + 1, line.size() - bracket - 2));
  if (!address) return std::nullopt;
  BacktraceFrame frame;
  frame.address = *address;
  std::string_view place = line.substr(0, bracket);
  if (place.ends_with(' ')) place.remove_suffix(1);
  const size_t open = place.ends_with(')') ? place.rfind('(') : std::string_view::npos;
  frame.module = place.substr(0, open);
  if (open != std::string_view::npos)
    read_parentheses(place.substr(open + 1, place.size() - open - 2), frame);
  return frame;
}

}  // namespace telltale::sampler
