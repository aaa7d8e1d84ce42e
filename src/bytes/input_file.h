#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/cursor.h"

namespace telltale {

struct InputLimits {
  // Size limit for compressed or unseekable input, in bytes. A compressed stream that expands by
  // more than `max_ratio` after its first MiB of output counts as a decompression bomb, unless it
  // is a core file; 0 disables that check.
  uint64_t max_decompressed_bytes = uint64_t{4} << 30;
  uint64_t max_ratio = 200;
  // Largest window of a zstd frame, which is what the decoder allocates. Rounded down to a power of
  // two.
  uint64_t max_window_bytes = uint64_t{128} << 20;
};

// The bytes of one input, whole and random-access. A regular file of more than a MiB is mapped;
// standard input, pipes and compressed input (gzip, zstd, xz, LZ4; by content) are spooled through
// an unlinked temporary file and mapped, so that they use page cache instead of heap; up to a MiB
// is kept in memory. Move-only; bytes() is valid during this object's lifetime.
// docs/design/input.md has details, and what happens if a mapped file is truncated.
class InputFile {
 public:
  // `path` "-" is standard input. Errors: io (also if the temporary file's disk is full); limit
  // (see InputLimits). A truncated or damaged compressed stream yields the bytes before the damage
  // and an entry in problems(), whose offset counts decompressed bytes and whose message names the
  // compressed byte. A nested compressed stream is not decompressed.
  static Result<InputFile> open(const std::string& path, const InputLimits& limits = {});
  // Bytes owned by the caller, which must outlive this object; for tests and in-memory images.
  static InputFile from_memory(std::string name, Bytes bytes);
  // A further owner of the same bytes, without a copy.
  [[nodiscard]] InputFile share() const;

  [[nodiscard]] Bytes bytes() const { return bytes_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::string_view compression() const {
    return compression_;
  }  // "gzip", "zstd", "xz", "lz4" or empty
  [[nodiscard]] const ProblemLog& problems() const { return problems_; }
  // A problem that was found where this file was, such as a file beside it that cannot be read.
  void add_problem(Problem problem) { problems_.add(std::move(problem)); }

 private:
  InputFile() = default;
  std::string name_;
  std::shared_ptr<const void> owner_;  // unmaps on destruction
  Bytes bytes_;
  std::string_view compression_;
  ProblemLog problems_;
};

}  // namespace telltale
