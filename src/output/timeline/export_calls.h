#pragma once

#include "base/error.h"
#include "base/problem.h"
#include "model/event_source.h"
#include "output/export.h"
#include "output/export_format.h"
#include "output/export_options.h"
#include "output/output_file.h"
#include "output/runtime_answers.h"
#include "output/timeline/perfetto_export.h"
#include "output/timeline/perfetto_timeline.h"
#include "output/timeline/text_calls.h"
#include "output/tree/measure_paths.h"
#include "output/tree/tree_export.h"

namespace telltale {

namespace detail {

// The events of the runtime other than calls. The pass over the calls reports damage.
inline TimelineMarks runtime_marks(const RuntimeAnswers& runtime, const ExportOptions& options,
                                   const ExportContext& context) {
  ProblemLog same_again;
  return make_timeline_marks(runtime.runtime_timeline(options.filter, options.jobs, same_again),
                             options.filter, context);
}

template <EventSource Source>
Result<ExportRemarks> export_perfetto(const Source& source, const RuntimeAnswers* runtime,
                                      const ExportOptions& options, const ExportContext& context,
                                      OutputFile& out, ProblemLog& problems) {
  PerfettoExport exporter(context, out, {.compress = options.compress});
  Result<void> done = run_export(source, options.filter, options.jobs, exporter, problems);
  ExportRemarks remarks;
  if (runtime != nullptr) {
    if (done)
      done = write_perfetto_marks(runtime_marks(*runtime, options, context), context,
                                  exporter.processes(), out);
    ProblemLog same_again;
    const auto heaps =
        runtime->last_heap_graphs(options.filter, options.jobs, same_again, &remarks.left_out);
    for (const HeapGraph& heap : heaps)
      if (done) done = write_perfetto_heap(heap, context, out);
  }
  if (!done) return std::unexpected(done.error());
  return remarks;
}

}  // namespace detail

// Writes a recording's calls, and the events of its runtime (null: none), to `out`; the caller
// finishes it. Adds damage to `problems`. Errors: usage for a format that does not export calls,
// and for a measure that the format cannot represent; io.
template <EventSource Source>
Result<ExportRemarks> export_calls(const Source& source, const RuntimeAnswers* runtime,
                                   const ExportOptions& options, ExportFormat format,
                                   OutputFile& out, ProblemLog& problems) {
  const StyledNames names(source.functions(), options.names);
  const ExportContext context = with_names(export_context(source), names);
  const auto play = [&](auto&& exporter) -> Result<ExportRemarks> {
    const Result<void> done = run_export(source, options.filter, options.jobs, exporter, problems);
    if (!done) return std::unexpected(done.error());
    return ExportRemarks{};
  };
  if (options.measure != Measure::time && !is_tree_export(format))
    return usage_error("--measure is for speedscope, pprof, folded, callgrind and dot");
  switch (format) {
    case ExportFormat::perfetto:
      return detail::export_perfetto(source, runtime, options, context, out, problems);
    case ExportFormat::chrome: {
      ChromeExport exporter(context, out);
      if (runtime != nullptr)
        exporter.add_entries(
            chrome_entries(detail::runtime_marks(*runtime, options, context), context));
      return play(exporter);
    }
    case ExportFormat::json:
      return play(RowsExport(context, out, RowsSink::Form::json));
    case ExportFormat::csv:
      return play(RowsExport(context, out, RowsSink::Form::csv));
    default:
      break;
  }
  if (!is_tree_export(format)) return usage_error("this format does not export calls");
  const Result<MeasuredTree> measured =
      measure_paths(source, runtime, options.measure, options.filter, options.jobs,
                    CallTreeOptions().max_depth, problems);
  if (!measured) return std::unexpected(measured.error());
  const bool by_thread = format != ExportFormat::callgrind && format != ExportFormat::dot;
  const CallTree tree = (by_thread ? measured->partial : measured->partial.without_threads())
                            .finish(source.streams());
  const ExportContext measured_names = measured_context(source, *measured);
  const StyledNames tree_names(measured_names.functions, options.names);
  const Result<void> written =
      write_tree_export(tree, with_names(measured_names, tree_names), measured->live, format, out);
  if (!written) return std::unexpected(written.error());
  return ExportRemarks{tree.flattened, tree.roots.empty(), measured->left_out,
                       format == ExportFormat::folded ? estimate_remark(tree) : ""};
}

}  // namespace telltale
