#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "analysis/calls/call_tree.h"
#include "analysis/runtime/weighted_tree.h"
#include "base/error.h"
#include "output/export.h"
#include "output/export_format.h"
#include "output/output_file.h"

namespace telltale {

// Exports of a call tree. docs/exports.md defines the content of each format. Errors: io.

// A note for formats that cannot mark each estimated time; empty if no time is estimated.
std::string estimate_remark(const CallTree& tree);

// The number of a folded line: nanoseconds or calls.
enum class StackMeasure : uint8_t { self, total, calls };

// One line "outer;inner 120" per path with a value of the measure. A tree of several threads, or
// with `name_lone_thread`, has the thread as outermost frame.
Result<void> write_folded(const CallTree& tree, const ExportContext& context, OutputFile& out,
                          StackMeasure measure = StackMeasure::self, bool name_lone_thread = false);
// pprof's profile.proto, gzipped: count and self value per path (by default calls/count and
// wall/nanoseconds), leaf first, the thread as labels; with `live`, also inuse_objects and
// inuse_space. REQUIRES: a tree by thread.
Result<void> write_pprof(const CallTree& tree, const ExportContext& context, OutputFile& out,
                         std::span<const LiveType> live = {});
// speedscope's JSON, one sampled profile per thread. Of one caller's callees the widest comes
// first: speedscope opens with the samples in their order, and this one looks like its tab "Left
// Heavy". REQUIRES: a tree by thread.
Result<void> write_speedscope(const CallTree& tree, const ExportContext& context, OutputFile& out);
// callgrind's profile format: self time per function, calls and inclusive time per edge.
Result<void> write_callgrind(const CallTree& tree, const ExportContext& context, OutputFile& out);
// The share below which pictures of call graphs omit functions and edges: Graphviz cannot lay out
// the thousands that a recording has.
inline constexpr double kDrawnShare = 0.005;
// A call graph in DOT: functions with calls and times, edges with calls and width by time.
// Omits functions and edges with less than `min_share` of the time and of the calls; a comment and
// the graph's label give their number.
Result<void> write_dot(const CallTree& tree, const ExportContext& context, OutputFile& out,
                       double min_share = 0);

// The exports above, by name.
bool is_tree_export(ExportFormat format);
// REQUIRES: is_tree_export(format).
Result<void> write_tree_export(const CallTree& tree, const ExportContext& context,
                               std::span<const LiveType> live, ExportFormat format,
                               OutputFile& out);

}  // namespace telltale
