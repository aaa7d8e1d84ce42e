#include "cli/study/study_recorder.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "cli/collect/collected_runs.h"
#include "cli/options/message.h"
#include "cli/options/reading_options.h"
#include "cli/options/shell_command.h"
#include "cli/record/child_process.h"
#include "cli/record/repeated_input.h"
#include "cli/record/shell_status.h"
#include "cli/study/job_runner.h"
#include "cli/study/label_command.h"
#include "cli/study/program_sites.h"
#include "cli/study/run_evidence.h"
#include "cli/study/run_outputs.h"
#include "cli/study/run_progress.h"
#include "cli/study/run_row.h"
#include "cli/study/study_folder.h"
#include "cli/study/watched_programs.h"
#include "cli/verbs/verbs.h"
#include "collect/client/sampling_wish_text.h"
#include "collect/client/spooled_report.h"
#include "import/sampler/report_stack.h"
#include "import/sampler/sampler_backtrace.h"
#include "import/study_stacks.h"
#include "output/escape.h"

namespace telltale::cli {
namespace {

namespace fs = std::filesystem;

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

std::string with_number(std::string text, uint64_t run) {
  replace_all(text, "{}", fmt::format("{}", run));
  return text;
}

// The build of the runs; a study that is kept gets the sites, too.
Result<StudyBuild> find_build(const StudyOptions& options, StudyFolder& study,
                              const std::vector<std::string>& programs) {
  if (options.folder.empty()) {
    Result<std::string> id = build_id_of(programs.front());
    if (!id) return std::unexpected(id.error());
    if (!id->empty()) return StudyBuild{.name = *std::move(id), .is_traced = options.collect_paths};
  }
  Result<StudyBuild> build = add_all_programs(study, programs, options.programs.empty());
  // A program that is stripped does not tell whether it is traced.
  if (build && options.folder.empty()) build->is_traced = options.collect_paths;
  return build;
}

class StudyRecorder : public JobSource {
 public:
  // `collected` may be null.
  StudyRecorder(const StudyOptions& options, StudyFolder& study, CollectedRuns* collected,
                StudyBuild build, WatchedPrograms programs, const TemporaryFolder& outputs,
                const RepeatedInput& input, double timeout, uint64_t seed)
      : options_(options),
        study_(study),
        collected_(collected),
        build_(std::move(build)),
        watched_(std::move(programs)),
        programs_(programs_of_cores(watched_.files(), {})),
        resolver_(watched_.files()),
        outputs_(outputs),
        input_(input),
        timeout_(timeout),
        seed_(seed),
        first_(study.next_run()),
        progress_(options.times, options.quiet) {
    reference_program_ = options.reference.empty() ? "" : find_in_path(options.reference);
    keeps_output_ =
        options.parallel > 1 || !options.reference.empty() || !options.label_command.empty();
  }

  Result<std::optional<Job>> next(size_t item, const JobOutcome* before) override {
    State& state = states_[item];
    switch (state.step) {
      case Step::program:
        state.step = Step::reference;
        return make_program(item);
      case Step::reference:
        note_program(item, *before);
        state.step = Step::label;
        if (!reference_program_.empty() && !is_labelled(state)) return make_reference(item);
        return after_reference(item, nullptr);
      case Step::label:
        return after_reference(item, before);
      case Step::store:
        return after_label(item, *before);
    }
    return std::nullopt;
  }

  // One run is done, whoever reads its output.
  bool goes_on() override {
    return options_.times == 1 ||
           (!reader_is_gone(STDOUT_FILENO) && !reader_is_gone(STDERR_FILENO));
  }

  // Of the program; none: it has not run.
  [[nodiscard]] const std::optional<JobOutcome>& last_outcome() const { return last_outcome_; }
  [[nodiscard]] const RunProgress& progress() const { return progress_; }

 private:
  enum class Step : uint8_t { program, reference, label, store };
  struct State {
    Step step = Step::program;
    uint64_t change = 0;    // changes_ when the program was started
    bool was_told = false;  // to end, by a signal that we passed on
    StudyRun run;
  };

  // By a rule that --reference and --label do not replace.
  static bool is_labelled(const State& state) {
    return state.run.rule == kTimeoutRule || state.run.rule == kPipeRule || state.was_told;
  }

  // Whether the program has an output of ours that nobody reads any more.
  [[nodiscard]] bool writes_for_nobody() const {
    return (!keeps_output_ && reader_is_gone(STDOUT_FILENO)) ||
           (options_.parallel == 1 && reader_is_gone(STDERR_FILENO));
  }

  [[nodiscard]] std::string report_of(const StudyRun& run) const {
    return study_report_path(study_.path(), run.number);
  }

  // Empty if the programs write none.
  [[nodiscard]] std::string paths_of(const StudyRun& run) const {
    return build_.is_traced ? study_paths_path(study_.path(), run.number) : "";
  }

  // Opens standard input for another job that reads the same bytes.
  Result<int> input_of_job() const {
    if (options_.times == 1 && reference_program_.empty()) return -1;
    return input_.open_again();
  }

  // Somebody may build the programs again while they run. All that is known of them is read anew.
  Result<void> follow_changes(uint64_t run) {
    changes_ += watched_.changed() ? 1 : 0;
    if (followed_ == changes_) return {};
    Result<StudyBuild> build = find_build(options_, study_, watched_.files());
    if (!build) {
      build.error().detail += " (it changed while the study was recorded)";
      return std::unexpected(build.error());
    }
    if (build->is_traced && !build_.is_traced) {
      if (auto made = study_.make_paths_folder(); !made) return made;
    }
    if (build->name != build_.name) {
      print_message("telltale: {} changed: as of run {}, runs are of build {}\n",
                    visible(watched_.files().front()), run, visible(build->name));
    }
    build_ = *std::move(build);
    programs_ = programs_of_cores(watched_.files(), {});
    resolver_ = BacktraceResolver(watched_.files());
    followed_ = changes_;
    return {};
  }

  Result<std::optional<Job>> make_program(size_t item) {
    StudyRun& run = states_[item].run;
    run.number = first_ + item;
    if (auto followed = follow_changes(run.number); !followed)
      return std::unexpected(followed.error());
    states_[item].change = changes_;
    run.sparsity = options_.sparsity.value_or(1);
    run.seed = seed_ + item;
    run.build = build_.name;
    run.version = options_.version;
    run.started = utc_now();
    Job job;
    for (const std::string& word : options_.command)
      job.words.push_back(with_number(word, run.number));
    run.command = shell_command(job.words);
    auto environment = evidence_environment(run, {report_of(run), paths_of(run)});
    if (!environment) return std::unexpected(environment.error());
    job.environment = *std::move(environment);
    if (!options_.rates.empty()) job.environment.emplace_back("SAMPLER_RATES", options_.rates);
    const Result<int> input = input_of_job();
    if (!input) return std::unexpected(input.error());
    job.input = *input;
    if (keeps_output_) job.output = outputs_.file(item, "output");
    if (options_.parallel > 1) job.errors = outputs_.file(item, "errors");
    job.timeout_seconds = timeout_;
    return job;
  }

  void note_program(size_t item, const JobOutcome& outcome) {
    StudyRun& run = states_[item].run;
    last_outcome_ = outcome;
    note_ending(run, outcome);
    // The program may have ended for that, and need not be at fault.
    if (run.label == RunLabel::failed && !outcome.timed_out && writes_for_nobody()) {
      run.rule = kPipeRule;
      run.label = RunLabel::skipped;
    }
    states_[item].was_told = outcome.was_told && !outcome.timed_out;
    const bool is_by_wish = !options_.collect_url.empty() && collect::is_ending_by_wish(run.signal);
    if (run.rule == "signal" && (outcome.was_told || is_by_wish)) run.label = RunLabel::skipped;
    if (keeps_output_) pass_through(outputs_.file(item, "output"), STDOUT_FILENO);
    if (options_.parallel > 1) pass_through(outputs_.file(item, "errors"), STDERR_FILENO);
  }

  Result<std::optional<Job>> make_reference(size_t item) {
    const StudyRun& run = states_[item].run;
    Job job;
    job.words = {reference_program_};
    for (size_t i = 1; i < options_.command.size(); ++i)
      job.words.push_back(with_number(options_.command[i], run.number));
    job.environment = {{"TELLTALE_RUN", fmt::format("{}", run.number)}};
    const Result<int> input = input_of_job();
    if (!input) return std::unexpected(input.error());
    job.input = *input;
    job.output = outputs_.file(item, "reference");
    job.errors = "/dev/null";
    job.timeout_seconds = timeout_;
    return job;
  }

  // `outcome` of the reference program; null: none.
  Result<void> compare(size_t item, const JobOutcome* outcome) {
    StudyRun& run = states_[item].run;
    if (options_.reference.empty() || is_labelled(states_[item])) return {};
    std::string expected = outputs_.file(item, "reference");
    if (outcome == nullptr) {
      expected = with_number(options_.reference, run.number);
    } else if (outcome->timed_out || !WIFEXITED(outcome->wait_status)) {
      run.rule = "reference";
      run.label = RunLabel::skipped;
      return {};
    }
    if (!run.status) return {};  // a signal ended it
    const Result<bool> equal = files_equal(outputs_.file(item, "output"), expected);
    if (!equal) return std::unexpected(equal.error());
    const int wanted = outcome == nullptr ? 0 : WEXITSTATUS(outcome->wait_status);
    run.rule = "output";
    run.label = *equal && *run.status == wanted ? RunLabel::passed : RunLabel::failed;
    return {};
  }

  Result<std::optional<Job>> after_reference(size_t item, const JobOutcome* outcome) {
    State& state = states_[item];
    if (auto compared = compare(item, outcome); !compared) return std::unexpected(compared.error());
    if (options_.label_command.empty() || is_labelled(state)) return store(item);
    state.step = Step::store;
    Job job;
    job.words = {"sh", "-c", options_.label_command};
    job.environment = label_environment(state.run, report_of(state.run));
    job.environment.emplace_back("TELLTALE_OUTPUT", outputs_.file(item, "output"));
    job.output = "/dev/null";
    return job;
  }

  Result<std::optional<Job>> after_label(size_t item, const JobOutcome& outcome) {
    StudyRun& run = states_[item].run;
    const Result<RunLabel> label = label_of(options_.label_command, outcome.wait_status);
    if (!label) return std::unexpected(label.error());
    run.label = *label;
    run.rule = "command";
    return store(item);
  }

  // While the program is at hand, which the study does not contain; the stack of a program that has
  // been replaced stays unknown.
  Result<void> store_stack(const State& state) {
    const StudyRun& run = state.run;
    if (run.label != RunLabel::failed && run.signal.empty()) return {};
    changes_ += watched_.changed() ? 1 : 0;
    if (state.change != changes_ || followed_ != changes_) return {};
    std::vector<isolation::StackFrame> stack;
    if (const Result<InputFile> report = InputFile::open(report_of(run)))
      stack = read_report_stack(*report, resolver_);
    if (stack.empty() && build_.is_traced) {
      OpenOptions options;
      options.files = {paths_of(run)};
      options.programs = programs_;
      options.other_programs = true;
      stack = read_core_stack(options);
    }
    return study_.append_stack(run.number, stack);
  }

  Result<std::optional<Job>> store(size_t item) {
    const StudyRun& run = states_[item].run;
    if (auto kept = keep_paths(run, paths_of(run)); !kept) return std::unexpected(kept.error());
    if (!options_.folder.empty()) {
      if (auto stored = store_stack(states_[item]); !stored) return std::unexpected(stored.error());
    }
    if (collected_ != nullptr)
      collected_->add(run, report_of(run), study_paths_path(study_.path(), run.number));
    if (auto appended = study_.append(run); !appended) return std::unexpected(appended.error());
    progress_.add(run.label);
    std::error_code failure;
    for (const char* name : {"output", "errors", "reference"})
      fs::remove(outputs_.file(item, name), failure);
    states_.erase(item);
    return std::nullopt;
  }

  const StudyOptions& options_;
  StudyFolder& study_;
  CollectedRuns* collected_;
  StudyBuild build_;
  WatchedPrograms watched_;
  uint64_t changes_ = 0;               // of the programs so far
  uint64_t followed_ = 0;              // of these, what build_, programs_ and resolver_ know
  std::vector<std::string> programs_;  // of core files
  BacktraceResolver resolver_;
  const TemporaryFolder& outputs_;
  const RepeatedInput& input_;
  double timeout_;
  uint64_t seed_;
  uint64_t first_;
  std::string reference_program_;  // empty: there is none
  bool keeps_output_ = false;
  std::map<size_t, State> states_;  // of items that were begun and are not stored
  std::optional<JobOutcome> last_outcome_;
  RunProgress progress_;
};

int report_failure(const Error& error, int start_failure) {
  report_error(error);
  if (start_failure == 0) return error.cause == Error::Cause::usage ? kUsage : kUnreadable;
  return status_of_start_failure(start_failure);
}

int run_uncollected(const StudyOptions& options) {
  int start_failure = 0;
  const Result<ChildOutcome> outcome =
      run_child({options.command, {{sampler::kSpoolVariable, "off"}}}, start_failure);
  if (!outcome) return report_failure(outcome.error(), start_failure);
  return pass_on(*outcome);
}

bool is_only_collected(const StudyOptions& options) {
  return !options.collect_url.empty() && options.folder.empty();
}

// Before the run. A program that is only collected runs without a report.
int report_obstacle(const StudyOptions& options, const Error& error) {
  if (!is_only_collected(options) || error.cause == Error::Cause::usage) return report_error(error);
  if (!options.quiet) print_not_reported(error);
  return run_uncollected(options);
}

void report_end(const StudyOptions& options, const RunProgress& progress, JobsEnd end) {
  if (end == JobsEnd::stopped) {
    print_message(
        "telltale: stopped before all {} runs were done, because nobody reads {} any "
        "more; let programs print elsewhere, such as >/dev/null\n",
        options.times, reader_is_gone(STDOUT_FILENO) ? "standard output" : "standard error");
  }
  if (!options.quiet && !options.folder.empty()) {
    print_message("telltale: {}: {} run{}: {}\n", visible(options.folder), progress.done(),
                  progress.done() == 1 ? "" : "s", progress.summary());
  }
}

}  // namespace

int record_study(StudyOptions options) {
  const Result<double> timeout =
      options.timeout.empty() ? Result<double>(0.0) : parse_timeout(options.timeout);
  if (!timeout) return report_error(timeout.error());
  Result<std::vector<std::string>> programs = find_programs(options.command, options.programs);
  if (!programs) return report_failure(programs.error(), why_not_in_path(options.command.front()));
  std::optional<CollectedRuns> collected;
  if (!options.collect_url.empty()) {
    Result<std::optional<CollectedRuns>> begun = CollectedRuns::begin(options, programs->front());
    if (!begun) return report_error(begun.error());
    collected = *std::move(begun);
    if (!collected && options.folder.empty()) return run_uncollected(options);
  }
  const Result<uint64_t> seed = seed_or_random(options.seed);
  if (!seed) return report_obstacle(options, seed.error());
  auto outputs = TemporaryFolder::make();
  if (!outputs) return report_obstacle(options, outputs.error());
  Result<StudyFolder> study =
      StudyFolder::open(options.folder.empty() ? (*outputs)->file(0, "study") : options.folder);
  if (!study) return report_obstacle(options, study.error());
  WatchedPrograms watched(*programs);
  Result<StudyBuild> build = find_build(options, *study, *programs);
  if (!build) return report_obstacle(options, build.error());
  if (collected && options.folder.empty() && !options.sparsity) {
    const sampler::SamplingWish wish = collected->wish(build->name);
    options.sparsity = wish.sparsity;
    if (std::getenv("SAMPLER_RATES") == nullptr) options.rates = collect::rates_text(wish);
    if (*options.sparsity == 0) return run_uncollected(options);
  }
  if (build->is_traced) {
    if (auto made = study->make_paths_folder(); !made)
      return report_obstacle(options, made.error());
  }
  Result<RepeatedInput> input = RepeatedInput();
  if (options.times > 1 || !options.reference.empty()) input = RepeatedInput::prepare();
  if (!input) return report_error(input.error());
  if (options.times > 1) leave_no_cores();

  StudyRecorder recorder(options, *study, collected ? &*collected : nullptr, *std::move(build),
                         std::move(watched), **outputs, *input, *timeout, *seed);
  int start_failure = 0;
  const Result<JobsEnd> end =
      run_jobs(recorder, static_cast<size_t>(options.times),
               {static_cast<size_t>(options.parallel), options.times > 1}, start_failure);
  recorder.progress().finish();
  if (collected) collected->send();
  if (!end) {
    const bool is_about_report = is_only_collected(options) && options.times == 1 &&
                                 start_failure == 0 && end.error().cause != Error::Cause::usage;
    if (!is_about_report) return report_failure(end.error(), start_failure);
    if (!recorder.last_outcome()) return report_obstacle(options, end.error());
    if (!options.quiet) print_not_reported(end.error());
  } else {
    report_end(options, recorder.progress(), *end);
    if (*end == JobsEnd::interrupted) return kInterrupted;
    if (*end == JobsEnd::stopped) return kBrokenPipe;
    if (options.times > 1) return kDone;
  }
  ChildOutcome outcome;
  outcome.wait_status = recorder.last_outcome()->wait_status;
  outputs->reset();  // pass_on() may end this process
  return pass_on(outcome);
}

}  // namespace telltale::cli
