#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace telltale::cli {

// A program to start.
struct Job {
  std::vector<std::string> words;  // at least one; the program is looked up in PATH if it has no /
  std::vector<std::pair<std::string, std::string>> environment;  // besides ours
  int input = -1;              // becomes standard input, and is closed; -1: ours
  std::string output;          // file for standard output, made or emptied; empty: ours
  std::string errors;          // likewise for standard error
  double timeout_seconds = 0;  // 0: none
};

struct JobOutcome {
  int wait_status = 0;  // as of waitpid(2)
  double elapsed_seconds = 0;
  bool timed_out = false;  // and was ended for that
  bool was_told = false;   // the signal that ended it had also been sent to us
};

// Numbered items of work; each is a sequence of jobs.
class JobSource {
 public:
  JobSource() = default;
  JobSource(const JobSource&) = delete;
  JobSource& operator=(const JobSource&) = delete;
  virtual ~JobSource() = default;

  // The item's next job; `before` is the outcome of the one before, null for the first. Empty: the
  // item is done. An error ends all.
  virtual Result<std::optional<Job>> next(size_t item, const JobOutcome* before) = 0;

  // Asked before each item. False: no more items are begun.
  virtual bool goes_on() { return true; }
};

struct JobOptions {
  size_t parallel = 1;
  // Runs each job in a separate process group, which is ended as a whole; signals to this process
  // end the work. Otherwise jobs stay in our group, and get these signals as from run_child().
  bool own_groups = true;
};

// stopped: the source does not go on. interrupted: by a signal.
enum class JobsEnd { done, stopped, interrupted };

// Does items 0, 1, 2 ... below `items`, `parallel` at a time, started in this order. A job that
// takes too long gets SIGTERM, so that it can write its report, and five seconds later SIGKILL.
// With own groups, kForwardedSignals to this process, unless it ignores them, end the jobs that are
// running, whose outcome is lost. Meanwhile, SIGPIPE does not end this process. The calling process
// must have one thread.
// Errors: next()'s; io, if a job could not be started, with `start_failure` set to the errno.
Result<JobsEnd> run_jobs(JobSource& source, size_t items, const JobOptions& options,
                         int& start_failure);

}  // namespace telltale::cli
