#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace telltale::sampler {

// One line of a main-backtrace subreport, as glibc's backtrace_symbols(3) writes it:
// MODULE(SYMBOL+0xOFFSET)[0xADDRESS]. Parentheses or what is in them may be missing; a blank may
// stand before the bracket. Views of the line.
struct BacktraceFrame {
  std::string_view module;  // path as the program knew it; empty: unknown
  std::string_view symbol;  // empty: the offset, if any, is from the start of the module
  std::optional<uint64_t> offset;
  bool negative_offset = false;  // the address lies before the symbol
  uint64_t address = 0;          // in the process
};
// None for a line of another form.
std::optional<BacktraceFrame> parse_backtrace_frame(std::string_view line);

}  // namespace telltale::sampler
