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
  const ByteSink to_output = [](std::string_view block) -> Result<void> {
    if (print(block)) return {};
    return io_error("standard output", "cannot write", errno);
  };
  ProblemLog problems;
  const Result<void> done = for_each_file(
      options, [&](const InputFile& file, const FormatTools& tools, RecordFilter* chosen) {
        problems.merge(file.problems());
        return tools.dump(file, options.open_options(), style, to_output, problems, chosen);
      });
  if (!done) return report_error(done.error());
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
