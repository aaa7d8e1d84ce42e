#include "records.h"

#include <cstring>

#include "system.h"

namespace telltale::st {
namespace {

// By the first byte; 1 if no character of several bytes begins with it.
size_t character_bytes(unsigned char first) {
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  return first >= 0xf0 && first < 0xf5 ? 4 : 1;
}

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

}  // namespace

size_t truncated(const char* text, size_t bytes) {
  if (bytes <= kMaxTextBytes) return bytes;
  size_t begin = kMaxTextBytes;
  while (kMaxTextBytes - begin < kMaxCharacterBytes - 1 && continues_character(text[begin]))
    --begin;
  const size_t end = begin + character_bytes(static_cast<unsigned char>(text[begin]));
  if (end <= kMaxTextBytes || end > bytes) return kMaxTextBytes;
  for (size_t i = kMaxTextBytes; i < end; ++i) {
    if (!continues_character(text[i])) return kMaxTextBytes;
  }
  return begin;
}

void store_record(Layout layout, uint8_t* slot, const RecordHead& head, const Payload& payload) {
  uint64_t* const words = reinterpret_cast<uint64_t*>(slot);
  if (layout == Layout::wide) {
    const uint64_t first = head.flags | uint64_t{head.stream} << 16 | uint64_t{head.pid} << 32;
    return detail::store_slot(reinterpret_cast<uintptr_t>(slot), first, head.sequence,
                              payload.words[0], payload.words[1]);
  }
  const uint64_t first = head.flags | uint64_t{head.pid & 0xffff} << 16 | head.sequence << 32;
  __atomic_store_n(words + 1, payload.words[0], __ATOMIC_RELAXED);
  __atomic_store_n(words + 2, payload.words[1], __ATOMIC_RELAXED);
  __atomic_store_n(words, first, __ATOMIC_RELEASE);
}

void store_group(Layout layout, uint8_t* slots, const RecordHead& head, const Payload& payload,
                 const char* text, size_t bytes) {
  take_memory();
  const size_t count = info_records(bytes);
  for (size_t i = 0; i < count; ++i) {
    const size_t at = i * stacktrack::kInfoBytes;
    Payload part{};
    std::memcpy(&part, text + at, bytes - at < sizeof(part) ? bytes - at : sizeof(part));
    RecordHead info = head;
    info.flags = type_flags(RecordType::info, i + 1 == count ? stacktrack::kInfoEnd : 0);
    store_record(layout, slots + (i + 1) * slot_bytes(layout), info, part);
  }
  RecordHead leader = head;
  if (count > 0) leader.flags |= stacktrack::kHasInfo;
  store_record(layout, slots, leader, payload);
}

}  // namespace telltale::st
