#include "cli/study/run_outputs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

namespace telltale::cli {

namespace fs = std::filesystem;

Result<std::unique_ptr<TemporaryFolder>> TemporaryFolder::make() {
  Result<TemporaryPath> folder = TemporaryPath::make_folder("telltale-");
  if (!folder) return std::unexpected(folder.error());
  return std::make_unique<TemporaryFolder>(*std::move(folder));
}

std::string TemporaryFolder::file(size_t item, std::string_view name) const {
  return (fs::path(folder_.path()) / fmt::format("{}.{}", item, name)).string();
}

Result<bool> files_equal(const std::string& a, const std::string& b) {
  const auto open_one = [](const std::string& path) {
    return ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  };
  const int first = open_one(a);
  if (first < 0) return io_error(a, "cannot be read", errno);
  const int second = open_one(b);
  if (second < 0) {
    const int failure = errno;
    ::close(first);
    return io_error(b, "cannot be read", failure);
  }
  constexpr size_t kBlock = size_t{64} * 1024;
  std::vector<char> block_a(kBlock);
  std::vector<char> block_b(kBlock);
  const auto fill = [](int file, std::vector<char>& block) {
    size_t filled = 0;
    while (filled < block.size()) {
      const ssize_t bytes = ::read(file, block.data() + filled, block.size() - filled);
      if (bytes < 0 && errno == EINTR) continue;
      if (bytes <= 0) break;
      filled += static_cast<size_t>(bytes);
    }
    return filled;
  };
  bool equal = true;
  for (size_t read = kBlock; equal && read == kBlock;) {
    read = fill(first, block_a);
    equal = fill(second, block_b) == read && std::memcmp(block_a.data(), block_b.data(), read) == 0;
  }
  ::close(first);
  ::close(second);
  return equal;
}

bool reader_is_gone(int descriptor) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) return false;
  if (!S_ISFIFO(status.st_mode) && !S_ISSOCK(status.st_mode)) return false;
  pollfd output = {.fd = descriptor, .events = 0, .revents = 0};
  return ::poll(&output, 1, 0) == 1 && (output.revents & (POLLERR | POLLHUP)) != 0;
}

void pass_through(const std::string& path, int to) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  std::array<char, size_t{64} * 1024> block;
  for (ssize_t bytes = 0; (bytes = ::read(file, block.data(), block.size())) > 0;) {
    const char* at = block.data();
    while (bytes > 0) {
      const ssize_t written = ::write(to, at, static_cast<size_t>(bytes));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) break;
      at += written;
      bytes -= written;
    }
  }
  ::close(file);
}

}  // namespace telltale::cli
