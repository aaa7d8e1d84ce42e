#include "cli/record/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <map>
#include <string_view>
#include <utility>

namespace telltale::cli {
namespace {

sigset_t signals_to_wait_for() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kForwardedSignals) sigaddset(&set, signal);
  sigaddset(&set, SIGCHLD);
  return set;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

// Starts the command with `mask` as its signal mask; 0 or an errno.
int spawn(const ChildCommand& command, const sigset_t& mask, pid_t& pid) {
  std::vector<std::string> words = command.words;
  std::vector<std::string> environment = merged_environment(command.environment);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &mask);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (command.output >= 0)
    posix_spawn_file_actions_adddup2(&actions, command.output, STDOUT_FILENO);
  const int failure = posix_spawnp(&pid, words.front().c_str(), &actions, &attributes,
                                   pointers(words).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return failure;
}

// Waits for the child to end; forwards signals until then.
void wait_for(pid_t pid, const ChildCommand& command, const sigset_t& waited, ChildOutcome& outcome,
              rusage& usage) {
  constexpr uint64_t kMsPerSecond = 1000;
  const timespec interval{
      static_cast<time_t>(command.interval_ms / kMsPerSecond),
      static_cast<long>(command.interval_ms % kMsPerSecond * (1'000'000'000 / kMsPerSecond))};
  while (wait4(pid, &outcome.wait_status, WNOHANG, &usage) != pid) {
    siginfo_t info{};
    const int signal = command.interval_ms == 0 ? sigwaitinfo(&waited, &info)
                                                : sigtimedwait(&waited, &info, &interval);
    if (signal < 0 && errno == EAGAIN) command.while_running();
    if (signal <= 0 || signal == SIGCHLD) continue;
    forward_signal(pid, info);
    if (signal == SIGTERM || signal == SIGHUP || signal == SIGINT || signal == SIGQUIT)
      outcome.told_to_end = signal;
  }
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

uint64_t nanoseconds(const timeval& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<uint64_t>(time.tv_usec) * 1000;
}

// The clock of the side record's start. (steady_clock is the same in libstdc++, by no promise.)
uint64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// The files that execvp would try for `program`, in its order.
std::vector<std::string> candidates(const std::string& program) {
  if (program.contains('/')) return {program};
  const char* list = std::getenv("PATH");
  std::string_view left = list == nullptr ? "/bin:/usr/bin" : list;
  std::vector<std::string> paths;
  while (true) {
    const std::string_view folder = left.substr(0, left.find(':'));
    paths.push_back(folder.empty() ? program : std::string(folder) + "/" + program);
    if (folder.size() == left.size()) return paths;
    left.remove_prefix(folder.size() + 1);
  }
}

}  // namespace

void forward_signal(pid_t program, const siginfo_t& received) {
  if (received.si_code != SI_KERNEL) kill(program, received.si_signo);
}

Result<ChildOutcome> run_child(const ChildCommand& command, int& start_failure) {
  const sigset_t waited = signals_to_wait_for();
  sigset_t before;
  sigprocmask(SIG_BLOCK, &waited, &before);
  struct sigaction children_before{};
  struct sigaction children_default{};
  children_default.sa_handler = SIG_DFL;
  // An ignored SIGCHLD would not be delivered, and the child's status would be lost.
  sigaction(SIGCHLD, &children_default, &children_before);

  ChildOutcome outcome;
  const auto start = std::chrono::steady_clock::now();
  pid_t pid = -1;
  start_failure = spawn(command, before, pid);
  if (start_failure == 0) {
    rusage usage{};
    wait_for(pid, command, waited, outcome, usage);
    outcome.pid = pid;
    outcome.elapsed_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    outcome.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    outcome.end_monotonic_ns = monotonic_ns();
    outcome.user_ns = nanoseconds(usage.ru_utime);
    outcome.system_ns = nanoseconds(usage.ru_stime);
  }
  sigaction(SIGCHLD, &children_before, nullptr);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (start_failure != 0) return start_error(command.words.front(), start_failure);
  return outcome;
}

int pass_on(const ChildOutcome& outcome) {
  if (WIFEXITED(outcome.wait_status)) return WEXITSTATUS(outcome.wait_status);
  return end_by_signal(WTERMSIG(outcome.wait_status));
}

int end_by_signal(int signal) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  struct sigaction fatal{};
  fatal.sa_handler = SIG_DFL;
  sigaction(signal, &fatal, nullptr);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  raise(signal);
  return 128 + signal;
}

std::vector<std::string> merged_environment(
    const std::vector<std::pair<std::string, std::string>>& changes) {
  std::map<std::string, std::string, std::less<>> changed(changes.begin(), changes.end());
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!changed.contains(text.substr(0, text.find('=')))) all.emplace_back(text);
  }
  for (const auto& [name, value] : changed) all.push_back(name + "=" + value);
  return all;
}

std::string find_in_path(const std::string& program) {
  for (std::string& path : candidates(program)) {
    struct stat status{};
    if (stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
        access(path.c_str(), X_OK) == 0)
      return std::move(path);
  }
  return {};
}

int why_not_in_path(const std::string& program) {
  const std::vector<std::string> paths = candidates(program);
  const bool is_there = std::ranges::any_of(
      paths, [](const std::string& path) { return access(path.c_str(), F_OK) == 0; });
  return is_there ? EACCES : ENOENT;
}

std::unexpected<Error> start_error(const std::string& program, int error) {
  std::unexpected<Error> failed = io_error(program, "cannot be run", error);
  const std::string here = "./" + program;
  if (error == ENOENT && program.find('/') == std::string::npos && !program.empty() &&
      access(here.c_str(), X_OK) == 0)
    failed.error().detail += "; did you mean " + here + "?";
  return failed;
}

}  // namespace telltale::cli
