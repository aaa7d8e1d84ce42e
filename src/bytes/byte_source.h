#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "bytes/cursor.h"

namespace telltale {

// Reads an open file descriptor sequentially, in steps. Does not own the descriptor.
class ByteSource {
 public:
  static constexpr size_t kStepBytes = size_t{256} << 10;

  // `size` is the file's, if known.
  ByteSource(int fd, std::string name, std::optional<uint64_t> size = {})
      : fd_(fd),
        name_(std::move(name)),
        size_(size),
        buffer_(std::make_unique_for_overwrite<std::byte[]>(kStepBytes)) {}

  // The bytes that were read and not yet consumed; at least `n` unless the input ends before. n <=
  // kStepBytes. Errors: io.
  Result<Bytes> peek(size_t n = 1);
  // REQUIRES: n <= size of peek()'s result.
  void consume(size_t n) { begin_ += n; }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] uint64_t consumed() const { return read_ - (end_ - begin_); }  // bytes
  // Unread bytes after the consumed ones; 0 for a pipe, whose length is unknown.
  [[nodiscard]] uint64_t left() const {
    return size_ && *size_ > consumed() ? *size_ - consumed() : 0;
  }

 private:
  int fd_;
  std::string name_;
  std::optional<uint64_t> size_;
  // kStepBytes. Not initialised: a short file touches only the pages that it fills.
  std::unique_ptr<std::byte[]> buffer_;
  size_t begin_ = 0;  // of the unconsumed part of the buffer
  size_t end_ = 0;
  uint64_t read_ = 0;
  bool at_end_ = false;
};

}  // namespace telltale
