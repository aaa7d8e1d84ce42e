#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "analysis/call_tree.h"
#include "bytes/input_file.h"
#include "cli/reading_options.h"
#include "cli/verbs.h"
#include "formats/xray/convert.h"
#include "output/export_format.h"
#include "output/output_file.h"
#include "output/perfetto_export.h"
#include "output/text_calls.h"
#include "output/tree_export.h"

namespace telltale::cli {
namespace {

struct ConvertOptions {
  ReadingOptions reading;
  std::string output;
  std::string to;
  bool compress = false;
};

template <EventSource Source>
Result<void> convert_calls(const Source& source, const CallFilter& filter,
                           const ConvertOptions& options, ExportFormat format, OutputFile& out,
                           ProblemLog& problems) {
  const ExportContext context = export_context(source);
  const auto play = [&](auto exporter) {
    return run_export(source, filter, options.reading.jobs, exporter, problems);
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
      build_call_tree(source, filter, options.reading.jobs, tree_options, problems);
  if (!tree) return std::unexpected(tree.error());
  if (tree->flattened != 0) {
    fmt::print(stderr, "telltale: {} calls are deeper than {}; their nesting is left out\n",
               tree->flattened, tree_options.max_depth);
  }
  switch (format) {
    case ExportFormat::speedscope:
      return write_speedscope(*tree, context, out);
    case ExportFormat::pprof:
      return write_pprof(*tree, context, out);
    case ExportFormat::folded:
      return write_folded(*tree, context, out);
    case ExportFormat::callgrind:
      return write_callgrind(*tree, context, out);
    case ExportFormat::dot:
      return write_dot(*tree, context, out);
    default:
      return usage_error("no such export");
  }
}

int run_calls(const ConvertOptions& options, ExportFormat format) {
  const Result<CallFilter> filter = options.reading.filter();
  if (!filter) return report_error(filter.error());
  const Result<AnyRecording> recording = open_recording(options.reading.open_options());
  if (!recording) return report_error(recording.error());
  Result<OutputFile> out = OutputFile::open(options.output);
  if (!out) return report_error(out.error());
  ProblemLog problems;
  Result<void> done = std::visit(
      [&](const auto& source) {
        problems = source.problems();
        return convert_calls(source, *filter, options, format, *out, problems);
      },
      *recording);
  if (done) done = out->finish();
  if (!done) return report_error(done.error());
  return report_problems(options.reading, problems);
}

// Whole recordings, record by record: no filter, one input.
int run_records(const ConvertOptions& options, ExportFormat format) {
  const Result<CallFilter> filter = options.reading.filter();
  if (!filter) return report_error(filter.error());
  if (!filter->threads.empty() || !filter->keeps_every_call() ||
      options.reading.files.size() != 1) {
    return report_error(
        usage_error("recording formats take one recording, whole: no filters, no second file")
            .error());
  }
  const std::string name =
      format == ExportFormat::llvm_xray_yaml ? "yaml" : std::string(export_format_name(format));
  std::optional<xray::ConvertTarget> target = xray::parse_convert_target(name);
  if (!target) return report_error(usage_error("no such format: " + name).error());
  const OpenOptions open = options.reading.open_options();
  const Result<InputFile> input = InputFile::open(open.files[0], open.limits);
  if (!input) return report_error(input.error());
  std::optional<AnyRecording>
      names;  // what knows the functions' names, for the one form with names
  if (format == ExportFormat::llvm_xray_yaml && !open.programs.empty()) {
    Result<AnyRecording> recording = open_recording(open);
    if (!recording) return report_error(recording.error());
    names.emplace(std::move(*recording));
    target->function_name = [&names](uint32_t id) {
      return std::visit(
          [id](const auto& source) { return source.functions().describe(FunctionId{id}).name; },
          *names);
    };
  }
  Result<OutputFile> out = OutputFile::open(options.output);
  if (!out) return report_error(out.error());
  ProblemLog problems = input->problems();
  const Result<xray::ConversionLoss> loss = xray::convert_trace(
      input->bytes(), input->name(), *target,
      [&out](std::string_view block) { return out->write(block); }, problems);
  if (!loss) return report_error(loss.error());
  if (const Result<void> finished = out->finish(); !finished) return report_error(finished.error());
  for (size_t i = 0; i < xray::ConversionLoss::kReasons; ++i) {
    const auto reason = static_cast<xray::ConversionLoss::Reason>(i);
    if (loss->count(reason) == 0) continue;
    fmt::print(stderr, "telltale: {}: {}\n", loss->count(reason), xray::loss_text(reason));
  }
  return report_problems(options.reading, problems);
}

int run(const ConvertOptions& options) {
  const std::optional<ExportFormat> format = options.to.empty()
                                                 ? export_format_of_path(options.output)
                                                 : export_format_of_name(options.to);
  if (!format) {
    return report_error(
        usage_error("cannot tell the format from the name " + options.output + "; say --to FORMAT")
            .error());
  }
  return is_recording_format(*format) ? run_records(options, *format) : run_calls(options, *format);
}

}  // namespace

void add_convert_verb(CLI::App& app, int& status) {
  CLI::App* verb = app.add_subcommand("convert", "write a recording in another format");
  const auto options = std::make_shared<ConvertOptions>();
  add_reading_options(*verb, options->reading);
  add_filter_options(*verb, options->reading);
  verb->add_option("-o,--output", options->output, "file to write; - is standard output")
      ->type_name("FILE")
      ->required();
  verb->add_option("--to", options->to, "format; default: by the output's extension")
      ->type_name("FORMAT")
      ->check(CLI::IsMember(export_format_names()));
  verb->add_flag("--compress", options->compress, "perfetto: compress packets inside the trace");
  verb->footer(describe_export_formats());
  verb->callback([options, &status] { status = run(*options); });
}

}  // namespace telltale::cli
