#pragma once

#include <signal.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace telltale::cli {

// A command and the variables to set in its environment, in addition to ours.
struct ChildCommand {
  std::vector<std::string> words;  // at least one: the program, looked up in PATH when it has no /
  std::vector<std::pair<std::string, std::string>> environment;
  // Called every `interval_ms` while the child runs; 0: never.
  std::function<void()> while_running = {};
  uint64_t interval_ms = 0;
  int output = -1;  // becomes standard output; -1: ours
};

// How a child ended and its resource usage, including its waited-for children.
struct ChildOutcome {
  int pid = 0;
  int wait_status = 0;  // as of waitpid(2)
  // The last of SIGTERM, SIGHUP, SIGINT, SIGQUIT that we got while it ran; 0: none.
  int told_to_end = 0;
  double elapsed_seconds = 0;
  double cpu_seconds = 0;         // user and system
  uint64_t end_monotonic_ns = 0;  // CLOCK_MONOTONIC
  uint64_t user_ns = 0;
  uint64_t system_ns = 0;
};

// What is sent to us while a program runs is meant for the program.
inline constexpr std::array kForwardedSignals = {SIGTERM, SIGHUP,  SIGINT, SIGQUIT,
                                                 SIGUSR1, SIGUSR2, SIGALRM};

// Sends a signal that we received to the program, unless it has it: the kernel sends a terminal's
// signals to the whole process group.
void forward_signal(pid_t program, const siginfo_t& received);

// Runs the command and waits for it. The child inherits standard streams, working directory, signal
// mask and ignored signals. Forwards kForwardedSignals sent to us while it runs; those of a
// terminal reach the child directly and are ignored here. The calling process must have one thread.
// Errors: io, if it could not be started; `start_failure` then has the errno.
Result<ChildOutcome> run_child(const ChildCommand& command, int& start_failure);

// The exit status that reports how the child ended. If a signal killed it, kills this process by
// the same signal, without a second core dump, and does not return.
int pass_on(const ChildOutcome& outcome);

// Ends this process by a signal, without a core dump. If the signal does not end it, returns the
// exit status that shells use for that signal.
int end_by_signal(int signal);

// The environment of this process with these variables added or replaced, as "NAME=VALUE".
std::vector<std::string> merged_environment(
    const std::vector<std::pair<std::string, std::string>>& changes);

// The path at which execvp would find `program`; empty if none.
std::string find_in_path(const std::string& program);

// Why execvp does not find it: EACCES, if there is a file of this name, otherwise ENOENT.
int why_not_in_path(const std::string& program);

// The error that `program` could not be started because of `error`, an errno. A name without a
// folder is only looked up in PATH: if this folder has such a program, the message names it.
std::unexpected<Error> start_error(const std::string& program, int error);

}  // namespace telltale::cli
