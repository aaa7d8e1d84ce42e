#include <memory>

#include "bytes/input_file.h"
#include "cli/options/for_each_file.h"
#include "cli/options/reading_options.h"
#include "cli/verbs/verbs.h"
#include "import/open_recording.h"

namespace telltale::cli {
namespace {

int dump(const ReadingOptions& options, const ByteSink& sink) {
  const DumpStyle style = options.json ? DumpStyle::json : DumpStyle::text;
  ProblemLog problems;
  options.read->clear();
  const Result<void> done = for_each_file(
      options, [&](const InputFile& file, const FormatDescriptor& format, RecordFilter* chosen) {
        problems.merge(file.problems());
        if (options.strict) options.read->push_back(file.share());
        return format.dump(file, options.open_options(), style, sink, problems, chosen);
      });
  if (!done) return report_error(done.error());
  return report_problems(options, problems);
}

// Prints only what is new each time.
int dump_growing(const ReadingOptions& options) {
  NewLines lines;
  const int status = answer_and_follow(options, [&](std::vector<int64_t>& writers) {
    if (const auto recording = open_recording(options.open_options()))
      writers = (*recording)->writers();
    lines.restart();
    return dump(options, [&](std::string_view block) { return print_block(lines.take(block)); });
  });
  print(lines.rest());
  return status;
}

int run(const ReadingOptions& options) {
  return options.follow ? dump_growing(options) : dump(options, print_block);
}

}  // namespace

void add_dump_verb(Command app, int& status) {
  Command verb = app.add_verb("dump", "print every record with its offset, one per line");
  const auto options = std::make_shared<ReadingOptions>();
  add_reading_options(verb, *options);
  add_follow_option(verb, *options);
  verb.callback([options, &status] { status = run(*options); });
}

}  // namespace telltale::cli
