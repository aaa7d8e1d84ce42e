#include "cli/record/repeated_input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <string>

#include "bytes/spool.h"
#include "bytes/write_all.h"
#include "cli/options/message.h"

namespace telltale::cli {
namespace {

const std::string kName = "standard input";
constexpr int kPatienceMs = 1000;

Result<void> copy_input(int to) {
  std::array<std::byte, size_t{64} * 1024> buffer;
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (::poll(&input, 1, kPatienceMs) == 0) {
    print_message(
        "telltale: reading standard input to its end, so that each run reads the same input\n");
  }
  while (true) {
    const ssize_t bytes = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return io_error(kName, "cannot be read", errno);
    if (bytes == 0) return {};
    const Bytes read = Bytes(buffer).first(static_cast<size_t>(bytes));
    if (auto kept = write_all(to, read, kName, "cannot be copied to a temporary file for the runs");
        !kept)
      return kept;
  }
}

// Replaces the input by a temporary file with its contents.
Result<void> keep_input() {
  const Result<int> file = open_temporary_file(kName);
  if (!file) return std::unexpected(file.error());
  Result<void> copied = copy_input(*file);
  if (copied && ::dup2(*file, STDIN_FILENO) < 0)
    copied = io_error(kName, "cannot be replaced", errno);
  ::close(*file);
  return copied;
}

}  // namespace

Result<RepeatedInput> RepeatedInput::prepare() {
  RepeatedInput input;
  struct stat facts{};
  if (::fstat(STDIN_FILENO, &facts) != 0) return input;  // closed
  if (S_ISREG(facts.st_mode)) {
    const off_t at = ::lseek(STDIN_FILENO, 0, SEEK_CUR);
    input.is_repeatable_ = at >= 0;
    input.begin_ = at;
  } else if (S_ISFIFO(facts.st_mode) || S_ISSOCK(facts.st_mode)) {
    if (auto kept = keep_input(); !kept) return std::unexpected(kept.error());
    input.is_repeatable_ = true;
  } else {
    input.is_terminal_ = ::isatty(STDIN_FILENO) != 0;
  }
  return input;
}

Result<void> RepeatedInput::rewind() const {
  if (is_repeatable_ && ::lseek(STDIN_FILENO, begin_, SEEK_SET) < 0)
    return io_error(kName, "cannot be read again", errno);
  return {};
}

Result<int> RepeatedInput::open_again() const {
  const int file = ::open(is_repeatable_ ? "/proc/self/fd/0" : "/dev/null", O_RDONLY | O_CLOEXEC);
  if (file < 0) return io_error(kName, "cannot be opened again", errno);
  if (is_repeatable_ && ::lseek(file, begin_, SEEK_SET) < 0) {
    ::close(file);
    return io_error(kName, "cannot be read again", errno);
  }
  return file;
}

}  // namespace telltale::cli
