// `telltale slow` and `telltale histogram`: the calls of one function.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "analysis/calls/call_durations.h"
#include "base/joined.h"
#include "cli/options/function_match.h"
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

// The calls of the function that was asked for. Errors: usage, if the recording has no such
// function.
// `chosen`: its functions and its depth select the calls, too, not only what is inside them.
Result<CallDurations> durations_of(const TimedCalls& calls, const SlowOptions& options,
                                   const CallFilter& filter, const CallFilter& chosen,
                                   ProblemLog& problems) {
  CallDurations durations = collect_durations(
      calls, filter, chosen.max_depth,
      [&](FunctionId id) {
        const FunctionInfo& function = calls.functions().describe(id);
        return means_function(options.function, function) && chosen.matches(function);
      },
      problems);
  if (durations.ended.empty() && durations.open.empty()) {
    const std::string why = describe_no_function(calls, options.function, options.reading.jobs);
    if (!why.empty()) return usage_error(why);
  }
  return durations;
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

void remark_none(const CallDurations& durations) {
  if (!durations.ended.empty()) return;
  fmt::print(stderr, "telltale: no call that the options select ended within the recording\n");
}

void remark_functions(const FunctionNames& names, const CallDurations& durations,
                      const SlowOptions& options) {
  std::vector<FunctionId> functions;
  for (const RecordedCall& call : durations.ended)
    if (functions.empty() || functions.back() != call.function) functions.push_back(call.function);
  remark_unnamed(names, functions, options.reading);
}

int answer_slow(const Recording& recording, const SlowOptions& options, const CallFilter& filter) {
  const TimedCalls& calls = *recording.timed_calls();
  ProblemLog problems = recording.problems();
  Result<CallDurations> durations = durations_of(calls, options, filter, {}, problems);
  if (!durations) return report_error(durations.error());
  const SlowCalls slow = find_slow_calls(calls, filter, *std::move(durations), options.limit);
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
  remark_none(slow.durations);
  remark_functions(names, slow.durations, options);
  return status;
}

int answer_histogram(const Recording& recording, const SlowOptions& options,
                     const CallFilter& filter) {
  const TimedCalls& calls = *recording.timed_calls();
  ProblemLog problems = recording.problems();
  const Result<CallDurations> durations = durations_of(calls, options, filter, filter, problems);
  if (!durations) return report_error(durations.error());
  const StyledNames names(calls.functions(), options.reading.name_style());
  const int status = print_section(
      histogram_section(calls, names, *durations), schemas::kHistogram, recording, options,
      problems, [&](BlockWriter& out) { write_histogram_text(calls, names, *durations, out); });
  remark_none(*durations);
  remark_functions(names, *durations, options);
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

template <typename Answer>
int run(const SlowOptions& options, Answer answer) {
  return answer_recording(options.reading,
                          [&](const Recording& recording, const CallFilter& filter) {
                            return answer(recording, options, filter);
                          });
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
