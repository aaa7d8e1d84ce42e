#include "collect/log/durable_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "bytes/as_bytes.h"
#include "bytes/write_all.h"

namespace telltale::collect {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kFileMode = 0600;
constexpr mode_t kFolderMode = 0700;

Result<void> sync_path(const std::string& path, int flags) {
  const int file = ::open(path.c_str(), flags | O_CLOEXEC);
  if (file < 0) return io_error(path, "cannot open", errno);
  const int failure = ::fsync(file) == 0 ? 0 : errno;
  ::close(file);
  if (failure != 0) return io_error(path, "cannot sync", failure);
  return {};
}

}  // namespace

Result<void> replace_file(const std::string& path, std::string_view content) {
  const std::string temporary = path + ".tmp";
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kFileMode);
  if (file < 0) return io_error(temporary, "cannot create", errno);
  // A temporary file that a crash left keeps its mode when it is opened.
  static_cast<void>(::fchmod(file, kFileMode));
  Result<void> written = write_all(file, as_bytes(content), temporary);
  if (written && ::fsync(file) != 0) written = io_error(temporary, "cannot sync", errno);
  ::close(file);
  if (written && ::rename(temporary.c_str(), path.c_str()) != 0)
    written = io_error(path, "cannot rename", errno);
  if (!written) {
    ::unlink(temporary.c_str());
    return written;
  }
  return sync_folder(fs::path(path).parent_path().string());
}

Result<void> sync_folder(const std::string& folder) {
  return sync_path(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY);
}
Result<void> sync_file(const std::string& path) { return sync_path(path, O_RDONLY); }

Result<void> make_folder(const std::string& folder) {
  std::error_code failure;
  if (fs::is_directory(folder, failure)) return {};
  const std::string above = fs::path(folder).parent_path().string();
  if (!above.empty() && above != folder) {
    if (auto made = make_folder(above); !made) return made;
  }
  if (::mkdir(folder.c_str(), kFolderMode) != 0 && errno != EEXIST)
    return io_error(folder, "cannot be created", errno);
  return sync_folder(above);
}

Result<LockFile> LockFile::take(const std::string& path, bool wait) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kFileMode);
  if (file < 0) return io_error(path, "cannot open", errno);
  int status = 0;
  do status = ::flock(file, LOCK_EX | (wait ? 0 : LOCK_NB));
  while (status != 0 && errno == EINTR);
  if (status == 0) return LockFile(file);
  const int failure = errno;
  ::close(file);
  if (failure == EWOULDBLOCK) return usage_error(path + " is locked by another process");
  return io_error(path, "cannot lock", failure);
}

LockFile::LockFile(LockFile&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
LockFile::~LockFile() {
  if (file_ >= 0) ::close(file_);
}

}  // namespace telltale::collect
