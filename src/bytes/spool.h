#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "bytes/cursor.h"

namespace telltale {

// Bytes and their owner.
struct OwnedBytes {
  std::shared_ptr<const void> owner;
  Bytes bytes;
};

// Maps the first `size` bytes of an open file for reading; size > 0. Errors: io, with `name` as the
// file.
Result<OwnedBytes> map_file(int fd, size_t size, const std::string& name);

std::string temporary_folder();  // $TMPDIR or /tmp

// Opens an empty, unnamed file in temporary_folder(), for reading and writing; the caller closes
// it. Errors: io, with `name`, the input's name, as the file.
Result<int> open_temporary_file(const std::string& name);

// Collects an unknown number of bytes: up to a MiB in memory, then everything in an unnamed
// file in temporary_folder().
class Spool {
 public:
  static constexpr size_t kMemoryBytes = size_t{1} << 20;

  // `name` is the input's, for errors; `limit` is in bytes.
  Spool(std::string name, uint64_t limit) : name_(std::move(name)), limit_(limit) {}
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;
  ~Spool();

  // Errors: limit; io.
  Result<void> append(Bytes bytes);
  [[nodiscard]] uint64_t size() const { return size_; }
  // All appended bytes; the spool is empty afterwards. Errors: io.
  Result<OwnedBytes> finish();

 private:
  Result<void> flush();

  std::string name_;
  uint64_t limit_;
  uint64_t size_ = 0;
  int fd_ = -1;
  std::vector<std::byte> memory_;  // all bytes, or those not yet in the file
};

}  // namespace telltale
