#include "cli/study/fuzz_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string_view>
#include <utility>

#include "analysis/isolation/crash_cluster.h"
#include "analysis/isolation/isolate.h"
#include "base/fnv.h"
#include "base/sort_rows.h"
#include "bytes/input_file.h"
#include "cli/options/message.h"
#include "cli/options/reading_options.h"
#include "cli/record/child_process.h"
#include "cli/record/shell_status.h"
#include "cli/study/fuzz_inputs.h"
#include "cli/study/input_runs.h"
#include "cli/study/labelled_evidence.h"
#include "cli/study/minimize.h"
#include "cli/study/mutations.h"
#include "cli/study/program_sites.h"
#include "cli/study/run_outputs.h"
#include "cli/study/run_progress.h"
#include "cli/study/run_row.h"
#include "cli/study/study_folder.h"
#include "cli/study/watched_programs.h"
#include "cli/verbs/verbs.h"
#include "import/sampler/report_stack.h"
#include "import/sampler/sampler_backtrace.h"
#include "import/study_stacks.h"
#include "output/escape.h"
#include "output/output_file.h"
#include "output/table/table.h"

namespace telltale::cli {
namespace {

namespace fs = std::filesystem;
using isolation::Crash;
using isolation::CrashCluster;

constexpr size_t kMostBytes = size_t{1} << 20;  // of an input; AFL++ has the same limit
constexpr size_t kMostOthers = 256;             // inputs of which mutations take parts
constexpr size_t kRounds = 4;  // later mutations start from what earlier ones found

void say(const std::string& text) { print_message("telltale: {}\n", visible(text)); }

// The bytes of a file, up to the limit plus one.
Result<std::string> read_input(const std::string& path) {
  const Result<InputFile> file = InputFile::open(path);
  if (!file) return std::unexpected(file.error());
  const Bytes bytes = file->bytes();
  const size_t size = std::min(bytes.size(), kMostBytes + 1);
  return std::string(reinterpret_cast<const char*>(bytes.data()), size);
}

Result<void> write_input(const std::string& path, std::string_view bytes) {
  Result<OutputFile> file = OutputFile::open(path);
  if (!file) return std::unexpected(file.error());
  if (auto written = file->write(bytes); !written) return written;
  return file->finish();
}

class FuzzStudy {
 public:
  // `is_traced`: the program can write its paths.
  FuzzStudy(const FuzzStudyOptions& options, StudyFolder study, InputProgram program,
            std::vector<std::string> programs, bool is_traced)
      : options_(options),
        study_(std::move(study)),
        program_(std::move(program)),
        is_traced_(is_traced),
        programs_(is_traced ? programs_of_cores(programs, {}) : std::vector<std::string>()),
        watched_(programs),
        resolver_(std::move(programs)),
        next_(study_.next_run()),
        random_(program_.seed) {}

  Result<void> run() {
    std::error_code failure;
    fs::create_directories(inputs_folder(), failure);
    if (failure) return io_error(inputs_folder(), "cannot be made", failure.value());
    if (auto added = run_found(); !added || interrupted_) return added;
    if (options_.mutations != 0) {
      if (auto added = run_mutations(); !added || interrupted_) return added;
    }
    find_clusters();
    if (options_.minimize) {
      if (auto made = minimize_all(); !made || interrupted_) return made;
    }
    return print_clusters();
  }

  [[nodiscard]] bool interrupted() const { return interrupted_; }
  [[nodiscard]] int start_failure() const { return start_failure_; }

 private:
  struct Failure {
    uint64_t run = 0;
    Crash crash;
  };
  struct Smallest {
    size_t bytes = 0;
    bool minimized = false;
  };

  [[nodiscard]] std::string inputs_folder() const {
    return (fs::path(study_.path()) / "inputs").string();
  }
  [[nodiscard]] std::string input_of(uint64_t run) const {
    return (fs::path(inputs_folder()) / fmt::format("{}", run)).string();
  }
  [[nodiscard]] std::string minimized_of(const CrashCluster& cluster) const {
    return (fs::path(study_.path()) / "minimized" / cluster.id).string();
  }

  // Whether the input is new; then it becomes that of the next run.
  Result<bool> add_input(std::string_view bytes) {
    if (!known_.insert({bytes.size(), fnv1a(bytes)}).second) return false;
    const uint64_t run = next_++;
    if (auto written = write_input(input_of(run), bytes); !written)
      return std::unexpected(written.error());
    if (others_.size() < kMostOthers) others_.emplace_back(bytes);
    pending_.push_back({run, input_of(run), study_report_path(study_.path(), run),
                        is_traced_ ? study_paths_path(study_.path(), run) : ""});
    return true;
  }

  Result<Crash> crash_in(const StudyRun& row, const InputRun& run) {
    const Result<InputFile> report = InputFile::open(run.report);
    std::vector<isolation::StackFrame> stack;
    if (report) stack = read_report_stack(*report, resolver_);
    if (stack.empty() && is_traced_) {
      OpenOptions options;
      options.files = {run.paths};
      options.programs = programs_;
      options.other_programs = true;
      stack = read_core_stack(options);
    }
    return crash_of(row, {{row.number, std::move(stack)}});
  }

  Result<void> run_pending() {
    RunProgress progress(pending_.size(), options_.quiet);
    const InputRunDone done = [&](const StudyRun& row, const InputRun& run) -> Result<void> {
      if (row.label == RunLabel::failed) {
        Result<Crash> crash = crash_in(row, run);
        if (!crash) return std::unexpected(crash.error());
        if (auto stored = study_.append_stack(row.number, crash->stack); !stored) return stored;
        failures_.push_back({row.number, *std::move(crash)});
      }
      progress.add(row.label);
      return study_.append(row);
    };
    const Result<JobsEnd> end = run_inputs(program_, pending_, done, start_failure_);
    progress.finish();
    if (watched_.changed()) {
      print_message("telltale: {} changed during these runs, which may be of either build\n",
                    visible(watched_.files().front()));
    }
    pending_.clear();
    if (!end) return std::unexpected(end.error());
    interrupted_ = *end == JobsEnd::interrupted;
    // They end in any order if several run at a time.
    sort_rows(failures_, {}, &Failure::run);
    return {};
  }

  Result<void> run_found() {
    size_t found = 0;
    size_t large = 0;
    std::set<uint64_t> kept_as_crash;
    for (const std::string& folder : options_.folders) {
      const auto inputs = find_fuzz_inputs(folder);
      if (!inputs) return std::unexpected(inputs.error());
      for (const FuzzInput& input : *inputs) {
        const Result<std::string> bytes = read_input(input.path);
        if (!bytes) return std::unexpected(bytes.error());
        ++found;
        if (bytes->size() > kMostBytes) {
          ++large;
          continue;
        }
        const Result<bool> added = add_input(*bytes);
        if (!added) return std::unexpected(added.error());
        if (*added && input.kind != FuzzKind::corpus) kept_as_crash.insert(next_ - 1);
      }
    }
    const size_t run = pending_.size();
    if (auto ran = run_pending(); !ran) return ran;
    if (options_.quiet || interrupted_) return {};
    std::string text = fmt::format("{} inputs: {} failed", found, failures_.size());
    if (found != run + large) text += fmt::format(", {} were repetitions", found - run - large);
    if (large != 0) text += fmt::format(", {} of more than {} bytes left out", large, kMostBytes);
    say(text);
    size_t failed_again = 0;
    for (const Failure& failure : failures_) failed_again += kept_as_crash.count(failure.run);
    if (failed_again != kept_as_crash.size()) {
      say(fmt::format("{} of {} inputs that the fuzzer kept as crashes or hangs did not fail",
                      kept_as_crash.size() - failed_again, kept_as_crash.size()));
    }
    return {};
  }

  // Copies of failing inputs with small changes, as many of each cluster as of the others.
  Result<void> run_mutations() {
    const size_t before = failures_.size();
    uint64_t made = 0;
    std::map<std::string, uint64_t> made_of;  // by cluster
    for (size_t round = 1; round <= kRounds; ++round) {
      const uint64_t wanted = options_.mutations * round / kRounds;
      find_clusters();
      for (const CrashCluster& cluster : clusters_) {
        uint64_t& count = made_of[cluster.id];
        // A cluster that was found late gets fewer: its neighbours were not asked for.
        if (round > 1 && count == 0) continue;
        const Result<uint64_t> added = add_mutations(cluster, wanted - count);
        if (!added) return std::unexpected(added.error());
        count += *added;
        made += *added;
      }
      if (auto ran = run_pending(); !ran || interrupted_) return ran;
    }
    if (!options_.quiet)
      say(fmt::format("{} mutations: {} failed", made, failures_.size() - before));
    return {};
  }

  // Returns the number of new inputs; less than `count` if too many are repetitions.
  Result<uint64_t> add_mutations(const CrashCluster& cluster, uint64_t count) {
    constexpr uint64_t kAttempts = 4;
    std::map<size_t, std::string> seeds;  // by index in failures_
    uint64_t added = 0;
    for (uint64_t attempt = 0; attempt < kAttempts * count && added < count; ++attempt) {
      const size_t member = cluster.members[random_() % cluster.members.size()];
      std::string& seed = seeds[member];
      if (seed.empty()) {
        Result<std::string> bytes = read_input(input_of(failures_[member].run));
        if (!bytes) return std::unexpected(bytes.error());
        seed = *std::move(bytes);
      }
      const Result<bool> is_new = add_input(mutate(seed, others_, kMostBytes, random_));
      if (!is_new) return std::unexpected(is_new.error());
      added += *is_new ? 1 : 0;
    }
    return added;
  }

  void find_clusters() {
    std::vector<Crash> crashes;
    for (const Failure& failure : failures_) crashes.push_back(failure.crash);
    clusters_ = isolation::cluster_crashes(crashes);
  }

  [[nodiscard]] std::span<const CrashCluster> shown_clusters() const {
    const size_t limit = static_cast<size_t>(options_.limit);
    return std::span(clusters_).first(limit == 0 ? clusters_.size()
                                                 : std::min(limit, clusters_.size()));
  }

  // The smallest input of the cluster.
  Result<std::string> find_smallest(const CrashCluster& cluster) const {
    uint64_t smallest = 0;
    uintmax_t bytes = UINTMAX_MAX;
    for (const size_t member : cluster.members) {
      std::error_code failure;
      const uintmax_t size = fs::file_size(input_of(failures_[member].run), failure);
      if (failure || size >= bytes) continue;
      bytes = size;
      smallest = failures_[member].run;
    }
    return read_input(input_of(smallest));
  }

  Result<void> minimize_all() {
    const auto scratch = TemporaryFolder::make();
    if (!scratch) return std::unexpected(scratch.error());
    std::error_code failure;
    fs::create_directories(fs::path(study_.path()) / "minimized", failure);
    if (failure) return io_error(study_.path() + "/minimized", "cannot be made", failure.value());
    InputProgram program = program_;
    program.parallel = 1;
    for (const CrashCluster& cluster : shown_clusters()) {
      Result<std::string> start = find_smallest(cluster);
      if (!start) return std::unexpected(start.error());
      const InputRun run{0, (*scratch)->file(0, "input"), (*scratch)->file(0, "report"),
                         is_traced_ ? (*scratch)->file(0, "paths") : ""};
      const StillFails still_fails = [&](const std::string& input) {
        return fails_like(cluster, input, program, run);
      };
      const auto found = minimize(*std::move(start), still_fails, options_.minimize_tries);
      if (!found) return std::unexpected(found.error());
      if (interrupted_) return {};
      if (auto written = write_input(minimized_of(cluster), found->input); !written) return written;
      if (!found->complete && !options_.quiet) {
        say(fmt::format("{}: stopped at {} bytes after {} runs; --minimize-tries allows more",
                        cluster.id, found->input.size(), found->tried));
      }
    }
    return {};
  }

  // Whether the run of this input ends in the cluster.
  Result<bool> fails_like(const CrashCluster& cluster, const std::string& input,
                          const InputProgram& program, const InputRun& run) {
    if (interrupted_) return false;
    if (auto written = write_input(run.input, input); !written)
      return std::unexpected(written.error());
    bool same = false;
    const InputRunDone done = [&](const StudyRun& row, const InputRun&) -> Result<void> {
      if (row.label != RunLabel::failed) return {};
      const Result<Crash> crash = crash_in(row, run);
      if (!crash) return std::unexpected(crash.error());
      same = isolation::cluster_crashes(std::span(&*crash, 1)).front().id == cluster.id;
      return {};
    };
    const Result<JobsEnd> end = run_inputs(program, std::span(&run, 1), done, start_failure_);
    if (!end) return std::unexpected(end.error());
    interrupted_ = *end == JobsEnd::interrupted;
    return same;
  }

  Result<void> print_clusters() {
    static constexpr std::array kColumns = {
        field::text("cluster", "Its id."),
        field::count("runs", "Runs that failed in this way."),
        field::text("ending", "Signal, or timeout."),
        field::text("stack", "The innermost functions of the program."),
        field::bytes("smallest", "Size of its smallest input.").titled("BYTES"),
        field::text("predictor", "The predicate that predicts it best."),
        field::text("function", "Function around it."),
        field::text("place", "FILE:LINE."),
    };
    if (clusters_.empty()) {
      if (!options_.quiet) say("no input failed");
      return {};
    }
    Table table{TableSchema(kColumns)};
    for (const CrashCluster& cluster : shown_clusters()) {
      std::error_code failure;
      const uintmax_t minimized = fs::file_size(minimized_of(cluster), failure);
      size_t bytes = static_cast<size_t>(minimized);
      if (failure || !options_.minimize) {
        const Result<std::string> smallest = find_smallest(cluster);
        if (!smallest) return std::unexpected(smallest.error());
        bytes = smallest->size();
      }
      const Result<std::array<std::string, 3>> best = find_best(cluster);
      if (!best) return std::unexpected(best.error());
      table.add_row({cluster.id, uint64_t{cluster.members.size()}, cluster.ending, cluster.stack,
                     uint64_t{bytes}, (*best)[0], (*best)[1], (*best)[2]});
    }
    std::string text = table.to_text();
    const size_t shown = shown_clusters().size();
    if (shown < clusters_.size())
      text += fmt::format("{} of {} clusters; --limit 0 shows all\n", shown, clusters_.size());
    return print_block(text);
  }

  // Text, function and place of the cluster's first predictor; empty if there is none.
  Result<std::array<std::string, 3>> find_best(const CrashCluster& cluster) const {
    IsolationSources sources;
    sources.inputs = {study_.path()};
    sources.cluster = cluster.id;
    const Result<LabelledEvidence> evidence = read_labelled_evidence(sources, 0);
    if (!evidence) return std::unexpected(evidence.error());
    // A fuzzer's runs that come near a bug nearly all fail: Increase, which compares with the runs
    // that came near, says little of them.
    isolation::IsolationOptions options;
    options.score = isolation::Score::balanced_accuracy;
    options.filters = {.lower_bound = false};
    options.eliminate = false;
    options.limit = 1;
    options.first_true = evidence->first_true;
    options.rank = [&](uint32_t predicate) { return evidence->predicates->rank(predicate); };
    const isolation::Isolation found =
        isolation::isolate(evidence->predicates->table(), evidence->runs, options);
    if (found.predictors.empty()) return std::array<std::string, 3>{};
    const PredicateWords words = evidence->predicates->describe(found.predictors.front().predicate);
    return std::array<std::string, 3>{words.text, std::string(words.function),
                                      fmt::format("{}:{}", words.file, words.line)};
  }

  const FuzzStudyOptions& options_;
  StudyFolder study_;
  InputProgram program_;
  bool is_traced_;
  std::vector<std::string> programs_;  // of core files
  WatchedPrograms watched_;
  BacktraceResolver resolver_;
  uint64_t next_;
  std::mt19937_64 random_;
  std::set<std::pair<size_t, uint64_t>> known_;  // sizes and hashes of inputs
  std::vector<std::string> others_;
  std::vector<InputRun> pending_;
  std::vector<Failure> failures_;       // ascending by run
  std::vector<CrashCluster> clusters_;  // members: indices in failures_
  bool interrupted_ = false;
  int start_failure_ = 0;
};

Result<FuzzStudy> prepare(const FuzzStudyOptions& options, std::vector<std::string> programs) {
  const Result<double> timeout = parse_timeout(options.timeout);
  if (!timeout) return std::unexpected(timeout.error());
  const Result<uint64_t> seed = seed_or_random(options.seed);
  if (!seed) return std::unexpected(seed.error());
  Result<StudyFolder> study = StudyFolder::open(options.study);
  if (!study) return std::unexpected(study.error());
  Result<StudyBuild> build = add_all_programs(*study, programs, options.programs.empty());
  if (!build) return std::unexpected(build.error());
  if (build->is_traced) {
    if (auto made = study->make_paths_folder(); !made) return std::unexpected(made.error());
  }
  InputProgram program{.command = options.command,
                       .build = std::move(build->name),
                       .timeout_seconds = *timeout,
                       .label_command = options.label_command,
                       .sparsity = options.sparsity,
                       .seed = *seed,
                       .parallel = static_cast<size_t>(options.parallel)};
  return FuzzStudy(options, *std::move(study), std::move(program), std::move(programs),
                   build->is_traced);
}

}  // namespace

int record_fuzz_study(const FuzzStudyOptions& options) {
  Result<std::vector<std::string>> programs = find_programs(options.command, options.programs);
  if (!programs) {
    report_error(programs.error());
    return status_of_start_failure(why_not_in_path(options.command.front()));
  }
  Result<FuzzStudy> study = prepare(options, *std::move(programs));
  if (!study) return report_error(study.error());
  leave_no_cores();
  const Result<void> done = study->run();
  if (study->interrupted()) return kInterrupted;
  if (done) return kDone;
  report_error(done.error());
  if (study->start_failure() == 0)
    return done.error().cause == Error::Cause::usage ? kUsage : kUnreadable;
  return status_of_start_failure(study->start_failure());
}

}  // namespace telltale::cli
