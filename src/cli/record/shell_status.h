#pragma once

#include <cerrno>

namespace telltale::cli {

// Exit statuses that a shell gives for a command (POSIX, Shell Command Language, 2.8.2); telltale
// exits with them if its own child ends so.
inline constexpr int kNotRunnable = 126;
inline constexpr int kNotFound = 127;
inline constexpr int kInterrupted = 130;  // by SIGINT
inline constexpr int kBrokenPipe = 141;   // by SIGPIPE

// The exit status for a program that could not be started because of `error`, an errno.
constexpr int status_of_start_failure(int error) {
  return error == ENOENT ? kNotFound : kNotRunnable;
}

}  // namespace telltale::cli
