#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "bytes/cursor.h"
#include "formats/xray/basic_runs.h"
#include "formats/xray/encode.h"
#include "formats/xray/records.h"

namespace telltale::xray {

// Takes a file's bytes block by block, in order. The view is valid during the call only. An Error
// stops the writer.
using ByteSink = std::function<Result<void>(std::string_view block)>;

// Collects what is written and hands it on in blocks, so that a file costs no memory. After the
// sink's first error everything is dropped and finish() returns that error.
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
  // Hands on the rest. Call once, last.
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

// Encodes a record over the bytes that it was read from: fields that changed are changed, bytes
// that no field claims stay. An unchanged record gives its own bytes. `record.raw` may be empty (a
// new record: unused bytes are zero).
void rewrite_fdr_record(const FdrRecord& record, const FileHeader& header, std::string& out);
// The same for basic mode; `raw` is the record's 32 bytes in the file it came from, or empty.
void rewrite_basic_record(const BasicRecord& record, Bytes raw, const FileHeader& header,
                          std::string& out);

// Reads a whole binary trace, of either flavour, and writes it again record by record, gaps, filler
// and damaged parts as they are: the result is the input, byte for byte. Errors: those of
// read_file_header, and the sink's.
Result<void> rewrite_trace(Bytes file, const ByteSink& sink);

}  // namespace telltale::xray
