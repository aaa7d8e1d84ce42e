#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace telltale::cli {

// A command and what its environment has besides ours; a variable that we have is replaced.
struct ChildCommand {
  std::vector<std::string> words;  // at least one: the program, looked up in PATH when it has no /
  std::vector<std::pair<std::string, std::string>> environment;
};

// How a child ended and what it used, its own waited-for children included.
struct ChildOutcome {
  int pid = 0;
  int wait_status = 0;  // as of waitpid(2)
  double elapsed_seconds = 0;
  double cpu_seconds = 0;  // user and system
};

// Runs the command and waits for it. Standard streams, working directory, signal mask and ignored
// signals are handed on as they are. Signals that are sent to us while it runs (TERM, HUP, INT,
// QUIT, USR1, USR2, ALRM) are sent on to it; those that a terminal sends reach it anyway and only
// make us wait. The calling process must have one thread. Errors: io, when it could not be started;
// `start_failure` then has the errno.
Result<ChildOutcome> run_child(const ChildCommand& command, int& start_failure);

// Exit status that passes on how the child ended. When it died of a signal this process dies of the
// same one (without a core dump of its own) and the function does not return.
int pass_on(const ChildOutcome& outcome);

// The environment of this process with these variables added or replaced, as "NAME=VALUE".
std::vector<std::string> merged_environment(
    const std::vector<std::pair<std::string, std::string>>& changes);

// Where execvp would find `program`; empty when nowhere.
std::string find_in_path(const std::string& program);

}  // namespace telltale::cli
