#pragma once

#include <string>
#include <vector>

#include "analysis/paths/function_coverage.h"
#include "base/error.h"
#include "base/problem.h"
#include "output/output_file.h"
#include "report/paths/source_lines.h"

namespace telltale {

// A page (docs/design/page-kit.md) with the functions, and their source with what ran. Errors: the
// file's.
Result<void> write_coverage_page(const std::vector<FunctionCoverage>& functions,
                                 const std::string& name, const ProblemLog& problems,
                                 SourceLines& sources, OutputFile& out);

}  // namespace telltale
