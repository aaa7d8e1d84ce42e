#pragma once

#include <cstdint>
#include <string>

#include "analysis/heap/heap_graph.h"
#include "base/error.h"
#include "output/export.h"
#include "output/output_file.h"
#include "output/timeline/perfetto_export.h"
#include "output/timeline/timeline_marks.h"

namespace telltale {

// The content of a Perfetto trace other than calls, as packets after those of PerfettoExport for
// the same context: marks on separate tracks, exceptions on the threads' tracks, counters, and a
// heap shot's objects and references as a heap graph. docs/exports.md, "Perfetto". Errors: io.
//
// `processes` are those that PerfettoExport has described: a second description of a process would
// be a second process.
Result<void> write_perfetto_marks(const TimelineMarks& marks, const ExportContext& context,
                                  const PerfettoProcesses& processes, OutputFile& out);
Result<void> write_perfetto_heap(const HeapGraph& graph, const ExportContext& context,
                                 OutputFile& out);

}  // namespace telltale
