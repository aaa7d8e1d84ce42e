#include "cli/study/input_runs.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <utility>

#include "cli/options/shell_command.h"
#include "cli/study/label_command.h"
#include "cli/study/run_evidence.h"
#include "cli/study/run_row.h"

namespace telltale::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kInput = "@@";

// Replaces @@ in a word; returns whether there was one.
bool insert_input(std::string& word, const std::string& input) {
  bool found = false;
  for (size_t at = word.find(kInput); at != std::string::npos;
       at = word.find(kInput, at + input.size())) {
    word.replace(at, kInput.size(), input);
    found = true;
  }
  return found;
}

class InputJobs : public JobSource {
 public:
  InputJobs(const InputProgram& program, std::span<const InputRun> runs, const InputRunDone& done)
      : program_(program), runs_(runs), done_(done) {}
  InputJobs(const InputJobs&) = delete;
  InputJobs& operator=(const InputJobs&) = delete;
  ~InputJobs() override {
    for (const auto& [item, row] : rows_) remove_output(item);  // of runs that were interrupted
  }

  Result<std::optional<Job>> next(size_t item, const JobOutcome* before) override {
    if (before == nullptr) return make_program(item);
    StudyRun& row = rows_.at(item);
    if (row.rule.empty()) {
      note_ending(row, *before);
      // Programs refuse most of a fuzzer's inputs with a status: that is no failure.
      if (row.rule == "status") row.label = RunLabel::passed;
      if (!program_.label_command.empty() && row.rule != kTimeoutRule) return make_label(item);
    } else {
      const Result<RunLabel> label = label_of(program_.label_command, before->wait_status);
      if (!label) return std::unexpected(label.error());
      row.label = *label;
      row.rule = "command";
    }
    return finish(item);
  }

 private:
  Result<std::optional<Job>> make_program(size_t item) {
    const InputRun& run = runs_[item];
    StudyRun& row = rows_[item];
    row.number = run.number;
    row.sparsity = program_.sparsity;
    row.seed = program_.seed + run.number;
    row.build = program_.build;
    row.started = utc_now();
    Job job;
    bool by_name = false;
    for (const std::string& word : program_.command) {
      job.words.push_back(word);
      by_name |= insert_input(job.words.back(), run.input);
    }
    row.command = shell_command(job.words);
    if (!by_name) row.command += " <" + shell_command({run.input});
    job.input = ::open(by_name ? "/dev/null" : run.input.c_str(), O_RDONLY | O_CLOEXEC);
    if (job.input < 0) return io_error(run.input, "cannot be read", errno);
    auto environment = evidence_environment(row, {run.report, run.paths});
    if (!environment) return std::unexpected(environment.error());
    job.environment = *std::move(environment);
    for (const char* name : {"ASAN_OPTIONS", "UBSAN_OPTIONS", "MSAN_OPTIONS"}) {
      if (std::getenv(name) == nullptr)
        job.environment.emplace_back(name, "abort_on_error=1:halt_on_error=1");
    }
    job.output = output_of(item);
    job.errors = "/dev/null";
    job.timeout_seconds = program_.timeout_seconds;
    return job;
  }

  // Only a command that labels runs reads it.
  [[nodiscard]] std::string output_of(size_t item) const {
    return program_.label_command.empty() ? "/dev/null" : runs_[item].report + ".output";
  }

  void remove_output(size_t item) const {
    std::error_code failure;
    if (!program_.label_command.empty()) fs::remove(output_of(item), failure);
  }

  Result<std::optional<Job>> make_label(size_t item) {
    Job job;
    job.words = {"sh", "-c", program_.label_command};
    job.environment = label_environment(rows_.at(item), runs_[item].report);
    job.environment.emplace_back("TELLTALE_OUTPUT", output_of(item));
    job.output = "/dev/null";
    return job;
  }

  Result<std::optional<Job>> finish(size_t item) {
    remove_output(item);
    const StudyRun row = std::move(rows_.at(item));
    rows_.erase(item);
    if (auto kept = keep_paths(row, runs_[item].paths); !kept) return std::unexpected(kept.error());
    if (auto done = done_(row, runs_[item]); !done) return std::unexpected(done.error());
    return std::nullopt;
  }

  const InputProgram& program_;
  std::span<const InputRun> runs_;
  const InputRunDone& done_;
  std::map<size_t, StudyRun> rows_;  // of runs that have not ended
};

}  // namespace

Result<JobsEnd> run_inputs(const InputProgram& program, std::span<const InputRun> runs,
                           const InputRunDone& done, int& start_failure) {
  InputJobs jobs(program, runs, done);
  return run_jobs(jobs, runs.size(), {program.parallel, true}, start_failure);
}

}  // namespace telltale::cli
