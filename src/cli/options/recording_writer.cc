#include "cli/options/recording_writer.h"

#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>

namespace telltale::cli {
namespace {

bool same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// Whether a /proc folder of links, such as a process's open descriptors, contains one of the files.
// Null without permission.
std::optional<bool> links_to(const std::filesystem::path& folder, const struct stat& file) {
  std::error_code error;
  std::filesystem::directory_iterator link(folder, error);
  if (error) return std::nullopt;
  for (; !error && link != std::filesystem::directory_iterator(); link.increment(error)) {
    struct stat target = {};
    if (::stat(link->path().c_str(), &target) == 0 && same_file(target, file)) return true;
  }
  return false;
}

}  // namespace

bool writer_has_ended(int64_t pid, const std::vector<std::string>& files) {
  if (::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH) return true;
  const std::filesystem::path process = "/proc/" + std::to_string(pid);
  return std::ranges::none_of(files, [&process](const std::string& name) {
    struct stat file = {};
    if (::stat(name.c_str(), &file) != 0) return false;
    return links_to(process / "fd", file).value_or(true) ||
           links_to(process / "map_files", file).value_or(true);
  });
}

}  // namespace telltale::cli
