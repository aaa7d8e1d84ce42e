#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <ranges>
#include <string>
#include <vector>

#include "base/counted.h"
#include "base/unrecorded_processes.h"
#include "cli/options/message.h"
#include "cli/options/reading_options.h"
#include "cli/record/child_process.h"
#include "cli/record/left_files.h"
#include "cli/record/recorder_plan.h"
#include "cli/record/recording_progress.h"
#include "cli/record/repeated_input.h"
#include "cli/record/shell_status.h"
#include "cli/record/volume_hint.h"
#include "cli/study/study_recorder.h"
#include "cli/verbs/verbs.h"
#include "import/recording.h"
#include "output/escape.h"
#include "output/table/table.h"

namespace telltale::cli {
namespace {

struct RunOptions {
  RecorderOptions recorder;
  size_t compare = 0;  // runs without the recorder, and with it
  bool quiet = false;
  StudyOptions study;
  std::vector<Option> of_runs;  // options that need --study or --collect
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// Elapsed and processor time of several runs of one command.
struct Times {
  std::vector<double> elapsed;
  std::vector<double> cpu;
  void add(const ChildOutcome& outcome) {
    elapsed.push_back(outcome.elapsed_seconds);
    cpu.push_back(outcome.cpu_seconds);
  }
};

void say(const std::string& text) { print_message("telltale: {}\n", visible(text)); }

std::string show_seconds(double seconds) { return show_duration(seconds * 1e9); }

// Recorders need some room to begin.
constexpr uint64_t kLeastBytes = uint64_t{256} << 10;
uint64_t bytes_available(const std::string& folder) {
  std::error_code failure;
  const std::filesystem::space_info space = std::filesystem::space(folder, failure);
  return failure ? kLeastBytes : space.available;
}

// Names the recordings, or says why there are none.
void report_files(const LeftFiles& left, const RecorderPlan& plan) {
  if (!plan.remark.empty()) say(plan.remark);
  // One more is named instead of a line that says that there is one more.
  constexpr size_t kMostNamed = 10;
  const size_t named = left.files.size() <= kMostNamed + 1 ? left.files.size() : kMostNamed;
  for (const LeftFile& file : left.files | std::views::take(named)) {
    say(fmt::format("recorded {} ({}{}{})", file.path, counted(file.bytes, "byte"),
                    file.note.empty() ? "" : "; ", file.note));
  }
  if (named < left.files.size()) {
    uint64_t bytes = 0;
    size_t noted = 0;
    for (const LeftFile& file : left.files | std::views::drop(named)) {
      bytes += file.bytes;
      noted += file.note.empty() ? 0 : 1;
    }
    say(fmt::format("recorded {} more files ({}{})", left.files.size() - named,
                    counted(bytes, "byte"),
                    noted == 0 ? ""
                               : fmt::format("; {} of them lost events or are of processes that "
                                             "still run",
                                             noted)));
  }
  if (left.unrecorded_processes != 0)
    say(unrecorded_processes_words(left.unrecorded_processes, left.unrecorded_error));
  if (left.compared_linkage_names) {
    say("--function and --without were compared with linkage names ('_ZN1V3getEi') alone: the "
        "program has no C++ library, whose __cxa_demangle tells other names");
  }
  if (!left.files.empty()) {
    std::vector<std::string> paths;
    for (const LeftFile& file : left.files)
      if (file.is_xray) paths.push_back(file.path);  // the options that they name are for XRay
    for (const std::string& hint : volume_hints(paths)) say(hint);
    return;
  }
  if (left.unrecorded_processes != 0) return;
  if (left.left_out != 0) {
    say(fmt::format(
        "nothing was recorded: --min, --depth or --threads left out {}",
        left.left_out == 1 ? "the only event" : fmt::format("all {} events", left.left_out)));
  } else if (const uint64_t available = bytes_available(plan.folder); available < kLeastBytes) {
    say(fmt::format("nothing was recorded: {} has {} free", plan.folder,
                    counted(available, "byte")));
  } else if (!left.removed.empty()) {
    say(fmt::format(
        "nothing was recorded: {} was made and removed again, by the program or another one, or by "
        "the recorder because there was no space for it",
        left.removed));
  } else if (!left.waiting.empty()) {
    const LiveProcess& first = left.waiting.front();
    const size_t others = left.waiting.size() - 1;
    say(fmt::format(
        "nothing was recorded yet: {}; but process {} ({}{}) still runs, and may record into {}",
        plan.why_nothing, first.pid, first.name,
        others == 0 ? "" : fmt::format(", and {} more", others), plan.folder));
  } else {
    say("nothing was recorded: " + plan.why_nothing);
  }
}

void report_comparison(const Times& bare, const Times& recorded) {
  const auto ratio = [](const std::vector<double>& with, const std::vector<double>& without) {
    return median(without) > 0 ? fmt::format("{:.2f} times", median(with) / median(without))
                               : std::string("no ratio");
  };
  say(fmt::format("without the recorder: {} elapsed, {} processor time (medians of {})",
                  show_seconds(median(bare.elapsed)), show_seconds(median(bare.cpu)),
                  counted(bare.cpu.size(), "run")));
  say(fmt::format("with it:              {} elapsed, {} processor time",
                  show_seconds(median(recorded.elapsed)), show_seconds(median(recorded.cpu))));
  say(fmt::format("total overhead:       {} elapsed, {} processor time",
                  ratio(recorded.elapsed, bare.elapsed), ratio(recorded.cpu, bare.cpu)));
}

// Runs that end differently may have done different work.
void report_endings(const std::map<int, size_t>& endings) {
  if (endings.size() < 2) return;
  std::vector<std::string> words;
  for (const auto& [status, runs] : endings) {
    words.push_back(fmt::format("{} of {}",
                                WIFEXITED(status) ? fmt::format("status {}", WEXITSTATUS(status))
                                                  : fmt::format("signal {}", WTERMSIG(status)),
                                counted(runs, "run")));
  }
  say(fmt::format("the runs ended differently, which may explain the difference: {}",
                  join_words(words, "and")));
}

int report_start_failure(const Error& error, int start_failure) {
  report_error(error);
  return status_of_start_failure(start_failure);
}

int run_once(const RecorderPlan& plan, const RunOptions& options) {
  int start_failure = 0;
  FolderWatch watch(plan.folder);
  const Result<ChildOutcome> outcome = [&] {
    RecordingProgress progress(plan, options.quiet);
    return run_child({options.recorder.command, plan.environment, [&progress] { progress.show(); },
                      progress.interval_ms()},
                     start_failure);
  }();
  if (!outcome) return report_start_failure(outcome.error(), start_failure);
  const LeftFiles left = find_left_files(plan, *outcome, watch);
  if (!options.quiet) report_files(left, plan);
  return pass_on(*outcome);
}

int compare(const RecorderPlan& plan, const RunOptions& options) {
  const Result<RepeatedInput> input = RepeatedInput::prepare();
  if (!input) return report_error(input.error());
  if (input->is_terminal() && !options.quiet)
    say("standard input is a terminal: each run reads from it separately");
  const ChildCommand bare_command{options.recorder.command, {}};
  const ChildCommand command{options.recorder.command, plan.environment};
  Times bare;
  Times recorded;
  ChildOutcome last;
  std::map<int, size_t> endings;  // by the status of waitpid
  FolderWatch watch(plan.folder);
  for (size_t i = 0; i < 2 * options.compare; ++i) {
    const bool records = i % 2 == 1;
    if (records) {
      if (auto cleared = clear_left_files(plan); !cleared) return report_error(cleared.error());
      (void)watch.removed();  // these are no loss
    }
    if (auto again = input->rewind(); !again) return report_error(again.error());
    int start_failure = 0;
    const Result<ChildOutcome> outcome = run_child(records ? command : bare_command, start_failure);
    if (!outcome) return report_start_failure(outcome.error(), start_failure);
    if (outcome->told_to_end != 0) return end_by_signal(outcome->told_to_end);
    (records ? recorded : bare).add(*outcome);
    endings[outcome->wait_status] += 1;
    last = *outcome;
  }
  const LeftFiles left = find_left_files(plan, last, watch);
  if (!options.quiet) {
    report_files(left, plan);
    report_comparison(bare, recorded);
    report_endings(endings);
  }
  return pass_on(last);
}

// Runs of a program that telltale-cc built, which records itself.
int run_study(RunOptions& options) {
  // `--study -- PROG`: the folder is missing.
  if (options.study.folder.starts_with('-'))
    return report_error(
        usage_error("--study needs a folder, but got " + options.study.folder).error());
  RecorderOptions standard;
  standard.command = options.recorder.command;
  if (options.recorder != standard || options.compare != 0) {
    return report_error(usage_error("--study and --collect keep reports of programs that "
                                    "telltale-cc built; options of the XRay and StackTrack "
                                    "recorders and --overhead have no meaning with them")
                            .error());
  }
  // As the server checks it (docs/formats/collect.md).
  constexpr size_t kMostVersion = 64;
  const auto is_visible = [](char c) { return c >= ' ' && c <= '~'; };
  if (options.study.version.size() > kMostVersion ||
      !std::ranges::all_of(options.study.version, is_visible))
    return report_error(
        usage_error("--release has more than 64 characters, or other than visible ASCII ones")
            .error());
  options.study.quiet = options.quiet;
  options.study.command = options.recorder.command;
  return record_study(options.study);
}

int run(RunOptions& options) {
  if (!options.study.folder.empty() || !options.study.collect_url.empty())
    return run_study(options);
  if (std::ranges::any_of(options.of_runs, [](const Option& one) { return one.count() != 0; }))
    return report_error(
        usage_error("--times, --sparsity, --label and their kind need --study or --collect")
            .error());
  const Result<RecorderPlan> plan = plan_recording(options.recorder);
  if (!plan) return report_error(plan.error());
  return options.compare == 0 ? run_once(*plan, options) : compare(*plan, options);
}

void add_what_options(Command verb, RecorderOptions& options) {
  const Option xray = verb.add_flag("--xray", options.xray,
                                    "record the functions of a program built with clang's "
                                    "-fxray-instrument or any compiler's -finstrument-functions");
  verb.add_flag("--stacktrack", options.stacktrack,
                "record the StackTrack checkpoints placed in the program")
      .excludes(xray);
  verb.add_option("-o,--output", options.output,
                  "name of the recording; existing files are never overwritten (default: derived "
                  "from program and process ID)")
      .type_name("FILE");
  verb.add_option("--mode", options.mode,
                  "continuous: a growing file; ring: a file that keeps the newest events; "
                  "snapshot: a ring in memory, written on --signal and when the program dies")
      .one_of({"continuous", "ring", "snapshot"});
  verb.add_option("--size", options.size,
                  "maximum size of the recording in bytes; suffixes K, M, G")
      .type_name("SIZE");
  verb.add_option("--signal", options.signal, "signal that writes a snapshot").type_name("NAME");
}

void add_choice_options(Command verb, RecorderOptions& options) {
  verb.add_option("--function", options.functions,
                  "record only functions whose linkage or demangled name, with or without return "
                  "type and parameters, matches this shell pattern")
      .type_name("GLOB")
      .one_value_each();
  verb.add_option("--without", options.without, "skip functions that match this pattern")
      .type_name("GLOB")
      .one_value_each();
  verb.add_option("--depth", options.depth, "skip calls nested deeper than this")
      .in_range(uint64_t{1}, uint64_t{UINT32_MAX})
      .type_name("N");
  verb.add_option("--min", options.min, "skip calls shorter than this, such as 5us")
      .type_name("TIME");
  verb.add_flag("--auto", options.drop_frequent,
                "drop functions that are called more than 100,000 times a second at under 200 ns "
                "each, from then on (--set auto=N/TIME for other limits)");
  verb.add_option("--threads", options.threads, "record only every Nth thread")
      .in_range(uint64_t{1}, uint64_t{1'000'000})
      .type_name("N");
  verb.add_option(
          "--sparse", options.sparse,
          "read the clock only on every Nth event and after gaps; times in between are estimated")
      .in_range(size_t{2}, size_t{255})
      .excludes("--auto")
      .type_name("N");
  verb.add_option("--fdr-version", options.version,
                  "version of XRay's flight data recorder format that is written")
      .one_of_numbers({1, 5});
  verb.add_flag("--no-fork", options.no_fork, "do not record forked children");
  verb.add_flag("--control", options.control,
                "let `telltale control` stop, start and change the recording while the program "
                "runs; costs a thread in each process");
  verb.add_option("--set", options.settings,
                  "any other setting of the recorder, as in its environment variable")
      .type_name("KEY=VALUE")
      .one_value_each();
}

// Returns the options that need --study or --collect.
std::vector<Option> add_study_options(Command verb, StudyOptions& options) {
  constexpr const char* kGroup =
      "Runs of a program built by telltale-cc, kept for `telltale isolate`";
  verb.add_option("--study", options.folder,
                  "add the report and the outcome of each run, of programs with path tracing also "
                  "the file of its paths, to this study, a folder that is made "
                  "if it is not there")
      .type_name("DIR")
      .group(kGroup);
  std::vector<Option> of_runs;
  const auto add = [&](Option option) { of_runs.push_back(option.group(kGroup)); };
  add(verb.add_option("--times", options.times,
                      "run the program N times. {} in an argument, and TELLTALE_RUN in the "
                      "environment, are the number of the run")
          .in_range(uint64_t{1}, uint64_t{1} << 32)
          .type_name("N"));
  add(verb.add_option("--jobs", options.parallel, "runs at a time")
          .in_range(uint64_t{1}, uint64_t{1024})
          .type_name("J"));
  add(verb.add_option("--sparsity", options.sparsity,
                      "observe one in N places; 1: everything, the default of --study. With "
                      "--collect alone the default is what the server asked for, or 100")
          .in_range(uint64_t{1}, uint64_t{1} << 53)
          .type_name("N"));
  add(verb.add_option("--seed", options.seed,
                      "of the sampling of the first run; each other run takes the next number "
                      "(default: random)")
          .type_name("S"));
  add(verb.add_option("--release", options.version,
                      "version of the program, such as 1.4.2, which is kept with its runs for "
                      "people; builds are told apart by build-ids")
          .type_name("TEXT"));
  add(verb.add_option("--label", options.label_command,
                      "a command for sh that labels a run by its exit status: 0 passed, 125 "
                      "skipped, others failed. TELLTALE_OUTPUT is the file with the run's output; "
                      "TELLTALE_STATUS, TELLTALE_SIGNAL and others are as for `telltale study`. "
                      "Without it a run fails by a signal or a status that is not 0")
          .type_name("CMD"));
  add(verb.add_option("--reference", options.reference,
                      "a run fails if its output differs from that of this program, called with "
                      "the same arguments, or from this file; {} in its name is the run's number")
          .type_name("PROG|FILE"));
  add(verb.add_option("--timeout", options.timeout,
                      "a run fails if it takes longer than this, such as 10s, and is ended")
          .type_name("TIME"));
  add(verb.add_option("--program", options.programs,
                      "a program or library with sites that the command starts or loads; its own "
                      "sites are known")
          .type_name("BIN")
          .one_value_each());
  constexpr const char* kCollectGroup = "Reports of these runs, sent to `telltale collect`";
  verb.add_option("--collect", options.collect_url,
                  "put a report of each run into a folder, and send what is there to this server "
                  "when the program has ended, in the background")
      .type_name("URL")
      .group(kCollectGroup);
  const auto add_collecting = [&](Option option) {
    option.group(kCollectGroup).needs("--collect");
  };
  add_collecting(verb.add_flag("--collect-paths", options.collect_paths,
                               "also send the path file of each run (a small core file), if "
                               "telltale-cc --trace built the program. It contains memory of the "
                               "stacks, and so perhaps private data"));
  add_collecting(verb.add_flag("--ask", options.ask,
                               "ask the user on the terminal, unless ~/.config/telltale/collect "
                               "has the answer; without a terminal nothing is reported"));
  add_collecting(verb.add_option("--spool", options.spool,
                                 "the folder (default: TELLTALE_COLLECT, or telltale/spool in the "
                                 "user's folder for state)")
                     .type_name("DIR"));
  add_collecting(verb.add_option("--token-file", options.token_file,
                                 "file with the token that the server asks for (default: "
                                 "TELLTALE_TOKEN)")
                     .type_name("FILE"));
  return of_runs;
}

}  // namespace

void add_run_verb(Command app, int& status) {
  Command verb = app.add_verb("run", "run a program and record it; also: telltale record");
  const auto options = std::make_shared<RunOptions>();
  add_what_options(verb, options->recorder);
  add_choice_options(verb, options->recorder);
  verb.add_option("--overhead", options->compare,
                  "run the program N times without and N times with the recorder, alternately, and "
                  "print the cost of recording; keeps the last recording. Each run reads the same "
                  "standard input: a pipe is read to its end first")
      .in_range(size_t{1}, size_t{1000})
      .type_name("N");
  options->of_runs = add_study_options(verb, options->study);
  verb.add_flag("-q,--quiet", options->quiet, "print nothing about the recording");
  verb.add_option(
          "PROGRAM", options->recorder.command,
          "program and arguments; put -- before them so that their options are not telltale's")
      .required();
  verb.end_options_at_positionals();
  verb.footer(
      "Exit status: the program's; if a signal ends it, telltale ends by the same\n"
      "signal. 126 and 127: it could not be run, or does not exist. 2 and 3: nothing\n"
      "was run. With --times: 0; 130: a signal ended the work; 141: it stopped because\n"
      "nobody reads its output any more.\n");
  verb.callback([options, &status] { status = run(*options); });
}

}  // namespace telltale::cli
