// `telltale slow` and `telltale histogram`: the calls of one function.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "analysis/calls/call_durations.h"
#include "base/joined.h"
#include "cli/options/function_match.h"
#include "cli/options/measure_option.h"
#include "cli/options/message.h"
#include "cli/options/net_option.h"
#include "cli/options/reading_options.h"
#include "cli/options/shell_command.h"
#include "cli/verbs/verbs.h"
#include "import/format_descriptor.h"
#include "import/timed_calls.h"
#include "report/calls/slow_report.h"
#include "report/schemas/schemas.h"

namespace telltale::cli {
namespace {

struct SlowOptions {
  ReadingOptions reading;
  std::string function;
  std::string table;
  size_t limit = 5;
};

// The functions that were asked for; passes their calls to use(const RecordedCall&). `chosen`: its
// functions and its depth select the calls, too, not only what is inside them. Errors: usage, if
// the recording has no calls or no such function.
template <typename Use>
Result<std::vector<FunctionDurations>> chosen_functions(const TimedCalls& calls,
                                                        const SlowOptions& options,
                                                        const CallFilter& filter,
                                                        const CallFilter& chosen, Use use,
                                                        ProblemLog& problems) {
  DurationCollector collector;
  for_each_call(
      calls, filter, chosen.max_depth,
      [&](FunctionId id) {
        const FunctionInfo& function = calls.functions().describe(id);
        return means_function(options.function, function) && chosen.matches(function);
      },
      [&](const RecordedCall& call) {
        collector.add(call);
        if (call.ended != CloseKind::unfinished) use(call);
      },
      problems);
  std::vector<FunctionDurations> functions = collector.finish();
  if (functions.empty()) {
    const std::vector<Measure> has = calls.measures_with_data(options.reading.jobs);
    if (std::ranges::find(has, Measure::time) == has.end())
      return usage_error(describe_nothing_measured("time", has));
    const std::string why = describe_no_function(calls, options.function, options.reading.jobs);
    if (!why.empty()) return usage_error(why);
  }
  return functions;
}

// Prints a section, or write_text(out).
template <typename WriteText>
int print_section(const Section& section, const DocumentSchema& schema, const Recording& recording,
                  const SlowOptions& options, const ProblemLog& problems, WriteText write_text) {
  const ByteSink sink = print_block;
  BlockWriter out(sink);
  if (options.reading.json) {
    write_section_json(section, schema, recording.format().name, problems, out);
  } else if (options.reading.csv) {
    const Table* const table = section.table(options.table);
    table->write_csv(out);
  } else {
    write_text(out);
  }
  if (const Result<void> done = out.finish(); !done) return report_error(done.error());
  return report_problems(options.reading, problems);
}

// Says on standard error why no call is shown, which threads and patterns of the filter match
// nothing, and which functions have no name.
void remark(const TimedCalls& calls, const CallFilter& filter, const FunctionNames& names,
            const std::vector<FunctionDurations>& functions, const SlowOptions& options) {
  std::vector<FunctionId> ended;
  for (const FunctionDurations& one : functions)
    if (one.ended != 0) ended.push_back(one.function);
  const bool explained = ended.empty()
                             ? remark_no_match(calls, filter, options.reading.jobs)
                             : remark_no_match_at_any_time(calls, filter, options.reading.jobs);
  if (ended.empty() && !explained)
    print_message("telltale: no call that the options select ended within the recording\n");
  remark_unnamed(names, ended, options.reading);
}

int answer_slow(const Recording& recording, const SlowOptions& options, const CallFilter& filter) {
  const TimedCalls& calls = *recording.timed_calls();
  ProblemLog problems = recording.problems();
  LongestCalls longest(options.limit);
  auto functions = chosen_functions(
      calls, options, filter, {}, [&](const RecordedCall& call) { longest.add(call); }, problems);
  if (!functions) return report_error(functions.error());
  const SlowCalls slow = find_slow_calls(calls, filter, *std::move(functions), longest.finish());
  const StyledNames names(calls.functions(), options.reading.name_style());
  std::vector<std::string> words = {"telltale", "replay"};
  for (const std::string& file : options.reading.files)
    words.push_back(file.starts_with('-') && file != "-" ? "./" + file : file);
  for (const std::string& program : options.reading.programs)
    words.insert(words.end(), {"--program", program});
  if (!options.reading.format_description.empty())
    words.insert(words.end(), {"--format-description", options.reading.format_description});
  const std::string command = shell_command(words);
  const int status =
      print_section(slow_section(calls, names, slow), schemas::kSlow, recording, options, problems,
                    [&](BlockWriter& out) { write_slow_text(calls, names, slow, command, out); });
  remark(calls, filter, names, slow.functions, options);
  return status;
}

int answer_histogram(const Recording& recording, const SlowOptions& options,
                     const CallFilter& filter) {
  const TimedCalls& calls = *recording.timed_calls();
  ProblemLog problems = recording.problems();
  DurationBuckets buckets(calls.clock());
  auto functions = chosen_functions(
      calls, options, filter, filter, [&](const RecordedCall& call) { buckets.add(call.duration); },
      problems);
  if (!functions) return report_error(functions.error());
  const CallHistogram histogram{*std::move(functions), buckets.all()};
  const StyledNames names(calls.functions(), options.reading.name_style());
  const int status = print_section(
      histogram_section(calls, names, histogram), schemas::kHistogram, recording, options, problems,
      [&](BlockWriter& out) { write_histogram_text(calls, names, histogram, out); });
  remark(calls, filter, names, histogram.functions, options);
  return status;
}

// FUNCTION and the options of both verbs.
void add_options(Command verb, SlowOptions& options, const std::vector<std::string>& tables) {
  verb.add_option("FUNCTION", options.function,
                  "name of the function without its parameters, or a shell pattern")
      .type_name("FUNCTION")
      .required();
  add_reading_options(verb, options.reading);
  options.reading.text_has_places = false;
  add_csv_option(verb, options.reading);
  add_names_option(verb, options.reading);
  options.table = tables.front();
  verb.add_option("--table", options.table, "what --csv prints").one_of(tables).show_default();
}

bool is_file(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

template <typename Answer>
int run(const SlowOptions& options, Answer answer) {
  const int status =
      answer_recording(options.reading, [&](const Recording& recording, const CallFilter& filter) {
        return answer(recording, options, filter);
      });
  // Other verbs begin with the recording.
  const std::vector<std::string>& files = options.reading.files;
  if (status != 0 && is_file(options.function) && !files.empty() && !is_file(files.back()))
    print_message("telltale: {} is a file: FUNCTION comes before the files\n", options.function);
  return status;
}

}  // namespace

void add_slow_verb(Command app, int& status) {
  Command verb = app.add_verb("slow",
                              "show the slowest calls of a function: where their time went, "
                              "events inside, other threads, and what a typical call does");
  const auto options = std::make_shared<SlowOptions>();
  add_options(verb, *options, {"calls", "callees", "events", "meanwhile", "functions"});
  add_limit_option(verb, options->limit, "at most this many calls; 0: all").show_default();
  verb.callback([options, &status] { status = run(*options, answer_slow); });
}

void add_histogram_verb(Command app, int& status) {
  Command verb =
      app.add_verb("histogram", "show how long the calls of a function took, and how many");
  const auto options = std::make_shared<SlowOptions>();
  add_options(verb, *options, {"buckets", "functions"});
  add_net_option(verb, options->reading);
  verb.callback([options, &status] { status = run(*options, answer_histogram); });
}

}  // namespace telltale::cli
