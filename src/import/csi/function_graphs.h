#pragma once

#include <string>
#include <vector>

#include "base/problem.h"
#include "bytes/cursor.h"
#include "import/static_information.h"

namespace telltale {

// The functions of a text of path metadata (section .debug_PT), in its order. `file_offset`: of
// text[0] in `file`. Damage goes to `problems`.
std::vector<FunctionGraph> read_function_graphs(Bytes text, const std::string& file,
                                                uint64_t file_offset, ProblemLog& problems);
// The same of all such sections of an ELF file; empty for other files. Errors: those of
// read_static_sections.
Result<std::vector<FunctionGraph>> read_function_graphs_of_program(Bytes file,
                                                                   const std::string& path,
                                                                   ProblemLog& problems);

}  // namespace telltale
