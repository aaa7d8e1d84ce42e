#include "api/export_calls.h"

#include "analysis/call_tree.h"
#include "analysis/heap_graph.h"
#include "analysis/runtime_timeline.h"
#include "api/measured_tree.h"
#include "output/perfetto_export.h"
#include "output/perfetto_timeline.h"
#include "output/text_calls.h"
#include "output/tree_export.h"

namespace telltale {
namespace {

bool is_tree_format(ExportFormat format) {
  return format == ExportFormat::speedscope || format == ExportFormat::pprof ||
         format == ExportFormat::folded || format == ExportFormat::callgrind ||
         format == ExportFormat::dot;
}

Result<void> write_tree(const CallTree& tree, const ExportContext& context,
                        std::span<const LiveType> live, ExportFormat format, OutputFile& out) {
  switch (format) {
    case ExportFormat::speedscope:
      return write_speedscope(tree, context, out);
    case ExportFormat::pprof:
      return write_pprof(tree, context, out, live);
    case ExportFormat::folded:
      return write_folded(tree, context, out);
    case ExportFormat::callgrind:
      return write_callgrind(tree, context, out);
    case ExportFormat::dot:
      return write_dot(tree, context, out);
    default:
      return usage_error("this format is no export of calls");
  }
}

// What the runtime did beside calls. The calls' own pass tells what could not be read.
template <EventSource Source>
TimelineMarks runtime_marks(const Source& source, const ExportOptions& options,
                            const ExportContext& context) {
  ProblemLog same_again;
  return make_timeline_marks(
      collect_runtime_timeline(source, options.filter, options.jobs, same_again), options.filter,
      context);
}

template <EventSource Source>
Result<ExportRemarks> export_perfetto(const Source& source, const ExportOptions& options,
                                      const ExportContext& context, OutputFile& out,
                                      ProblemLog& problems) {
  PerfettoExport exporter(context, out, {.compress = options.compress});
  Result<void> done = run_export(source, options.filter, options.jobs, exporter, problems);
  ExportRemarks remarks;
  if constexpr (tells_runtime_events<Source>) {
    if (done) done = write_perfetto_marks(runtime_marks(source, options, context), context, out);
    ProblemLog same_again;
    const auto heap =
        last_heap_graph(source, options.filter, options.jobs, same_again, &remarks.left_out);
    if (done && heap) done = write_perfetto_heap(*heap, context, out);
  }
  if (!done) return std::unexpected(done.error());
  return remarks;
}

template <EventSource Source>
Result<ExportRemarks> export_source(const Source& source, const ExportOptions& options,
                                    ExportFormat format, OutputFile& out, ProblemLog& problems) {
  const ExportContext context = export_context(source);
  const auto play = [&](auto&& exporter) -> Result<ExportRemarks> {
    const Result<void> done = run_export(source, options.filter, options.jobs, exporter, problems);
    if (!done) return std::unexpected(done.error());
    return ExportRemarks{};
  };
  if (options.measure != Measure::time && !is_tree_format(format))
    return usage_error("--measure is for speedscope, pprof, folded, callgrind and dot");
  switch (format) {
    case ExportFormat::perfetto:
      return export_perfetto(source, options, context, out, problems);
    case ExportFormat::chrome: {
      ChromeExport exporter(context, out);
      if constexpr (tells_runtime_events<Source>)
        exporter.add_entries(chrome_entries(runtime_marks(source, options, context), context));
      return play(exporter);
    }
    case ExportFormat::json:
      return play(RowsExport(context, out, RowsSink::Form::json));
    case ExportFormat::csv:
      return play(RowsExport(context, out, RowsSink::Form::csv));
    default:
      break;
  }
  const Result<MeasuredTree> measured = measure_paths(
      source, options.measure, options.filter, options.jobs, CallTreeOptions().max_depth, problems);
  if (!measured) return std::unexpected(measured.error());
  const bool by_thread = format != ExportFormat::callgrind && format != ExportFormat::dot;
  const CallTree tree = (by_thread ? measured->partial : measured->partial.without_threads())
                            .finish(source.streams());
  const Result<void> written =
      write_tree(tree, measured_context(source, *measured), measured->live, format, out);
  if (!written) return std::unexpected(written.error());
  return ExportRemarks{tree.flattened, tree.roots.empty(), measured->left_out,
                       format == ExportFormat::folded ? estimate_remark(tree) : ""};
}

}  // namespace

Result<ExportRemarks> export_calls(const AnyRecording& recording, const ExportOptions& options,
                                   ExportFormat format, OutputFile& out, ProblemLog& problems) {
  return std::visit(
      [&](const auto& source) {
        problems.merge(source.problems());
        return export_source(source, options, format, out, problems);
      },
      recording);
}

}  // namespace telltale
