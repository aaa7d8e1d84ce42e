#pragma once

#include "analysis/call_tree.h"
#include "base/error.h"
#include "output/export.h"
#include "output/output_file.h"

namespace telltale {

// Exports of a call tree. docs/exports.md says what each format carries. Errors: io.

// "outer;inner 120" a line: nanoseconds of self time of each path that has any. A tree by thread
// gets the thread as its outermost frame.
Result<void> write_folded(const CallTree& tree, const ExportContext& context, OutputFile& out);
// pprof's profile.proto, gzipped: calls/count and self/nanoseconds a path, leaf first, the thread
// as labels. REQUIRES: a tree by thread.
Result<void> write_pprof(const CallTree& tree, const ExportContext& context, OutputFile& out);
// speedscope's JSON, a sampled profile a thread. REQUIRES: a tree by thread.
Result<void> write_speedscope(const CallTree& tree, const ExportContext& context, OutputFile& out);
// callgrind's profile format: self time a function, calls and inclusive time an edge.
Result<void> write_callgrind(const CallTree& tree, const ExportContext& context, OutputFile& out);
// A call graph in DOT: functions with calls and times, edges with calls and width by time.
Result<void> write_dot(const CallTree& tree, const ExportContext& context, OutputFile& out);

}  // namespace telltale
