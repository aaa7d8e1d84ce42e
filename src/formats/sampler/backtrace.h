#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace telltale::sampler {

// One line of a main-backtrace subreport, in the format of glibc's backtrace_symbols(3):
// MODULE(SYMBOL+0xOFFSET)[0xADDRESS]. Parentheses or their contents may be missing; a blank may
// precede the bracket. Views of the line.
struct BacktraceFrame {
  std::string_view module;  // path as in the program; empty: unknown
  std::string_view symbol;  // empty: the offset, if any, is from the start of the module
  std::optional<uint64_t> offset;
  bool negative_offset = false;  // the address is before the symbol
  uint64_t address = 0;          // in the process
};
// Empty for a line of another form.
std::optional<BacktraceFrame> parse_backtrace_frame(std::string_view line);

}  // namespace telltale::sampler
