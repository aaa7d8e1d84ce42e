#include "cli/study/job_runner.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>

#include "cli/record/child_process.h"

namespace telltale::cli {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr Seconds kGrace(5);     // from SIGTERM to SIGKILL
constexpr Seconds kLongest(60);  // longest sleep
constexpr mode_t kFileMode = 0666;

struct Running {
  size_t item = 0;
  pid_t pid = -1;
  Clock::time_point start;
  std::optional<Clock::time_point> deadline;
  bool timed_out = false;
  sigset_t forwarded{};
};

// nohup, and a shell that starts a job in the background, make programs ignore signals.
bool is_ignored(int signal) {
  struct sigaction action{};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

class JobRunner {
 public:
  JobRunner(JobSource& source, const JobOptions& options) : source_(source), options_(options) {
    sigset_t waited;
    sigemptyset(&waited);
    for (const int signal : kForwardedSignals) sigaddset(&waited, signal);
    sigaddset(&waited, SIGCHLD);
    waited_ = waited;
    sigset_t blocked = waited;
    sigaddset(&blocked, SIGPIPE);
    sigprocmask(SIG_BLOCK, &blocked, &before_);
    // An ignored SIGCHLD would not be delivered.
    struct sigaction standard{};
    standard.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &standard, &child_before_);
  }
  JobRunner(const JobRunner&) = delete;
  JobRunner& operator=(const JobRunner&) = delete;
  ~JobRunner() {
    for (const Running& job : running_) send(job, SIGKILL);
    for (const Running& job : running_) waitpid(job.pid, nullptr, 0);
    sigaction(SIGCHLD, &child_before_, nullptr);
    discard_broken_pipes();
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }

  Result<JobsEnd> run(size_t items, int& start_failure) {
    size_t begun = 0;
    while (true) {
      while (!interrupted_ && !stopped_ && begun < items && running_.size() < options_.parallel) {
        stopped_ = !source_.goes_on();
        if (stopped_) break;
        if (auto started = go_on(begun++, nullptr, start_failure); !started)
          return std::unexpected(started.error());
      }
      if (running_.empty()) {
        return interrupted_ ? JobsEnd::interrupted : stopped_ ? JobsEnd::stopped : JobsEnd::done;
      }
      wait();
      end_late_ones();
      if (auto ended = collect(start_failure); !ended) return std::unexpected(ended.error());
    }
  }

 private:
  // What writes to our output have raised.
  static void discard_broken_pipes() {
    sigset_t broken_pipe;
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    const timespec at_once{};
    while (sigtimedwait(&broken_pipe, nullptr, &at_once) == SIGPIPE) continue;
  }

  void send(const Running& job, int signal) const {
    kill(options_.own_groups ? -job.pid : job.pid, signal);
  }

  Result<void> go_on(size_t item, const JobOutcome* before, int& start_failure) {
    Result<std::optional<Job>> job = source_.next(item, before);
    if (!job) return std::unexpected(job.error());
    if (!*job) return {};
    Running running;
    running.item = item;
    running.start = Clock::now();
    start_failure = spawn(**job, running.pid);
    if ((*job)->input >= 0) close((*job)->input);
    if (start_failure != 0) return start_error((*job)->words.front(), start_failure);
    if ((*job)->timeout_seconds > 0)
      running.deadline = after(running.start, Seconds((*job)->timeout_seconds));
    running_.push_back(running);
    return {};
  }

  static Clock::time_point after(Clock::time_point time, Seconds seconds) {
    return time + std::chrono::duration_cast<Clock::duration>(seconds);
  }

  // 0 or an errno.
  int spawn(Job& job, pid_t& pid) const {
    std::vector<std::string> environment = merged_environment(job.environment);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &before_);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes,
                             static_cast<short>(POSIX_SPAWN_SETSIGMASK |
                                                (options_.own_groups ? POSIX_SPAWN_SETPGROUP : 0)));
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    constexpr int kNewFile = O_WRONLY | O_CREAT | O_TRUNC;
    if (job.input >= 0) posix_spawn_file_actions_adddup2(&actions, job.input, STDIN_FILENO);
    if (!job.output.empty()) {
      posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, job.output.c_str(), kNewFile,
                                       kFileMode);
    }
    if (!job.errors.empty()) {
      posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, job.errors.c_str(), kNewFile,
                                       kFileMode);
    }
    const int failure = posix_spawnp(&pid, job.words.front().c_str(), &actions, &attributes,
                                     pointers(job.words).data(), pointers(environment).data());
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return failure;
  }

  void wait() {
    const Clock::time_point now = Clock::now();
    Seconds longest = kLongest;
    for (const Running& job : running_) {
      if (job.deadline) longest = std::min(longest, Seconds(*job.deadline - now));
    }
    longest = std::max(longest, Seconds(0));
    timespec limit{};
    limit.tv_sec = static_cast<time_t>(longest.count());
    limit.tv_nsec = static_cast<long>((longest.count() - static_cast<double>(limit.tv_sec)) * 1e9);
    siginfo_t info{};
    const int signal = sigtimedwait(&waited_, &info, &limit);
    if (signal <= 0 || signal == SIGCHLD) return;
    if (!options_.own_groups) {
      for (Running& job : running_) {
        forward_signal(job.pid, info);
        sigaddset(&job.forwarded, signal);
      }
      return;
    }
    if (is_ignored(signal)) return;
    // Does not wait the second time.
    const int sent = interrupted_ ? SIGKILL : SIGTERM;
    interrupted_ = true;
    for (const Running& job : running_) send(job, sent);
  }

  void end_late_ones() {
    const Clock::time_point now = Clock::now();
    for (Running& job : running_) {
      if (!job.deadline || *job.deadline > now) continue;
      send(job, job.timed_out ? SIGKILL : SIGTERM);
      job.timed_out = true;
      job.deadline = after(now, kGrace);
    }
  }

  Result<void> collect(int& start_failure) {
    std::vector<std::pair<Running, JobOutcome>> ended;
    std::erase_if(running_, [&](const Running& job) {
      JobOutcome outcome;
      if (waitpid(job.pid, &outcome.wait_status, WNOHANG) != job.pid) return false;
      outcome.elapsed_seconds = Seconds(Clock::now() - job.start).count();
      outcome.timed_out = job.timed_out;
      outcome.was_told = WIFSIGNALED(outcome.wait_status) &&
                         sigismember(&job.forwarded, WTERMSIG(outcome.wait_status)) == 1;
      ended.emplace_back(job, outcome);
      return true;
    });
    for (const auto& [job, outcome] : ended) {
      // Processes that it started and left running.
      if (outcome.timed_out && options_.own_groups) kill(-job.pid, SIGKILL);
      if (interrupted_) continue;
      if (auto next = go_on(job.item, &outcome, start_failure); !next) return next;
    }
    return {};
  }

  JobSource& source_;
  const JobOptions& options_;
  sigset_t waited_{};
  sigset_t before_{};
  struct sigaction child_before_{};
  std::vector<Running> running_;
  bool interrupted_ = false;
  bool stopped_ = false;
};

}  // namespace

Result<JobsEnd> run_jobs(JobSource& source, size_t items, const JobOptions& options,
                         int& start_failure) {
  return JobRunner(source, options).run(items, start_failure);
}

}  // namespace telltale::cli
