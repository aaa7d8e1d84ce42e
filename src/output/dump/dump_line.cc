#include "output/dump/dump_line.h"

#include <algorithm>
#include <string>

#include "output/table/json_document.h"

namespace telltale {

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

void dump_problem(const Problem& problem, DumpOutput& out) {
  std::string kind(problem_kind_name(problem.kind));
  std::ranges::replace(kind, ' ', '_');  // one word per value
  DumpLine(out, problem.offset, "Problem")
      .word("kind", kind)
      .text("in", problem.record)
      .text("message", problem.message)
      .number("lost_bytes", problem.lost_bytes);
}

void dump_problems(const ProblemLog& found, DumpOutput& out, ProblemLog& problems) {
  for (const Problem& problem : found.kept()) dump_problem(problem, out);
  problems.merge(found);
}

}  // namespace telltale
