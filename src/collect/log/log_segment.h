#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/problem.h"
#include "bytes/cursor.h"

namespace telltale::collect {

// A segment of the log: a head, then entries, each with checksums (docs/formats/store.md).

inline constexpr std::string_view kSegmentHead{"telltale log 1\n\0", 16};
inline constexpr size_t kEntryHeadBytes = 16;
inline constexpr uint32_t kMaxPayloadBytes = 1U << 30;

// The head of the entry with this payload; the payload follows it. REQUIRES: payload.size() <=
// kMaxPayloadBytes.
std::string entry_head(std::string_view payload);

// Reads a segment sequentially. Damage costs the entries that it touches: the reader looks for the
// next entry whose checksums are right. Holds views.
class SegmentReader {
 public:
  struct Entry {
    uint64_t offset = 0;  // of its head
    Bytes payload;
  };

  // `problems` gets what is damaged, and the torn end.
  SegmentReader(Bytes file, std::string name, ProblemLog& problems);
  std::optional<Entry> next();

 private:
  // The entry at this place, if its checksums are right.
  [[nodiscard]] std::optional<Entry> entry_at(size_t at) const;
  void skip_damage();

  Bytes file_;
  std::string name_;
  ProblemLog& problems_;
  size_t at_ = 0;
};

}  // namespace telltale::collect
