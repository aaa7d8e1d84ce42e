#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/cursor.h"

namespace telltale {

struct InputLimits {
  // Bytes that a compressed or not seekable input may come to. A compressed stream that expands by
  // more than `max_ratio` after its first MiB of output is taken for a decompression bomb; 0 turns
  // that check off.
  uint64_t max_decompressed_bytes = uint64_t{4} << 30;
  uint64_t max_ratio = 200;
  // History that a zstd frame may ask for; it is what the decoder allocates. Rounded down to a
  // power of two.
  uint64_t max_window_bytes = uint64_t{128} << 20;
};

// The bytes of one input, whole and random-access. A regular file of more than a MiB is mapped;
// standard input, pipes and compressed input (gzip, zstd; by content) are spooled through an
// unlinked temporary file and mapped, so that they cost page cache and not heap; what is at most a
// MiB is kept in memory. Move-only; bytes() is valid while this lives. docs/design/input.md says
// more, and what happens when somebody cuts a mapped file short.
class InputFile {
 public:
  // `path` "-" is standard input. Errors: io (the temporary file's disk is full, too); limit (see
  // InputLimits). A compressed stream that is cut or damaged gives the bytes before the damage and
  // an entry in problems(), whose offset counts decompressed bytes and whose message names the
  // compressed byte. A compressed stream inside is not opened.
  static Result<InputFile> open(const std::string& path, const InputLimits& limits = {});
  // Bytes that live elsewhere and outlive this object; for tests and in-memory images.
  static InputFile from_memory(std::string name, Bytes bytes);
  // Another owner of the same bytes: nothing is read or copied.
  [[nodiscard]] InputFile share() const;

  [[nodiscard]] Bytes bytes() const { return bytes_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::string_view compression() const {
    return compression_;
  }  // "gzip", "zstd" or empty
  [[nodiscard]] const ProblemLog& problems() const { return problems_; }

 private:
  InputFile() = default;
  std::string name_;
  std::shared_ptr<const void> owner_;  // unmaps on destruction
  Bytes bytes_;
  std::string_view compression_;
  ProblemLog problems_;
};

}  // namespace telltale
