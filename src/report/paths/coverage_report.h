#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/paths/function_coverage.h"
#include "base/error.h"
#include "base/problem.h"
#include "bytes/block_writer.h"
#include "model/call_filter.h"
#include "report/paths/source_lines.h"

namespace telltale {

// Functions that the filter chooses by name.
std::vector<FunctionCoverage> choose_coverage(std::vector<FunctionCoverage> functions,
                                              const CallFilter& filter);

// Asks `sources` for all files that the functions have lines of.
void ask_for_sources(const std::vector<FunctionCoverage>& functions, SourceLines& sources);

// Each writes what of the functions ran. Errors: the sink's.

// For people: a line for each function, and with `with_lines` the lines of each source file, marked
// "+" (ran), "-" (did not) or "?".
Result<void> write_coverage_text(const std::vector<FunctionCoverage>& functions, bool with_lines,
                                 SourceLines& sources, const ByteSink& sink);
// A row for each line.
Result<void> write_coverage_csv(const std::vector<FunctionCoverage>& functions,
                                const ByteSink& sink);
// The document `coverage` of docs/json.md.
Result<void> write_coverage_document(const std::vector<FunctionCoverage>& functions,
                                     std::string_view format, const ProblemLog& problems,
                                     const ByteSink& sink);
// Formats of other tools that know lines with and without executions only: lines and functions that
// may have run are left out. A tracefile of lcov 1.16; an XML file of Cobertura 4.
Result<void> write_coverage_lcov(const std::vector<FunctionCoverage>& functions,
                                 const ByteSink& sink);
Result<void> write_coverage_cobertura(const std::vector<FunctionCoverage>& functions,
                                      const ByteSink& sink);

}  // namespace telltale
