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
    cut,              // the text ends inside something
    misplaced,        // lines or tags where the grammar has none
    wrong_tag,        // attributes are missing, twice, in another order, or spaced differently
    wrong_unit,       // not 32 lower-case hexadecimal digits
    unknown_scheme,   // no documented scheme
    wrong_row,        // not as many columns as the scheme has, or not the numbers it wants
    wrong_word,       // a column that holds none of its words (local, mem, read ...)
    uneven_sections,  // sections of one unit and scheme with different numbers of rows
    not_first,        // the first subreport is not samples
    wrong_frame,      // a line of main-backtrace that backtrace_symbols does not write
    wrong_graph,      // control flow graphs: a line that is not what its place wants
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

// Check a text by its grammar (docs/formats/sampler.md, "What check checks"); go on after a
// violation and count them all. Memory grows with the sections, and in control flow graphs with the
// text.
Verdict verify_report(Bytes file);
Verdict verify_sites(Bytes file);
Verdict verify_graphs(Bytes file);

}  // namespace telltale::sampler
