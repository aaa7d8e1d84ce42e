#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "cli/reading_options.h"
#include "cli/verbs.h"
#include "output/export_format.h"
#include "output/output_file.h"
#include "output/perfetto_export.h"

namespace telltale::cli {
namespace {

struct ConvertOptions {
  ReadingOptions reading;
  std::string output;
  std::string to;
  bool compress = false;
};

template <EventSource Source>
Result<void> convert(const Source& source, const CallFilter& filter, const ConvertOptions& options,
                     ExportFormat format, OutputFile& out, ProblemLog& problems) {
  const ExportContext context = export_context(source);
  switch (format) {
    case ExportFormat::perfetto: {
      PerfettoExport exporter(context, out, {.compress = options.compress});
      return run_export(source, filter, options.reading.jobs, exporter, problems);
    }
  }
  return usage_error("no such format");
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
        return convert(source, *filter, options, *format, *out, problems);
      },
      *recording);
  if (done) done = out->finish();
  if (!done) return report_error(done.error());
  return report_problems(options.reading, problems);
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
