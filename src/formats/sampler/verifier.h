#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/verdict.h"
#include "bytes/cursor.h"

namespace telltale::sampler {

struct Violation {
  enum class Kind : uint8_t {
    cut,              // the text ends inside a record
    misplaced,        // lines or tags where the grammar does not allow them
    wrong_tag,        // attributes are missing, twice, in another order, or spaced differently
    wrong_unit,       // not 32 lower-case hexadecimal digits
    unknown_scheme,   // not a documented scheme
    wrong_row,        // not the scheme's number of columns, or not its numbers
    wrong_word,       // a column with a word that it does not allow (local, mem, read ...)
    uneven_sections,  // sections of one unit and scheme with different numbers of rows
    not_first,        // the first subreport, or that after `run` of a spool, is not samples
    wrong_frame,      // a line of main-backtrace that is not in backtrace_symbols' format
    wrong_graph,      // control flow graphs: a line that is invalid at its place
    missing_node,     // a successor that the function does not have
  };
  static constexpr size_t kKinds = 12;
  Kind kind = Kind::cut;
  uint64_t offset = 0;  // in the file
  std::string record;
  std::string message;
};
std::string_view to_string(Violation::Kind kind);
std::string to_string(const Violation& violation);

// Records are subreports, sections and rows; functions and nodes of graphs.
using Verdict = VerdictOf<Violation>;

// Check a text against its grammar (docs/formats/sampler.md, "What check checks"); continue after a
// violation and count all. Memory grows with the number of sections, and in control flow graphs
// with the text.
Verdict verify_report(Bytes file);
Verdict verify_sites(Bytes file);
Verdict verify_graphs(Bytes file);

}  // namespace telltale::sampler
