#pragma once

#include <string_view>

#include "base/problem.h"
#include "output/flame/flame_graph.h"
#include "output/table/field.h"

namespace telltale::schemas {
extern const DocumentSchema kFlame;
extern const DocumentSchema kFlameDiff;  // of two recordings
}  // namespace telltale::schemas

namespace telltale {

// The content of the page as the document kFlame or, if two recordings are compared, kFlameDiff
// (docs/analysis/call-tree.md, "Flame graphs"), with names as recorded. `format`: name of the
// recording's format; not used for two. Errors: the file's.
Result<void> write_flame_document(const FlameGraph& graph, const Clock& clock,
                                  const FunctionNames& names, std::string_view format,
                                  const ProblemLog& problems, OutputFile& out);

}  // namespace telltale
