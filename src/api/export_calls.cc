#include "api/export_calls.h"

#include "analysis/call_tree.h"
#include "api/answers.h"
#include "output/perfetto_export.h"
#include "output/text_calls.h"
#include "output/tree_export.h"

namespace telltale {
namespace {

Result<void> write_tree(const CallTree& tree, const ExportContext& context, ExportFormat format,
                        OutputFile& out) {
  switch (format) {
    case ExportFormat::speedscope:
      return write_speedscope(tree, context, out);
    case ExportFormat::pprof:
      return write_pprof(tree, context, out);
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

template <EventSource Source>
Result<ExportRemarks> export_source(const Source& source, const ExportOptions& options,
                                    ExportFormat format, OutputFile& out, ProblemLog& problems) {
  const ExportContext context = export_context(source);
  const auto play = [&](auto exporter) -> Result<ExportRemarks> {
    const Result<void> done = run_export(source, options.filter, options.jobs, exporter, problems);
    if (!done) return std::unexpected(done.error());
    return ExportRemarks{};
  };
  switch (format) {
    case ExportFormat::perfetto:
      return play(PerfettoExport(context, out, {.compress = options.compress}));
    case ExportFormat::chrome:
      return play(ChromeExport(context, out));
    case ExportFormat::json:
      return play(RowsExport(context, out, RowsSink::Form::json));
    case ExportFormat::csv:
      return play(RowsExport(context, out, RowsSink::Form::csv));
    default:
      break;
  }
  CallTreeOptions tree_options;
  tree_options.by_thread = format != ExportFormat::callgrind && format != ExportFormat::dot;
  const Result<CallTree> tree =
      build_call_tree(source, options.filter, options.jobs, tree_options, problems);
  if (!tree) return std::unexpected(tree.error());
  const Result<void> written = write_tree(*tree, context, format, out);
  if (!written) return std::unexpected(written.error());
  return ExportRemarks{tree->flattened};
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
