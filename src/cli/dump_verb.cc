#include <cerrno>
#include <memory>

#include "bytes/input_file.h"
#include "cli/format_tools.h"
#include "cli/reading_options.h"
#include "cli/verbs.h"

namespace telltale::cli {
namespace {

int run(const ReadingOptions& options) {
  const DumpStyle style = options.json ? DumpStyle::json : DumpStyle::text;
  const OpenOptions open = options.open_options();
  const ByteSink to_output = [](std::string_view block) -> Result<void> {
    if (print(block)) return {};
    return io_error("standard output", "cannot write", errno);
  };
  ProblemLog problems;
  for (const std::string& path : options.files) {
    const Result<InputFile> file = InputFile::open(path, open.limits);
    if (!file) return report_error(file.error());
    problems.merge(file->problems());
    const Result<const FormatTools*> tools = find_format_tools(*file, open);
    if (!tools) return report_error(tools.error());
    const Result<void> done = (*tools)->dump(*file, open, style, to_output, problems);
    if (!done) {
      Error error = done.error();
      if (error.file.empty()) error.file = file->name();
      return report_error(error);
    }
  }
  return report_problems(options, problems);
}

}  // namespace

void add_dump_verb(CLI::App& app, int& status) {
  CLI::App* verb = app.add_subcommand("dump", "every record, one a line, with its offset");
  const auto options = std::make_shared<ReadingOptions>();
  add_reading_options(*verb, *options);
  verb->callback([options, &status] { status = run(*options); });
}

}  // namespace telltale::cli
