#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bytes/block_writer.h"
#include "formats/stacktrack/records.h"
#include "formats/stacktrack/wire.h"

namespace telltale::stacktrack {

// Writes records for layouts with STREAM: in chunks of all threads, each preceded by its STREAM
// record. Chunks consist of whole entries, so that readers find what follows, and of whole pages if
// entries divide pages, as in the wide layout.
class ChunkWriter {
 public:
  // `description` has STREAM records.
  explicit ChunkWriter(const FormatDescription& description)
      : description_(description),
        unit_(wide::kPageBytes % description.entry_size == 0 ? wide::kPageBytes
                                                             : description.entry_size),
        most_(most_bytes(description)) {}

  // `pid` is the chunk's process if the record is its first.
  void add(std::string_view record, uint64_t pid, BlockWriter& out) {
    if (records_.size() + description_.entry_size + record.size() > most_) finish(out);
    if (records_.empty()) pid_ = pid;
    records_ += record;
  }
  // Writes the buffered records.
  void finish(BlockWriter& out) {
    if (records_.empty()) return;
    const size_t used = description_.entry_size + records_.size();
    const size_t bytes = (used + unit_ - 1) / unit_ * unit_;
    RecordBuilder head(description_, RecordKind::stream);
    head.flags(description_.compiled.chunk_start).pid(pid_).number(Role::chunk_bytes, bytes);
    out.write(head.bytes());
    records_.resize(bytes - description_.entry_size, '\0');
    out.write(records_);
    records_.clear();
  }

 private:
  static constexpr size_t kChunkBytes = size_t{64} << 10;

  // A chunk's size must fit its field.
  static size_t most_bytes(const FormatDescription& description) {
    const Place& place = description.place(RecordKind::stream, Role::chunk_bytes);
    if (!place.known() || place.size > 2) return kChunkBytes;
    return place.size == 2 ? kChunkBytes - wide::kPageBytes : 1;
  }

  const FormatDescription& description_;
  size_t unit_;
  size_t most_;
  std::string records_;
  uint64_t pid_ = 0;
};

}  // namespace telltale::stacktrack
