#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "import/stack_paths.h"
#include "output/output_file.h"
#include "report/paths/paths_view.h"
#include "report/paths/source_lines.h"

namespace telltale {

// A page (docs/design/page-kit.md) with the source of each frame, annotated by the order in which
// its lines ran, to be stepped through. Errors: the file's.
Result<void> write_paths_page(const std::vector<ThreadPaths>& threads, const std::string& name,
                              const std::string& why_stopped, const PathsView& view,
                              const ProblemLog& problems, SourceLines& sources, OutputFile& out);

}  // namespace telltale
