#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/problem.h"
#include "bytes/cursor.h"
#include "formats/stacktrack/recognise.h"
#include "formats/stacktrack/records.h"

namespace telltale::stacktrack {

// Bytes of a stream that are not a record.
struct SkippedBytes {
  enum class Reason : uint8_t {
    head,        // the end of a record whose beginning is missing
    unused,      // never written: not damage
    unfinished,  // wide: its writer died before it committed it, or was interrupted: not damage
    damage,      // an entry of an unknown type
    tail,        // the beginning of a record whose end is missing
  };
  uint64_t offset = 0;
  Bytes bytes;
  Reason reason = Reason::damage;
};
std::string_view to_string(SkippedBytes::Reason reason);
constexpr bool is_damage(SkippedBytes::Reason reason) {
  return reason != SkippedBytes::Reason::unused && reason != SkippedBytes::Reason::unfinished;
}
// The problem for skipped bytes. REQUIRES: is_damage(skipped.reason).
Problem problem_of(const SkippedBytes& skipped, const std::string& file_name);

// Passes everything in [begin, end), which must consist of whole entries from the stream's first
// record on, to visitor.record(const Record&) and visitor.skipped(const SkippedBytes&), in file
// order. Consecutive unused entries are passed as one.
template <typename Visitor>
void walk_entries(Bytes file, const FormatDescription& description, uint64_t begin, uint64_t end,
                  Visitor& visitor) {
  const uint64_t step = description.entry_size;
  uint64_t unused_from = begin;  // up to the current entry
  const auto tell_unused = [&](uint64_t to) {
    if (unused_from == to) return;
    visitor.skipped(SkippedBytes{
        unused_from,
        file.subspan(static_cast<size_t>(unused_from), static_cast<size_t>(to - unused_from)),
        SkippedBytes::Reason::unused});
  };
  for (uint64_t at = begin; at < end; at += step) {
    const Bytes raw = file.subspan(static_cast<size_t>(at), static_cast<size_t>(step));
    const Record record(description, raw, at);
    const bool empty = record.pid() == 0;  // no process has this id
    if (empty && std::ranges::all_of(raw, [](std::byte byte) { return byte == std::byte{0}; }))
      continue;
    tell_unused(at);
    unused_from = at + step;
    if (empty && description.has(RecordKind::stream) && record.is_unused()) {
      visitor.skipped(SkippedBytes{at, raw, SkippedBytes::Reason::unfinished});
    } else if (empty || record.type() == nullptr) {
      visitor.skipped(SkippedBytes{at, raw, SkippedBytes::Reason::damage});
    } else {
      visitor.record(record);
    }
  }
  tell_unused(end);
}

// The same for a whole stream, including partial records at its two ends.
template <typename Visitor>
void walk_stream(Bytes file, const StreamFormat& format, Visitor& visitor) {
  const uint64_t first = std::min<uint64_t>(format.first_record, file.size());
  const uint64_t left = file.size() - first;
  const uint64_t end = file.size() - left % format.description.entry_size;
  if (first != 0) {
    visitor.skipped(
        SkippedBytes{0, file.first(static_cast<size_t>(first)), SkippedBytes::Reason::head});
  }
  walk_entries(file, format.description, first, end, visitor);
  if (end != file.size()) {
    visitor.skipped(
        SkippedBytes{end, file.subspan(static_cast<size_t>(end)), SkippedBytes::Reason::tail});
  }
}

}  // namespace telltale::stacktrack
