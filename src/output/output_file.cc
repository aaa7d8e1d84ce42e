#include "output/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "output/escape.h"

namespace telltale {
namespace {

constexpr size_t kGatherBytes = size_t{256} << 10;

// The beginning of an existing file; empty if it cannot be read.
std::string beginning_of(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return {};
  std::string head(kKindBytes, '\0');
  const ssize_t n = ::read(fd, head.data(), head.size());
  ::close(fd);
  head.resize(n < 0 ? 0 : static_cast<size_t>(n));
  return head;
}

}  // namespace

Result<OutputFile> OutputFile::open(const std::string& path, Replace replace, KindOf kind) {
  if (path.empty()) return usage_error("the output file has an empty name");
  if (path == "-") return OutputFile("standard output", {}, STDOUT_FILENO);
  struct stat status{};
  const bool exists = ::lstat(path.c_str(), &status) == 0;
  if (exists && !S_ISREG(status.st_mode)) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) return io_error(path, "cannot open for writing", errno);
    OutputFile file(path, {}, fd);
    const bool is_regular = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    file.begun_ = !is_regular;
    file.replace_ = replace;
    file.kind_ = kind;
    return file;
  }
  // O_EXCL: never touches an existing file of the temporary name. The process id separates
  // concurrent exports.
  for (unsigned attempt = 0; attempt < 100; ++attempt) {
    const std::string temporary =
        path + ".telltale-" + std::to_string(::getpid()) + "-" + std::to_string(attempt);
    const int fd =
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd >= 0) {
      if (exists) static_cast<void>(::fchmod(fd, status.st_mode & 07777));
      OutputFile file(path, TemporaryPath(temporary), fd);
      file.begun_ = !exists || replace == Replace::anything;
      file.replace_ = replace;
      file.kind_ = kind;
      return file;
    }
    if (errno != EEXIST) return io_error(path, "cannot open for writing", errno);
  }
  return io_error(path, "cannot find a temporary name beside it", EEXIST);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      fd_(std::exchange(other.fd_, -1)),
      begun_(other.begun_),
      replace_(other.replace_),
      kind_(other.kind_),
      gathered_(std::move(other.gathered_)),
      written_(other.written_),
      state_(std::move(other.state_)) {}

OutputFile::~OutputFile() {
  if (fd_ >= 0 && fd_ != STDOUT_FILENO) ::close(fd_);
}

Result<void> OutputFile::fail(std::string_view what, int error_number) {
  state_ = io_error(path_, what, error_number);
  return state_;
}

// Before the first bytes are written: whether what is there may be replaced by what begins so.
void OutputFile::keep_private() const { static_cast<void>(::fchmod(fd_, S_IRUSR | S_IWUSR)); }

Result<void> OutputFile::begin(std::string_view head) {
  begun_ = true;
  if (replace_ == Replace::same_kind) {
    const std::string there = beginning_of(path_);
    const std::string replaced = kind_(there);
    const std::string made = kind_(head.substr(0, kKindBytes));
    if (!there.empty() && replaced != made) {
      state_ = usage_error(fmt::format("{} exists and is {}; --force replaces it by {}",
                                       visible(path_), replaced, made));
      return state_;
    }
  }
  if (temporary_.empty() && ::ftruncate(fd_, 0) != 0) return fail("cannot be emptied", errno);
  return {};
}

Result<void> OutputFile::write_through(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail("cannot write", errno);
    bytes.remove_prefix(static_cast<size_t>(n));
    written_ += static_cast<uint64_t>(n);
  }
  return {};
}

Result<void> OutputFile::flush() {
  if (!state_) return state_;
  const Result<void> flushed = write_through(gathered_);
  gathered_.clear();
  return flushed;
}

Result<void> OutputFile::write(std::string_view bytes) {
  if (!state_) return state_;
  if (gathered_.size() + bytes.size() > kGatherBytes) {
    if (!begun_) {
      const Result<void> allowed = begin(gathered_.empty() ? bytes : gathered_);
      if (!allowed) return allowed;
    }
    if (const Result<void> flushed = flush(); !flushed) return flushed;
    if (bytes.size() >= kGatherBytes / 2) return write_through(bytes);
  }
  gathered_.append(bytes);
  return {};
}

Result<void> OutputFile::finish() {
  if (state_ && !begun_) {
    if (const Result<void> allowed = begin(gathered_); !allowed) return allowed;
  }
  if (const Result<void> flushed = flush(); !flushed) return flushed;
  if (fd_ == STDOUT_FILENO) {
    fd_ = -1;
    return {};
  }
  if (::close(std::exchange(fd_, -1)) != 0) return fail("cannot write", errno);
  if (temporary_.empty()) return {};
  if (::rename(temporary_.path().c_str(), path_.c_str()) != 0)
    return fail("cannot put the finished file in place", errno);
  temporary_.release();
  return {};
}

}  // namespace telltale
