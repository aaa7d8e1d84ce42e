// `telltale bench`: two commands, recorded in turns and compared.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "bytes/temporary_path.h"
#include "cli/command_line.h"
#include "cli/options/message.h"
#include "cli/record/child_process.h"
#include "cli/record/shell_status.h"
#include "cli/verbs/diff_runs.h"
#include "cli/verbs/verbs.h"
#include "output/escape.h"

namespace telltale::cli {
namespace {

struct BenchOptions {
  ReadingOptions reading;
  std::vector<std::string> words;     // CMD_A, the separator, CMD_B
  std::vector<std::string> recorder;  // options of `telltale run`
  std::string keep;                   // folder; empty: a temporary one
  int runs = 5;
  DiffRunsOptions diff;
};

// The folder of the recordings; a temporary one unless it is to be kept.
class RunFolder {
 public:
  static Result<RunFolder> make(const std::string& keep) {
    if (keep.empty()) {
      Result<TemporaryPath> temporary = TemporaryPath::make_folder("telltale-bench-");
      if (!temporary) return std::unexpected(temporary.error());
      return RunFolder({}, *std::move(temporary));
    }
    std::error_code failure;
    std::filesystem::create_directories(keep, failure);
    if (failure) return io_error(keep, "cannot make", failure.value());
    return RunFolder(keep, {});
  }
  void remove_temporary() { temporary_.remove(); }
  // The folder of one run's recordings: a run records every process that it starts. Errors: usage,
  // if there is something in it; io.
  [[nodiscard]] Result<std::string> add_run(char side, int run) const {
    std::string folder = fmt::format("{}/{}{}", path(), side, run);
    std::error_code failure;
    std::filesystem::create_directory(folder, failure);
    if (failure) return io_error(folder, "cannot make", failure.value());
    if (!std::filesystem::is_empty(folder, failure))
      return usage_error(folder + " exists; a recording never overwrites a file");
    return folder;
  }

 private:
  RunFolder(std::string kept, TemporaryPath temporary)
      : kept_(std::move(kept)), temporary_(std::move(temporary)) {}
  [[nodiscard]] const std::string& path() const {
    return temporary_.empty() ? kept_ : temporary_.path();
  }
  std::string kept_;         // empty: there is a temporary one
  TemporaryPath temporary_;  // empty: there is one that is kept
};

// `telltale run` in a separate process, which records into `folder`. Returns 0, or the signal by
// which the user ends the benchmark. Errors: if it cannot be started, or the program fails.
Result<int> record(const BenchOptions& options, const std::vector<std::string>& command,
                   const std::string& folder) {
  ChildCommand child{{"/proc/self/exe", "run", "--quiet", "-o", folder + "/run.xray"}, {}};
  child.words.insert(child.words.end(), options.recorder.begin(), options.recorder.end());
  child.words.emplace_back("--");
  child.words.insert(child.words.end(), command.begin(), command.end());
  child.output = STDERR_FILENO;  // standard output has the answer
  int start_failure = 0;
  const Result<ChildOutcome> outcome = run_child(child, start_failure);
  if (!outcome) return io_error("telltale run", "cannot start", start_failure);
  if (outcome->told_to_end != 0) return outcome->told_to_end;
  const int status = outcome->wait_status;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    std::error_code failure;
    if (!std::filesystem::is_empty(folder, failure)) return 0;
    return usage_error(fmt::format("nothing was recorded of {0}; `telltale run -- {0}` says why",
                                   fmt::join(command, " ")));
  }
  return usage_error(fmt::format("{} {}; a benchmark needs runs that succeed", command.front(),
                                 WIFEXITED(status)
                                     ? fmt::format("exited with {}", WEXITSTATUS(status))
                                     : fmt::format("was ended by signal {}", WTERMSIG(status))));
}

int run(BenchOptions& options) {
  const auto separator = std::ranges::find(options.words, kSideSeparator);
  const std::vector<std::string> before(options.words.begin(), separator);
  const std::vector<std::string> after(separator == options.words.end() ? separator : separator + 1,
                                       options.words.end());
  if (before.empty() || after.empty()) {
    return report_error(
        usage_error("bench needs two commands: telltale bench ./old ARGS -- ./new ARGS").error());
  }
  for (const std::string& program : {before.front(), after.front()}) {
    if (!find_in_path(program).empty()) continue;
    const int why = why_not_in_path(program);
    report_error(start_error(program, why).error());
    return status_of_start_failure(why);
  }
  Result<RunFolder> folder = RunFolder::make(options.keep);
  if (!folder) return report_error(folder.error());
  // In turns, so that what slows the machine down for a while slows both.
  for (int i = 1; i <= options.runs; ++i) {
    for (const auto& [side, command, runs] : {std::tuple('a', &before, &options.diff.before),
                                              std::tuple('b', &after, &options.diff.after)}) {
      const Result<std::string> of_run = folder->add_run(side, i);
      if (!of_run) return report_error(of_run.error());
      runs->push_back(*of_run);
      const Result<int> ended_by = record(options, *command, *of_run);
      if (!ended_by) return report_error(ended_by.error());
      if (*ended_by != 0) {
        folder->remove_temporary();
        return end_by_signal(*ended_by);
      }
    }
  }
  const int status = diff_runs(options.reading, options.diff);
  if (!options.diff.gate.gate.empty() && (status == kDone || status == kFinding))
    print_message("telltale: verdict: {}\n", status == kFinding ? "worse" : "not worse");
  return status;
}

}  // namespace

void add_bench_verb(Command app, int& status) {
  Command verb =
      app.add_verb("bench", "record two commands in turns, several times each, and compare them");
  const auto options = std::make_shared<BenchOptions>();
  verb.add_option("COMMAND", options->words, "the command before, --, the command after")
      .type_name("COMMAND")
      .required();
  verb.end_options_at_positionals();
  verb.add_option("--runs", options->runs, "runs of each command")
      .in_range(uint64_t{1}, uint64_t{1000})
      .type_name("N")
      .show_default();
  verb.add_option("--run-option", options->recorder,
                  "option of telltale run, such as --run-option=--min=1us")
      .type_name("OPTION")
      .one_value_each();
  verb.add_option("--keep", options->keep,
                  "keep the recordings in this folder, those of each run in a folder of it: a1, "
                  "b1, a2, ...")
      .type_name("FOLDER");
  verb.add_flag("--strict", options->reading.strict,
                "exit status 4 if part of a recording is damaged or lost");
  verb.add_flag("--json", options->reading.json, "print JSON with stable keys");
  add_csv_option(verb, options->reading);
  add_names_option(verb, options->reading);
  add_diff_gate_options(verb, options->diff.gate);
  verb.add_flag("--gate-all", options->diff.gate_all,
                "the gate compares all calls together instead of each function");
  add_limit_option(verb, options->diff.rows, "rows of the table; 0: all").show_default();
  verb.callback([options, &status] {
    options->reading.verb = "diff";
    status = run(*options);
  });
}

}  // namespace telltale::cli
