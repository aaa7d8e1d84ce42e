#pragma once

// Records as 8-byte words in slots, in either layout. Async-signal-safe.

#include <cstddef>
#include <cstdint>
#include <telltale/stacktrack_control.hpp>

#include "formats/stacktrack/wire.h"

namespace telltale::st {

using stacktrack::LostReason;
using stacktrack::RecordType;

// The 16 bytes after the head.
struct Payload {
  uint64_t words[2];
};

struct RecordHead {
  uint16_t flags;   // type and bits
  uint16_t stream;  // wide only
  uint32_t pid;
  uint64_t sequence;  // the lower 32 bits count in the classic layout
};

inline constexpr size_t slot_bytes(Layout layout) {
  return layout == Layout::wide ? stacktrack::wide::kEntryBytes : stacktrack::classic::kEntryBytes;
}
// The maximum length of a record's text; longer text is truncated.
constexpr size_t kMaxTextBytes = 2000;
// The longest UTF-8 character.
constexpr size_t kMaxCharacterBytes = 4;
// How many bytes are left of a text. A UTF-8 character is not divided: the rest would not be UTF-8.
// Reads at most kMaxCharacterBytes - 1 bytes behind the longest text.
size_t truncated(const char* text, size_t bytes);
inline constexpr size_t info_records(size_t text_bytes) {
  return (text_bytes + stacktrack::kInfoBytes - 1) / stacktrack::kInfoBytes;
}

// Stores a record into an empty slot. Its first 8 bytes are stored last: they commit it.
void store_record(Layout layout, uint8_t* slot, const RecordHead& head, const Payload& payload);

// Stores a record and its text into 1 + info_records(bytes) consecutive empty slots; the record is
// committed after its text, so that no record is visible without it. `bytes` <= kMaxTextBytes.
void store_group(Layout layout, uint8_t* slots, const RecordHead& head, const Payload& payload,
                 const char* text, size_t bytes);

// The last scope index of a classic file for checkpoints; those above it are loss counts.
constexpr uint32_t kLastClassicScope = 0xffff - stacktrack::kLostReasons - 1;
constexpr uint64_t kLastClassicSequence = UINT32_MAX;

// A payload struct of wire.h as words.
template <typename T>
Payload to_payload(const T& fields) {
  static_assert(sizeof(T) <= sizeof(Payload));
  Payload payload{};
  __builtin_memcpy(&payload, &fields, sizeof(T));
  return payload;
}

inline constexpr uint16_t type_flags(RecordType type, uint32_t bits = 0) {
  return static_cast<uint16_t>(static_cast<uint16_t>(type) | bits);
}

static_assert(detail::kExit == stacktrack::kExit && detail::kHeldTime == stacktrack::kHeldTime);
static_assert(detail::kSlotBytes == stacktrack::wide::kEntryBytes);
static_assert(detail::kInfo == type_flags(RecordType::info) &&
              detail::kHasInfo == stacktrack::kHasInfo &&
              detail::kInfoEnd == stacktrack::kInfoEnd &&
              detail::kInfoBytes == stacktrack::kInfoBytes);
static_assert(type_flags(RecordType::hit) == 0);  // the inlined code stores its flags as they are

}  // namespace telltale::st
