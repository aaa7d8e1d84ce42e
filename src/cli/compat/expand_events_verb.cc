// `telltale expand_events`, and libexec/telltale/expand_events: the program that StackTrack's
// specification describes.
#include <memory>
#include <string>

#include "bytes/input_file.h"
#include "cli/options/reading_options.h"
#include "cli/verbs/verbs.h"
#include "import/stacktrack/stacktrack_layout.h"
#include "output/dump/stacktrack_xml.h"

namespace telltale::cli {
namespace {

struct ExpandVerbOptions {
  ReadingOptions reading;
  stacktrack::ExpandOptions expand;
  std::string layout = "classic";
  bool show_format = false;
};

// Without a file: the layout that is described or named.
int show_known_format(const ExpandVerbOptions& options) {
  const std::string& path = options.reading.format_description;
  Result<stacktrack::FormatDescription> description =
      path.empty()
          ? stacktrack::known_layout(options.layout == "wide" ? stacktrack::Layout::wide
                                                              : stacktrack::Layout::classic)
          : open_format_description(path);
  if (!description) return report_error(description.error());
  const Result<void> done = print_block(stacktrack::raw_format_xml(*description));
  return done ? static_cast<int>(kDone) : report_error(done.error());
}

int run(const ExpandVerbOptions& options) {
  const OpenOptions open = options.reading.open_options();
  if (open.files.empty() && options.show_format) return show_known_format(options);
  if (open.files.empty()) return report_error(usage_error("FILE is required").error());
  ProblemLog problems;
  for (const std::string& path : open.files) {
    const Result<InputFile> file = InputFile::open(path, open.limits);
    if (!file) return report_error(file.error());
    Result<stacktrack::StreamFormat> format = stacktrack_format(*file, open);
    if (!format) {
      if (format.error().file.empty()) format.error().file = path;
      return report_error(format.error());
    }
    problems.merge(file->problems());
    if (options.reading.strict) options.reading.read->push_back(file->share());
    const Result<void> done =
        options.show_format ? print_block(stacktrack::raw_format_xml(format->description))
                            : stacktrack::expand_events(file->bytes(), path, *format,
                                                        options.expand, print_block, problems);
    if (!done) return report_error(done.error());
  }
  return report_problems(options.reading, problems);
}

}  // namespace

void add_expand_events_verb(Command app, int& status) {
  Command verb =
      app.add_verb("expand_events", "print StackTrack records as XML, one element per record");
  const auto options = std::make_shared<ExpandVerbOptions>();
  verb.add_option("FILE", options->reading.files, "StackTrack streams; - is standard input");
  verb.add_flag("--show_format", options->show_format,
                "print the format of the files' records (without FILE: of a layout) instead");
  verb.add_option("--layout", options->layout,
                  "layout that --show_format prints if no FILE is given")
      .one_of({"classic", "wide"})
      .show_default();
  add_format_description_option(verb, options->reading);
  verb.add_flag("--as-printed", options->expand.as_printed,
                "print flags and pid as the specification's example does: hexadecimal digits "
                "filled up with zeros on the right");
  verb.add_flag("--document", options->expand.document,
                "a whole XML document: with a declaration and one outermost element");
  verb.add_flag(
      "--strict", options->reading.strict,
      "exit status 4 if part of the input is damaged or lost, or if check finds it invalid");
  verb.callback([options, &status] { status = run(*options); });
}

}  // namespace telltale::cli
