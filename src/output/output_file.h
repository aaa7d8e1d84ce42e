#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "bytes/temporary_path.h"
#include "output/file_kind.h"

namespace telltale {

// The destination of an export: the path given by the user, or standard output for "-". A new or
// regular file is written under a temporary name in the same folder and renamed by finish(), so
// that no partial file is visible and a failed export keeps the previous file. Pipes, devices and
// symbolic links are written directly. Buffers small writes. Move-only.
class OutputFile {
 public:
  // What an existing file may be that is replaced.
  enum class Replace : uint8_t {
    anything,
    same_kind,  // as `kind` says
  };
  // What kind of file begins with up to kKindBytes bytes, in words, as file_kind().
  using KindOf = std::string (*)(std::string_view head);

  static Result<OutputFile> open(const std::string& path, Replace replace = Replace::anything,
                                 KindOf kind = file_kind);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();  // without finish(): the temporary file is removed

  // Lets only the owner of the file use it, whatever the process's umask is. Call it before
  // write().
  void keep_private() const;
  // Errors: io; usage, if the existing file is of another kind and is kept for that. After the
  // first one, every later call returns it again.
  Result<void> write(std::string_view bytes);
  // Flushes and renames the file. Nothing may be written afterwards.
  Result<void> finish();

  [[nodiscard]] uint64_t bytes_written() const { return written_; }

 private:
  OutputFile(std::string path, TemporaryPath temporary, int fd)
      : path_(std::move(path)), temporary_(std::move(temporary)), fd_(fd) {}
  Result<void> begin(std::string_view head);
  Result<void> write_through(std::string_view bytes);
  Result<void> flush();
  Result<void> fail(std::string_view what, int error_number);

  std::string path_;
  TemporaryPath temporary_;  // empty: written in place
  int fd_ = -1;
  bool begun_ = true;  // what is there may be replaced
  Replace replace_ = Replace::anything;
  KindOf kind_ = file_kind;
  std::string gathered_;
  uint64_t written_ = 0;
  Result<void> state_;
};

}  // namespace telltale
