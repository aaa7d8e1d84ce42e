// `telltale replay`: what happened, in order.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>

#include "analysis/calls/play_threads.h"
#include "base/counted.h"
#include "cli/options/function_match.h"
#include "cli/options/message.h"
#include "cli/options/reading_options.h"
#include "cli/verbs/verbs.h"
#include "import/format_descriptor.h"
#include "import/timed_calls.h"
#include "report/calls/replay_report.h"

namespace telltale::cli {
namespace {

struct ReplayVerbOptions {
  ReadingOptions reading;
  std::string last;
  std::string around;
  std::string margin = "1ms";
  std::optional<uint64_t> call;  // none: all
  bool merge = false;
  size_t limit = 1000;
  bool limit_is_given = false;
};

// --last and --around in the words of --time. Errors: usage.
Result<std::string> window_words(const ReplayVerbOptions& options) {
  if (!options.last.empty()) {
    if (!parse_duration_option(options.last))
      return usage_error("--last needs a time such as 10ms, but got " + options.last);
    return "-" + options.last + "..";
  }
  if (options.around.empty()) return options.reading.time;
  const std::optional<uint64_t> at = parse_duration_option(options.around);
  const std::optional<uint64_t> margin = parse_duration_option(options.margin);
  if (!at) return usage_error("--around needs a time such as 1.5ms, but got " + options.around);
  if (!margin) return usage_error("--margin needs a time such as 1ms, but got " + options.margin);
  return fmt::format("{}ns..{}ns", *at - std::min(*at, *margin), *at + *margin + 1);
}

void say_what_is_left_out(const ReplayVerbOptions& options, uint64_t steps) {
  if (options.limit_is_given) {
    print_message("telltale: only the first {}; -n 0 shows all\n",
                  steps == 1 ? "step" : counted(steps, "step"));
  } else if (steps > options.limit) {
    print_message(
        "telltale: only the first {} of {} steps; -n 0 shows all, --depth fewer, --last 10ms "
        "the end\n",
        options.limit, steps);
  }
}

// Of the end of the recording, the newest steps are shown. Returns how many there are.
uint64_t select_newest(const TimedCalls& calls, ReplayOptions& replayed) {
  const ReplayCount count = count_replay_steps(calls, replayed);
  if (count.steps > replayed.limit) replayed.selection.from = count.newest_from;
  replayed.limit = 0;
  return count.steps;
}

int answer(const Recording& recording, const ReplayVerbOptions& options, CallFilter filter) {
  const TimedCalls& calls = *recording.timed_calls();
  ProblemLog problems = recording.problems();
  const PlayedWindow window = window_of(calls, filter);
  filter.from_ns = CallFilter().from_ns;
  filter.to_ns = CallFilter().to_ns;
  ReplayOptions replayed{
      .selection = {.filter = filter, .from = window.from, .to = window.to, .call = {}},
      .merge = options.merge,
      .limit = options.limit,
      .reads_all = !options.limit_is_given};
  const bool is_text = !options.reading.json && !options.reading.csv;
  if (!options.limit_is_given && !is_text) replayed.limit = 0;
  if (options.call) {
    replayed.selection.call = *options.call;
    size_t threads = 0;
    for (const EventStream& stream : calls.streams())
      threads += filter.keeps_thread(stream.thread) ? 1 : 0;
    if (threads > 1) {
      return report_error(
          usage_error(fmt::format("--call counts the calls of one thread, but {} threads are "
                                  "selected; say which by --thread",
                                  threads))
              .error());
    }
  }
  const uint64_t limit = replayed.limit;
  const bool shows_newest = limit != 0 && !options.last.empty();
  const uint64_t in_window = shows_newest ? select_newest(calls, replayed) : 0;
  const StyledNames names(calls.functions(), options.reading.name_style());
  const ByteSink sink = print_block;
  BlockWriter out(sink);
  uint64_t steps = 0;
  if (options.reading.json) {
    steps = write_replay_json(calls, names, replayed, recording.format().name, problems, out);
  } else if (options.reading.csv) {
    steps = write_replay_csv(calls, names, replayed, problems, out);
  } else {
    steps = write_replay_text(calls, names, replayed, problems, out);
  }
  if (const Result<void> done = out.finish(); !done) return report_error(done.error());
  if (steps == 0) {
    if (!remark_no_match(calls, filter, options.reading.jobs))
      print_message("telltale: nothing happened in {}\n",
                    filter.keeps_everything() && options.reading.time.empty() && !options.call
                        ? "the recording"
                        : "what the options select");
  } else if (shows_newest && in_window > limit) {
    print_message("telltale: only the last {} of {} steps; -n 0 shows all, --depth fewer\n", limit,
                  in_window);
  } else if (limit != 0 && !shows_newest && steps >= limit) {
    say_what_is_left_out(options, steps);
  }
  remark_unnamed(names, names.described(), options.reading);
  return report_problems(options.reading, problems);
}

int run(ReplayVerbOptions& options) {
  const Result<std::string> window = window_words(options);
  if (!window) return report_error(window.error());
  options.reading.time = *window;
  return answer_recording(options.reading,
                          [&](const Recording& recording, const CallFilter& filter) {
                            return answer(recording, options, filter);
                          });
}

}  // namespace

void add_replay_verb(Command app, int& status) {
  Command verb = app.add_verb(
      "replay", "show what happened, in order: calls with durations, arguments and events");
  const auto options = std::make_shared<ReplayVerbOptions>();
  add_reading_options(verb, options->reading);
  options->reading.text_has_places = false;
  add_csv_option(verb, options->reading);
  add_names_option(verb, options->reading);
  verb.add_option("--last", options->last, "only the last part of the recording: 10ms")
      .type_name("DURATION")
      .excludes("--time");
  verb.add_option("--around", options->around,
                  "only what happened around this time since the start of the recording: 1.5ms")
      .type_name("TIME")
      .excludes("--time")
      .excludes("--last");
  verb.add_option("--margin", options->margin, "how long before and after --around")
      .type_name("DURATION")
      .show_default()
      .needs("--around");
  verb.add_option("--call", options->call,
                  "only the call with this number in its thread, and what is inside")
      .type_name("N")
      .check([](const std::string& typed) {
        return typed == "0" ? "needs a number of at least 1, but got 0" : "";
      })
      .excludes("--time")
      .excludes("--last")
      .excludes("--around");
  verb.add_flag("--merge", options->merge, "threads in order of time, not one after the other");
  const Option limit =
      add_limit_option(verb, options->limit,
                       "at most this many steps, with --last the newest; 0: all. --json and --csv "
                       "have all unless it is given")
          .show_default();
  verb.callback([options, limit, &status] {
    options->limit_is_given = limit.count() != 0;
    status = run(*options);
  });
}

}  // namespace telltale::cli
