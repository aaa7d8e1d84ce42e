#include "formats/xray/recorder_cells.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <variant>

#include "formats/xray/fdr_walk.h"

namespace telltale::xray {
namespace {

constexpr size_t kWordBytes = 8;

// The recorder only writes for little-endian machines.
uint64_t word_at(Bytes bytes, size_t at) {
  Cursor in(bytes.subspan(at, kWordBytes), std::endian::little);
  return in.read<uint64_t>("word");
}

bool all_zero(Bytes bytes) {
  // memcmp of the bytes with themselves, shifted by one, runs at memory speed.
  return bytes.empty() || (bytes[0] == std::byte{0} &&
                           std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

bool is_closing_word(Bytes bytes) {
  return bytes.size() >= kWordBytes && word_at(bytes, 0) == kClosingWord;
}

bool starts_free(Bytes bytes) { return bytes.size() >= kWordBytes && word_at(bytes, 0) == 0; }

bool is_event(const FdrPayload& payload) {
  return std::holds_alternative<FunctionRecord>(payload) ||
         std::holds_alternative<CustomEvent>(payload) ||
         std::holds_alternative<TypedEvent>(payload);
}

// A cell of version 1 that no buffer opens: untouched, or partly prepared by the recorder.
bool is_unused_cell_of_version_1(Bytes bytes) {
  size_t at = 0;
  while (at + kWordBytes <= bytes.size() && word_at(bytes, at) == kFreeWordVersion1)
    at += kWordBytes;
  const Bytes rest = bytes.subspan(at);
  if (all_zero(rest)) return true;
  // The file may end inside a word.
  return rest.size() < kWordBytes && rest[0] == std::byte{kFreeWordVersion1} &&
         all_zero(rest.subspan(1));
}

// A buffer that a killed process was opening: its first record, which makes it a buffer and is
// written last, is missing; some of the following records are present. It has no event.
template <size_t kRecords>
bool is_unfinished_opening(Bytes bytes, const std::array<MetadataKind, kRecords>& after,
                           std::byte free_byte, bool (*is_free)(Bytes)) {
  constexpr size_t kOpeningBytes = (1 + kRecords) * kMetadataRecordBytes;
  if (bytes.size() < kOpeningBytes || !is_free(bytes.first(kMetadataRecordBytes))) return false;
  for (size_t i = 0; i < kRecords; ++i) {
    const std::byte first = bytes[(1 + i) * kMetadataRecordBytes];
    const auto expected = static_cast<std::byte>(static_cast<unsigned>(after[i]) << 1 | 1U);
    if (first != free_byte && first != expected) return false;
  }
  return is_free(bytes.subspan(kOpeningBytes));
}

constexpr std::array kBehindExtents = {MetadataKind::new_buffer, MetadataKind::walltime_marker,
                                       MetadataKind::pid, MetadataKind::new_cpu_id};
constexpr std::array kBehindNewBuffer = {MetadataKind::walltime_marker, MetadataKind::new_cpu_id};

}  // namespace

uint64_t cell_end(Bytes file, const FileHeader& header, uint64_t at) {
  const uint64_t in_cell = (at - kFileHeaderBytes) % header.buffer_size;
  return at + std::min<uint64_t>(header.buffer_size - in_cell, file.size() - at);
}

bool is_unused(Bytes bytes, uint16_t version) {
  if (!fdr_layout(version).has_extents) {
    return is_unused_cell_of_version_1(bytes) ||
           is_unfinished_opening(bytes, kBehindNewBuffer, std::byte{kFreeWordVersion1},
                                 is_unused_cell_of_version_1);
  }
  return all_zero(is_closing_word(bytes) ? bytes.subspan(kWordBytes) : bytes) ||
         is_unfinished_opening(bytes, kBehindExtents, std::byte{0}, all_zero);
}

bool is_unused_filler(Bytes bytes) {
  // Free words follow the last event contiguously; one more ends the cell, possibly at another
  // alignment.
  constexpr size_t kEndBytes = 3 * kWordBytes;
  size_t at = is_closing_word(bytes) ? kWordBytes : 0;
  for (; at + kEndBytes <= bytes.size(); at += kWordBytes) {
    if (word_at(bytes, at) != kFreeWordVersion1) return false;
  }
  return std::ranges::all_of(bytes.subspan(at), [](std::byte byte) {
    return byte == std::byte{0} || byte == std::byte{kFreeWordVersion1};
  });
}

RecordsEnd find_records_end(Bytes file, const FileHeader& header, uint64_t begin, uint64_t end,
                            uint64_t said) {
  Cursor in(file.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin)),
            header.order, begin);
  RecordsEnd found{begin, 0};
  while (!in.at_end() && !starts_free(in.rest()) && !is_closing_word(in.rest())) {
    const Result<FdrRecord> record = read_fdr_record(in, header.version);
    if (!record || (record->offset != begin && detail::begins_buffer(record->payload))) break;
    found.offset = in.offset();
    if (found.offset > said && is_event(record->payload)) ++found.events_behind;
  }
  return found;
}

}  // namespace telltale::xray
