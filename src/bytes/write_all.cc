#include "bytes/write_all.h"

#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace telltale {

Result<void> write_all(int file, Bytes bytes, const std::string& path, std::string_view what) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return io_error(path, what, written < 0 ? errno : ENOSPC);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return {};
}

}  // namespace telltale
