#include "cli/options/recording_writer.h"

#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <optional>
#include <system_error>

#include "cli/options/message.h"
#include "import/open_recording.h"
#include "import/recording.h"
#include "import/recording_folder.h"
#include "output/escape.h"

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

bool changed_lately(const std::string& file) {
  constexpr time_t kSeconds = 60;
  struct stat status = {};
  return ::stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         status.st_mtim.tv_sec + kSeconds >= ::time(nullptr);
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

void remark_writers(const OpenOptions& recordings) {
  const Result<std::vector<std::string>> files = files_of(recordings);
  if (!files) return;
  for (const std::string& file : *files) {
    if (!changed_lately(file)) continue;
    OpenOptions one = recordings;
    one.files = {file};
    const auto recording = open_recording(one);
    if (!recording) continue;
    for (const int64_t pid : (*recording)->writers()) {
      if (pid == 0 || writer_has_ended(pid, {file})) continue;
      print_message(
          "telltale: {} is still being written by process {}: what seems to be damaged may be "
          "unfinished; read it again when the process has ended, or with --follow\n",
          visible(file), pid);
      break;
    }
  }
}

}  // namespace telltale::cli
