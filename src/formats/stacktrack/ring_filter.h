#pragma once

#include <cstdint>

#include "formats/stacktrack/records.h"

namespace telltale::stacktrack {

// A ring reuses chunks: one that was being cleared when the program died contains records that do
// not belong to its STREAM record. Decides which records count; feed it every record of a stream in
// file order. Streams that are not rings keep all (docs/formats/stacktrack.md, "Wide").
class RingFilter {
 public:
  bool keeps(const Record& record) {
    if (record.is(RecordKind::prologue)) {
      ring_bytes_ = record.number(RecordKind::prologue, Role::ring_bytes);
    }
    if (record.is(RecordKind::stream)) {
      if ((record.flags() & record.description().compiled.chunk_start) != 0)
        chunk_end_ = record.offset() + record.number(RecordKind::stream, Role::chunk_bytes);
      thread_ = record.number(RecordKind::stream, Role::thread_number);
      pid_ = record.pid();
      return true;
    }
    if (ring_bytes_ == 0) return true;
    return record.offset() < chunk_end_ && record.pid() == pid_ &&
           (thread_ == 0 || record.stream() == (thread_ & 0xffff));
  }

 private:
  uint64_t ring_bytes_ = 0;
  uint64_t chunk_end_ = 0;
  uint64_t thread_ = 0;
  uint64_t pid_ = 0;
};

}  // namespace telltale::stacktrack
