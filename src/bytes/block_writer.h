#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace telltale {

// Receives a file's bytes block by block, in order. The view is only valid during the call. An
// Error stops the writer.
using ByteSink = std::function<Result<void>(std::string_view block)>;

// Buffers output and passes it on in blocks, so that a file needs no memory. After the sink's first
// error all further output is dropped and finish() returns that error.
class BlockWriter {
 public:
  static constexpr size_t kBlockBytes = size_t{256} << 10;

  explicit BlockWriter(const ByteSink& sink) : sink_(sink) {}

  // The open block: append to it, then call flush_if_full().
  std::string& block() { return block_; }
  void flush_if_full() {
    if (block_.size() >= kBlockBytes) flush();
  }
  void write(std::string_view bytes) {
    block_ += bytes;
    flush_if_full();
  }
  [[nodiscard]] bool failed() const { return !state_; }
  // Passes on the rest. Call once, last.
  Result<void> finish() {
    flush();
    return state_;
  }

 private:
  void flush();

  const ByteSink& sink_;
  std::string block_;
  Result<void> state_;
};

}  // namespace telltale
