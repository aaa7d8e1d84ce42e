#include "output/dump_line.h"

#include <array>

namespace telltale {
namespace {

constexpr std::array<std::string_view, 4> kProblemKinds = {"torn_tail", "corruption", "loss",
                                                           "oddity"};

}  // namespace

void append_quoted(std::string& out, std::string_view text, bool json) {
  out += '"';
  if (json) {
    append_json(out, text);
  } else {
    for (size_t quote = text.find('"'); quote != std::string_view::npos; quote = text.find('"')) {
      append_visible(out, text.substr(0, quote));
      out += "\\\"";
      text.remove_prefix(quote + 1);
    }
    append_visible(out, text);
  }
  out += '"';
}

void dump_problem(const Problem& problem, DumpStyle style, BlockWriter& out) {
  DumpLine(style, problem.offset, "Problem", out.block())
      .word("kind", kProblemKinds[static_cast<size_t>(problem.kind)])
      .text("in", problem.record)
      .text("message", problem.message)
      .number("lost_bytes", problem.lost_bytes);
  out.flush_if_full();
}

}  // namespace telltale
