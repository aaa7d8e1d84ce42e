#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bytes/block_writer.h"
#include "formats/stacktrack/records.h"
#include "formats/stacktrack/wire.h"

namespace telltale::stacktrack {

// Writes records as the wide layout wants them: in chunks of all threads, each of whole pages and
// with its STREAM record in front.
class ChunkWriter {
 public:
  // `description` has STREAM records.
  explicit ChunkWriter(const FormatDescription& description) : description_(description) {}

  // `pid` is the process that the chunk is said to be of, if the record is its first.
  void add(std::string_view record, uint64_t pid, BlockWriter& out) {
    if (records_.size() + description_.entry_size + record.size() > kChunkBytes) finish(out);
    if (records_.empty()) pid_ = pid;
    records_ += record;
  }
  // Writes what is held.
  void finish(BlockWriter& out) {
    if (records_.empty()) return;
    const size_t used = description_.entry_size + records_.size();
    const size_t bytes = (used + wide::kPageBytes - 1) / wide::kPageBytes * wide::kPageBytes;
    RecordBuilder head(description_, RecordKind::stream);
    head.flags(description_.compiled.chunk_start).pid(pid_).number(Role::chunk_bytes, bytes);
    out.write(head.bytes());
    records_.resize(bytes - description_.entry_size, '\0');
    out.write(records_);
    records_.clear();
  }

 private:
  static constexpr size_t kChunkBytes = size_t{64} << 10;

  const FormatDescription& description_;
  std::string records_;
  uint64_t pid_ = 0;
};

}  // namespace telltale::stacktrack
