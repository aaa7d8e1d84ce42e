#include "bytes/spool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>

#include "base/parallel.h"

namespace telltale {
namespace {

// Unmaps a large file with all cores: unmapping takes about a hundredth of the time of the fastest
// answers, which wait for it.
void unmap(std::byte* mapped, size_t size) {
  constexpr size_t kPieceBytes = size_t{8} << 20;
  const size_t pieces = size / kPieceBytes;
  if (pieces > 1) {
    try {
      parallel_for(pieces, worker_count(0), [&](size_t piece, size_t) {
        ::madvise(mapped + piece * kPieceBytes, kPieceBytes, MADV_DONTNEED);
      });
    } catch (const std::exception&) {  // no thread, or no memory for one: one munmap does it all
    }
  }
  ::munmap(mapped, size);
}

}  // namespace

std::string temporary_folder() {
  const char* folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder != '\0' ? folder : "/tmp";
}

Result<OwnedBytes> map_file(int fd, size_t size, const std::string& name) {
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (address == MAP_FAILED) return io_error(name, "cannot map", errno);
  auto* const mapped = static_cast<std::byte*>(address);
  return OwnedBytes{
      std::shared_ptr<const void>(mapped, [size](std::byte* bytes) { unmap(bytes, size); }),
      Bytes(mapped, size)};
}

Result<int> open_temporary_file(const std::string& name) {
  const std::string folder = temporary_folder();
  int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0) return fd;
  // Not every file system supports O_TMPFILE.
  std::string path = folder + "/telltale-XXXXXX";
  fd = ::mkostemp(path.data(), O_CLOEXEC);
  if (fd < 0) {
    return io_error(
        name,
        fmt::format("cannot make a temporary file in {} (TMPDIR names another folder)", folder),
        errno);
  }
  ::unlink(path.c_str());
  return fd;
}

Spool::~Spool() {
  if (fd_ >= 0) ::close(fd_);
}

Result<void> Spool::append(Bytes bytes) {
  if (bytes.size() > limit_ - size_) {
    return std::unexpected(
        Error{Error::Cause::limit,
              name_,
              {},
              fmt::format("more than {} bytes; --max-decompressed-bytes allows more", limit_),
              {}});
  }
  size_ += bytes.size();
  memory_.insert(memory_.end(), bytes.begin(), bytes.end());
  if (fd_ >= 0 || memory_.size() > kMemoryBytes) return flush();
  return {};
}

Result<void> Spool::flush() {
  if (fd_ < 0) {
    const Result<int> opened = open_temporary_file(name_);
    if (!opened) return std::unexpected(opened.error());
    fd_ = *opened;
  }
  Bytes left = memory_;
  while (!left.empty()) {
    const ssize_t written = ::write(fd_, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      return io_error(
          name_,
          fmt::format(
              "cannot write {} bytes to a temporary file in {} (TMPDIR names another folder)",
              size_, temporary_folder()),
          written < 0 ? errno : ENOSPC);
    }
    left = left.subspan(static_cast<size_t>(written));
  }
  memory_.clear();
  return {};
}

Result<OwnedBytes> Spool::finish() {
  const uint64_t size = std::exchange(size_, 0);
  if (fd_ < 0) {
    auto kept = std::make_shared<const std::vector<std::byte>>(std::exchange(memory_, {}));
    const Bytes bytes(*kept);
    return OwnedBytes{std::move(kept), bytes};
  }
  Result<OwnedBytes> mapped = map_file(fd_, static_cast<size_t>(size), name_);
  ::close(std::exchange(fd_, -1));
  return mapped;
}

}  // namespace telltale
