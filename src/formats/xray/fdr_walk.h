#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <variant>

#include "formats/xray/fdr_frames.h"
#include "formats/xray/records.h"

namespace telltale::xray {

// Where a walk through a buffer ended and, if it was not at the buffer's end, why.
struct WalkEnd {
  uint64_t offset = 0;         // one past the last whole record
  bool end_of_buffer = false;  // an EndOfBuffer record was met (version 1)
  std::optional<Error> error;  // the record at `offset` could not be read
};

namespace detail {

inline bool begins_buffer(const FdrPayload& payload) {
  return std::holds_alternative<NewBuffer>(payload) ||
         std::holds_alternative<BufferExtents>(payload);
}
Error misplaced_opening(uint64_t offset, const FdrPayload& payload);

template <std::endian Order, typename Visitor>
WalkEnd walk_in_order(Bytes file, uint64_t begin, uint64_t end, uint16_t version,
                      Visitor& visitor) {
  const std::byte* const base = file.data();
  uint64_t at = begin;
  while (true) {
    // The fast lane: function records, eight bytes each.
    while (at + kFunctionRecordBytes <= end) {
      uint32_t word;
      uint32_t delta;
      std::memcpy(&word, base + at, 4);
      std::memcpy(&delta, base + at + 4, 4);
      if constexpr (Order != std::endian::native) {
        word = __builtin_bswap32(word);
        delta = __builtin_bswap32(delta);
      }
      if (!is_function_word<Order>(word)) break;
      const FunctionRecord record = decode_function<Order>(word, delta);
      if (record.action > FunctionAction::enter_args) break;  // read_fdr_record words the error
      visitor.function(at, record);
      at += kFunctionRecordBytes;
    }
    if (at == end) return {at, false, {}};
    Cursor in(file.subspan(static_cast<size_t>(at), static_cast<size_t>(end - at)), Order, at);
    const Result<FdrRecord> record = read_fdr_record(in, version);
    if (!record) return {at, false, record.error()};
    if (begins_buffer(record->payload) && at != begin)
      return {at, false, misplaced_opening(at, record->payload)};
    visitor.metadata(*record);
    at = in.offset();
    if (version == 1 && std::holds_alternative<EndOfBuffer>(record->payload)) return {at, true, {}};
  }
}

}  // namespace detail

// Tells the records in [begin, end) of `file` to a visitor, in file order:
//   visitor.function(uint64_t offset, const FunctionRecord&)
//   visitor.metadata(const FdrRecord&)      every other record, with its payload
// Stops at the first record that cannot be read or that can only stand at a buffer's beginning
// (BufferExtents, and NewBuffer behind the first record), and behind version 1's EndOfBuffer.
// REQUIRES: begin <= end <= size.
template <typename Visitor>
WalkEnd walk_fdr_records(Bytes file, uint64_t begin, uint64_t end, const FileHeader& header,
                         Visitor& visitor) {
  return header.order == std::endian::little
             ? detail::walk_in_order<std::endian::little>(file, begin, end, header.version, visitor)
             : detail::walk_in_order<std::endian::big>(file, begin, end, header.version, visitor);
}

// The problem that a walk's error amounts to: the rest of the buffer, up to `end`, is lost.
Problem walk_problem(const WalkEnd& walk, uint64_t end, const BufferFrame& frame,
                     const std::string& file_name);

}  // namespace telltale::xray
