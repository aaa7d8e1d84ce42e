#include "cli/options/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "output/table/screen.h"

namespace telltale::cli {
namespace {

pid_t pager = 0;

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread yet
  return value == nullptr ? std::string_view() : value;
}

size_t terminal_width() {
  constexpr size_t kUsual = 80;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0) return size.ws_col;
  return kUsual;
}

bool is_in_path(const std::string& program) {
  std::string_view folders = variable("PATH");
  while (!folders.empty()) {
    const std::string folder(folders.substr(0, folders.find(':')));
    if (::access((folder + "/" + program).c_str(), X_OK) == 0) return true;
    folders.remove_prefix(std::min(folders.size(), folder.size() + 1));
  }
  return false;
}

// Whether a shell command can be run, by its first word: false only if that is no program.
bool can_run(std::string_view command) {
  const std::string program(command.substr(0, command.find(' ')));
  if (program.find('=') != std::string::npos) return true;  // sets a variable first
  if (program.find('/') != std::string::npos) return ::access(program.c_str(), X_OK) == 0;
  return is_in_path(program);
}

// The command of the user's choice; empty: none.
std::string pager_command() {
  for (const char* const name : {"TELLTALE_PAGER", "PAGER"}) {
    const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread yet
    if (value == nullptr) continue;
    const std::string_view command = value;
    if (command.empty() || command == "cat") return "";
    if (can_run(command)) return value;
    // What the pager does not take would be lost.
    std::fprintf(stderr, "telltale: %s is no program that can be run; it is %s\n", value, name);
    return "";
  }
  return is_in_path("less") ? "less" : "";
}

// Connects standard output, and messages if they go to the same terminal, to a pager.
void start_pager() {
  const std::string command = pager_command();
  if (command.empty()) return;
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
  std::fflush(stdout);
  pager = ::fork();
  if (pager == 0) {
    ::dup2(ends[0], STDIN_FILENO);
    // Leave if all fits on a screen, keep colours, do not clear the screen.
    ::setenv("LESS", "FRX", /*overwrite=*/0);  // NOLINT(concurrency-mt-unsafe): a new process
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(127);  // NOLINT(readability-magic-numbers): the shell's "not found"
  }
  if (pager > 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    if (::isatty(STDERR_FILENO) != 0) ::dup2(ends[1], STDERR_FILENO);
  } else {
    pager = 0;
  }
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace

void add_terminal_options(Command verb, TerminalOptions& options) {
  verb.add_option("--color", options.colour, "colours: on a terminal unless NO_COLOR is set")
      .one_of({"auto", "always", "never"})
      .show_default();
  verb.add_flag("--no-pager", options.no_pager,
                "do not pass long output to $TELLTALE_PAGER, $PAGER or less");
}

void begin_terminal(const TerminalOptions& options, bool pages) {
  const bool terminal = ::isatty(STDOUT_FILENO) != 0;
  const bool plain = !variable("NO_COLOR").empty() || variable("TERM") == "dumb";
  set_screen(
      {.width = terminal ? terminal_width() : 0,
       .colour = options.colour == "always" || (options.colour == "auto" && terminal && !plain)});
  if (terminal && pages && !options.no_pager && variable("TERM") != "dumb") start_pager();
}

void end_terminal() {
  std::fflush(stdout);
  if (pager == 0) return;
  // The pager ends its input when no end of the pipe is left.
  ::close(STDOUT_FILENO);
  ::close(STDERR_FILENO);
  int status = 0;
  while (::waitpid(pager, &status, 0) < 0 && errno == EINTR) {
  }
  pager = 0;
}

}  // namespace telltale::cli
