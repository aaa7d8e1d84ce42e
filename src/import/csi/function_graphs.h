#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/problem.h"
#include "bytes/cursor.h"
#include "formats/csi/path_records.h"
#include "import/static_information.h"

namespace telltale {

// The functions of a text of path metadata (section .debug_PT), in its order. `file_offset`: of
// text[0] in `file`. Damage goes to `problems`.
std::vector<FunctionGraph> read_function_graphs(Bytes text, const std::string& file,
                                                uint64_t file_offset, ProblemLog& problems);

// What telltale-cc --trace put into a program, shared library, object file or archive.
struct TracedFunctions {
  std::vector<FunctionGraph> graphs;    // with path tracing, in file order
  std::vector<CoverageSites> coverage;  // by function and mechanism, in file order
};
// Without functions that the linker dropped. Damage goes to `problems`. Errors: those of
// read_static_sections.
Result<TracedFunctions> read_traced_functions(Bytes file, const std::string& path,
                                              ProblemLog& problems);

// Which functions of the source others are copies of: variants, and copies that the Sampler makes.
class SourcesOfCopies {
 public:
  void add(const csi::PathRecords& records);
  // Linkage names; empty: it is no copy.
  [[nodiscard]] std::string source_of(const std::string& symbol) const;

 private:
  std::map<std::string, std::string> sources_;  // by the names of copies
};

}  // namespace telltale
