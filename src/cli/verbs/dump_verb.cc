#include <fmt/format.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/joined.h"
#include "bytes/input_file.h"
#include "cli/options/for_each_file.h"
#include "cli/options/reading_options.h"
#include "cli/verbs/verbs.h"
#include "import/open_recording.h"
#include "output/dump/dump_output.h"

namespace telltale::cli {
namespace {

struct DumpOptions {
  ReadingOptions reading;
  std::string record;  // only records of this kind; empty: all
};

// The kind of records that the options choose. Errors: usage, which lists the kinds.
Result<RecordTable> chosen_records(const DumpOptions& options, const FormatDescriptor& format) {
  const std::vector<RecordTable> tables = format.records();
  if (const RecordTable* const table = find_record(tables, options.record)) return *table;
  std::vector<std::string_view> names;
  for (const RecordTable& table : tables) names.push_back(table.record);
  const std::string kinds =
      fmt::format("the kinds of records of {} are {}", format.noun, joined(names, ", "));
  if (options.record.empty())
    return usage_error("--csv prints records of one kind, which --record chooses; " + kinds);
  // `info` counts entries and exits; both are records of one kind here.
  const auto of = std::ranges::find_if(
      names, [&](std::string_view name) { return options.record.starts_with(name); });
  if (of != names.end()) {
    return usage_error(fmt::format("--record: {} is one of the records of the kind {}; {}",
                                   options.record, *of, kinds));
  }
  return usage_error(fmt::format("--record: there is no {}; {}", options.record, kinds));
}

// Records show ids, not names. Programs that do not apply are refused all the same, as by the verbs
// that use them.
Result<void> check_programs(const InputFile& file, const FormatDescriptor& format,
                            const OpenOptions& options) {
  if (options.programs.empty()) return {};
  std::vector<InputFile> alone;
  alone.push_back(file.share());
  const auto recording = format.open(std::move(alone), options);
  // Records of a file that cannot be opened can be printed up to the damage.
  if (recording || recording.error().file == file.name()) return {};
  return std::unexpected(recording.error());
}

// Calls `begin_file` with the name of each file before it prints the records of that file.
int dump(const DumpOptions& options, const ByteSink& sink,
         const std::function<void(const std::string&)>& begin_file) {
  const ReadingOptions& reading = options.reading;
  ProblemLog problems;
  bool has_header = false;  // of CSV
  const Result<void> done = for_each_file(
      reading,
      [&](const InputFile& file, const FormatDescriptor& format,
          RecordFilter* chosen) -> Result<void> {
        if (const Result<void> fits = check_programs(file, format, reading.open_options()); !fits)
          return fits;
        problems.merge(file.problems());
        if (reading.strict) reading.read->push_back(file.share());
        DumpStyle style = (reading.json ? DumpStyle::kJson : DumpStyle::kText).only(options.record);
        RecordTable table;
        // A description has other kinds.
        if (reading.csv || (!options.record.empty() && !format.takes_description)) {
          Result<RecordTable> found = chosen_records(options, format);
          if (!found) return std::unexpected(found.error());
          table = *std::move(found);
        }
        if (reading.csv) {
          style = DumpStyle::csv(table);
          if (!has_header) {
            if (const Result<void> written = sink(csv_header(table)); !written) return written;
          }
          has_header = true;
        }
        begin_file(file.name());
        return format.dump(file, reading.open_options(), style, sink, problems, chosen);
      });
  if (!done) return report_error(done.error());
  return report_problems(reading, problems);
}

// Prints only what is new each time.
int dump_growing(const DumpOptions& options) {
  NewLines lines(options.reading.csv ? options.record : std::string());
  const int status = answer_and_follow(options.reading, [&](std::vector<int64_t>& writers) {
    if (const auto recording = open_recording(options.reading.open_options()))
      writers = (*recording)->writers();
    lines.restart();
    return dump(
        options, [&](std::string_view block) { return print_block(lines.take(block)); },
        [&](const std::string& file) { lines.begin_file(file); });
  });
  print(lines.rest());
  return status;
}

int run(const DumpOptions& options) {
  if (options.reading.follow) return dump_growing(options);
  return dump(options, print_block, [](const std::string&) {});
}

}  // namespace

void add_dump_verb(Command app, int& status) {
  Command verb = app.add_verb("dump", "print every record with its offset, one per line");
  const auto options = std::make_shared<DumpOptions>();
  add_reading_options(verb, options->reading);
  add_csv_option(verb, options->reading);
  verb.add_option("--record", options->record, "only records of this kind, such as Function")
      .type_name("KIND");
  add_follow_option(verb, options->reading);
  verb.callback([options, &status] { status = run(*options); });
}

}  // namespace telltale::cli
