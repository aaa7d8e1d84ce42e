#include "bytes/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <optional>
#include <utility>

#include "bytes/byte_source.h"
#include "bytes/decompress.h"
#include "bytes/spool.h"

namespace telltale {
namespace {

// Closes a descriptor at the end, unless it is standard input.
class OpenFile {
 public:
  explicit OpenFile(const std::string& path)
      : owned_(path != "-"),
        fd_(owned_ ? ::open(path.c_str(), O_RDONLY | O_CLOEXEC) : STDIN_FILENO) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (owned_ && fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  bool owned_;
  int fd_;
};

// The size of a file that can be mapped from its beginning; empty for pipes, devices, files of
// /proc (which have no size) and standard input that was partly read already.
Result<std::optional<uint64_t>> file_size(int fd, const std::string& path) {
  struct stat status{};
  if (::fstat(fd, &status) != 0) return io_error(path, "cannot stat", errno);
  if (S_ISDIR(status.st_mode)) return io_error(path, "cannot read", EISDIR);
  if (!S_ISREG(status.st_mode) || status.st_size <= 0 || ::lseek(fd, 0, SEEK_CUR) != 0)
    return std::nullopt;
  return static_cast<uint64_t>(status.st_size);
}

// At most `most` bytes: a growing file is read up to its length when it was opened.
Result<void> copy(ByteSource& in, uint64_t most, Spool& out) {
  while (out.size() < most) {
    const Result<Bytes> ahead = in.peek();
    if (!ahead) return std::unexpected(ahead.error());
    if (ahead->empty()) return {};
    const Bytes step =
        ahead->first(static_cast<size_t>(std::min<uint64_t>(ahead->size(), most - out.size())));
    if (Result<void> appended = out.append(step); !appended) return appended;
    in.consume(step.size());
  }
  return {};
}

}  // namespace

InputFile InputFile::share() const {
  InputFile other;
  other.name_ = name_;
  other.owner_ = owner_;
  other.bytes_ = bytes_;
  other.compression_ = compression_;
  other.problems_ = problems_;
  return other;
}

InputFile InputFile::from_memory(std::string name, Bytes bytes) {
  InputFile file;
  file.name_ = std::move(name);
  file.bytes_ = bytes;
  return file;
}

Result<InputFile> InputFile::open(const std::string& path, const InputLimits& limits) {
  const OpenFile opened(path);
  if (opened.get() < 0) return io_error(path, "cannot open", errno);
  const Result<std::optional<uint64_t>> size = file_size(opened.get(), path);
  if (!size) return std::unexpected(size.error());

  InputFile file;
  file.name_ = path;
  ByteSource source(opened.get(), path, *size);
  const Result<Bytes> beginning = source.peek(4);
  if (!beginning) return std::unexpected(beginning.error());
  file.compression_ = compression_of(*beginning);

  Result<OwnedBytes> owned;
  if (file.compression_.empty() && size->value_or(0) > Spool::kMemoryBytes) {
    owned = map_file(opened.get(), static_cast<size_t>(**size), path);
  } else {
    constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();
    const bool plain = file.compression_.empty();
    Spool spool(path, plain && *size ? kNoLimit : limits.max_decompressed_bytes);
    const Result<void> filled =
        plain ? copy(source, size->value_or(kNoLimit), spool)
              : decompress(file.compression_, source, limits, spool, file.problems_);
    if (!filled) return std::unexpected(filled.error());
    owned = spool.finish();
  }
  if (!owned) return std::unexpected(owned.error());
  file.owner_ = std::move(owned->owner);
  file.bytes_ = owned->bytes;
  if (!file.compression_.empty() && !compression_of(file.bytes_).empty()) {
    file.problems_.add({.kind = Problem::Kind::oddity,
                        .offset = 0,
                        .file = path,
                        .record = std::string(file.compression_),
                        .message = fmt::format("holds another {} stream, which is not opened",
                                               compression_of(file.bytes_)),
                        .lost_bytes = 0});
  }
  return file;
}

}  // namespace telltale
