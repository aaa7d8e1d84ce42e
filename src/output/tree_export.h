#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "analysis/call_tree.h"
#include "analysis/weighted_tree.h"
#include "base/error.h"
#include "output/export.h"
#include "output/export_format.h"
#include "output/output_file.h"

namespace telltale {

// Exports of a call tree. docs/exports.md says what each format carries. Errors: io.

// What a format says once that has no place for it beside each time; empty: all times were read.
std::string estimate_remark(const CallTree& tree);

// What the number of a folded line is: nanoseconds, or calls.
enum class StackMeasure : uint8_t { self, total, calls };

// "outer;inner 120" a line: what each path has of the measure, if it has any. A tree of several
// threads, or with `name_lone_thread`, gets the thread as its outermost frame.
Result<void> write_folded(const CallTree& tree, const ExportContext& context, OutputFile& out,
                          StackMeasure measure = StackMeasure::self, bool name_lone_thread = false);
// pprof's profile.proto, gzipped: count and self value a path (by default calls/count and
// wall/nanoseconds), leaf first, the thread as labels; with `live`, inuse_objects and inuse_space,
// too. REQUIRES: a tree by thread.
Result<void> write_pprof(const CallTree& tree, const ExportContext& context, OutputFile& out,
                         std::span<const LiveType> live = {});
// speedscope's JSON, a sampled profile a thread. REQUIRES: a tree by thread.
Result<void> write_speedscope(const CallTree& tree, const ExportContext& context, OutputFile& out);
// callgrind's profile format: self time a function, calls and inclusive time an edge.
Result<void> write_callgrind(const CallTree& tree, const ExportContext& context, OutputFile& out);
// A call graph in DOT: functions with calls and times, edges with calls and width by time.
// Functions and edges that have less than `min_share` of the time and of the calls are left out; a
// comment and the graph's label say how many.
Result<void> write_dot(const CallTree& tree, const ExportContext& context, OutputFile& out,
                       double min_share = 0);

// The exports above, by name.
bool is_tree_export(ExportFormat format);
// REQUIRES: is_tree_export(format).
Result<void> write_tree_export(const CallTree& tree, const ExportContext& context,
                               std::span<const LiveType> live, ExportFormat format,
                               OutputFile& out);

}  // namespace telltale
