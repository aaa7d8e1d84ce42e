#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "bytes/leb_cursor.h"
#include "bytes/leb_word.h"
#include "formats/mono/field_reader.h"
#include "formats/mono/versions.h"
#include "formats/mono/wire.h"

namespace telltale::mono {

// Consecutive allocations, objects of heap shots and exception clauses, of which a visitor needs
// types, sizes and times: nearly all of most recordings without calls. Stacks, references, objects
// and methods are skipped. Versions 16 and 17.
class SkimRun {
  static constexpr uint8_t kAllocByte = event_byte(Group::alloc, 0);
  static constexpr uint8_t kTracedAllocByte = event_byte(Group::alloc, info::kAllocBacktrace);
  static constexpr uint8_t kHeapObjectByte = event_byte(Group::heap, info::kHeapObject);
  static constexpr uint8_t kClauseByte = event_byte(Group::exception, info::kExceptionClause);

 public:
  // The details that a visitor needs besides types, sizes and times.
  struct Wants {
    // Stacks of any event; objects of allocations; methods and objects of clauses.
    bool stacks = true;
    bool references = true;  // of heap objects, and the object's own address

    // Whether SkimRun handles an event with this first byte.
    [[nodiscard]] bool skims(uint8_t first) const {
      if (first == kHeapObjectByte) return !references;
      return !stacks && (first == kAllocByte || first == kTracedAllocByte || first == kClauseByte);
    }
  };
  static bool fits(const Layout& layout) { return layout.heap_object_has_generation; }

  // REQUIRES: the event at the cursor can be skimmed.
  SkimRun(LebCursor& in, BufferBases& bases) : in_(in), bases_(bases) {}

  // Decodes common events of one kind, up to one that is not; the cursor is then at that event. The
  // running method is not updated. Calls
  //   use.allocation(time, type, size), use.heap_object(time, type, size), use.clause(time, type)
  template <typename Use>
  void play(Use& use) {
    const uint8_t* const begin = in_.data();
    const auto left = static_cast<std::ptrdiff_t>(in_.left());
    if (left < kFarFromEnd) return;
    last_word_ = begin + (left - static_cast<std::ptrdiff_t>(sizeof(uint64_t)));
    const uint8_t* const stop = begin + (left - kFarFromEnd);
    if (*begin == kHeapObjectByte) {
      play_heap_objects(begin, stop, use);
    } else if (*begin == kClauseByte) {
      play_clauses(begin, stop, use);
    } else {
      play_allocations(begin, stop, use);
    }
  }

 private:
  // The longest event without its list, and the words read after it.
  static constexpr std::ptrdiff_t kFarFromEnd = 48;
  static constexpr unsigned kMostBytes = 8;  // of a number that is read here

  // The ends of an event's first numbers, one past each, within sixteen bytes.
  class Ends {
   public:
    explicit Ends(const uint8_t* at) : bits_(bits_at(at)) {}
    // REQUIRES: called in this order; invalid after the last end.
    [[gnu::always_inline]] unsigned next() {
      const unsigned end = static_cast<unsigned>(std::countr_zero(bits_)) + 1;
      bits_ &= bits_ - 1;
      return end;
    }
    // Whether there was another end before the last next().
    [[nodiscard]] bool any() const { return bits_ != 0; }

   private:
    static uint32_t bits_at(const uint8_t* at) {
#if defined(__SSE2__)
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
      return static_cast<uint32_t>(_mm_movemask_epi8(bytes)) ^ 0xFFFF;
#else
      const auto bits = [](uint64_t word) {
        return static_cast<uint32_t>(((~word & kLebContinues) >> 7) * 0x0102'0408'1020'4080 >> 56);
      };
      return bits(leb_word(at)) | bits(leb_word(at + 8)) << 8;
#endif
    }
    uint32_t bits_;
  };

  // The number in the bytes [begin, end): 1 to 8 bytes.
  [[gnu::always_inline]] static uint64_t unsigned_in(const uint8_t* fields, unsigned begin,
                                                     unsigned end) {
    const unsigned unused = 64 - 8 * (end - begin);
    return leb_bits(leb_word(fields + begin) << unused >> unused);
  }
  [[gnu::always_inline]] uint64_t pointer_in(const uint8_t* fields, unsigned begin,
                                             unsigned end) const {
    const unsigned unused = 64 - 8 * (end - begin);
    const uint64_t value = leb_bits(leb_word(fields + begin) << unused >> unused);
    return (bases_.pointer + sign_extended(value, 7 * (end - begin))) & bases_.address_mask;
  }
  // The place after `count` numbers; null if one of them is long, or they come near the end.
  [[gnu::always_inline]] const uint8_t* behind(const uint8_t* at, unsigned count) const {
    constexpr uint64_t kOnes = 0x0101'0101'0101'0101;
    while (count != 0) {
      if (at > last_word_) [[unlikely]]
        return nullptr;
      const uint64_t ends = ~leb_word(at) & kLebContinues;
      if (ends == 0) [[unlikely]]
        return nullptr;
      const uint64_t up_to = (ends >> 7) * kOnes;  // number of ends up to each byte
      const auto all = static_cast<unsigned>(up_to >> 56);
      if (all >= count) {
        const uint64_t enough = ((up_to | kLebContinues) - count * kOnes) & kLebContinues;
        return at + leb_first_bytes(enough);
      }
      count -= all;
      // Advances to the next number, so that a long one fills a word.
      at += 8 - static_cast<unsigned>(std::countl_zero(ends)) / 8;
    }
    return at;
  }
  // No number between these ends is long. One branch: usually none is, or several are, without a
  // pattern.
  [[gnu::always_inline]] static bool all_short(unsigned first, unsigned second, unsigned third,
                                               unsigned fourth) {
    const auto over = [](unsigned bytes) { return kMostBytes - bytes; };  // wraps if too many
    return static_cast<int>(over(first) | over(second - first) | over(third - second) |
                            over(fourth - third)) >= 0;
  }
  void stand_at(const uint8_t* at, uint64_t time) {
    in_.seek_to(at);
    bases_.time = time;
  }

  // Fields: time, object, type, size, a byte, the number of references, two numbers each.
  template <typename Use>
  void play_heap_objects(const uint8_t* at, const uint8_t* stop, Use& use) {
    uint64_t time = bases_.time;
    while (at <= stop && *at == kHeapObjectByte) {
      const uint8_t* const fields = at + 1;
      Ends ends(fields);
      const unsigned time_end = ends.next();
      const unsigned object_end = ends.next();
      const unsigned type_end = ends.next();
      if (!ends.any()) [[unlikely]]
        break;
      const unsigned size_end = ends.next();
      if (!all_short(time_end, object_end, type_end, size_end)) [[unlikely]]
        break;
      const uint8_t references = fields[size_end + 1];
      if (references >= 0x80) [[unlikely]]
        break;
      const uint8_t* const next = behind(fields + size_end + 2, 2U * references);
      if (next == nullptr) [[unlikely]]
        break;
      time += unsigned_in(fields, 0, time_end);
      use.heap_object(time, pointer_in(fields, object_end, type_end),
                      unsigned_int(unsigned_in(fields, type_end, size_end)));
      at = next;
    }
    stand_at(at, time);
  }

  // Fields: time, type, object, size, and a stack: its number of methods, these.
  template <typename Use>
  void play_allocations(const uint8_t* at, const uint8_t* stop, Use& use) {
    uint64_t time = bases_.time;
    while (at <= stop && (*at == kTracedAllocByte || *at == kAllocByte)) {
      const uint8_t* const fields = at + 1;
      Ends ends(fields);
      const unsigned time_end = ends.next();
      const unsigned type_end = ends.next();
      const unsigned object_end = ends.next();
      if (!ends.any()) [[unlikely]]
        break;
      const unsigned size_end = ends.next();
      if (!all_short(time_end, type_end, object_end, size_end)) [[unlikely]]
        break;
      const uint8_t* next = fields + size_end;
      if (*at == kTracedAllocByte) {
        if (*next >= 0x80) [[unlikely]]
          break;
        next = behind(next + 1, *next);
        if (next == nullptr) [[unlikely]]
          break;
      }
      time += unsigned_in(fields, 0, time_end);
      use.allocation(time, pointer_in(fields, time_end, type_end),
                     unsigned_int(unsigned_in(fields, object_end, size_end)));
      at = next;
    }
    stand_at(at, time);
  }

  // Fields: time, type (a byte), index, method, object.
  template <typename Use>
  void play_clauses(const uint8_t* at, const uint8_t* stop, Use& use) {
    uint64_t time = bases_.time;
    while (at <= stop && *at == kClauseByte) {
      const uint8_t* const fields = at + 1;
      Ends ends(fields);
      const unsigned time_end = ends.next();
      const unsigned type_end = ends.next();
      const unsigned index_end = ends.next();
      const unsigned method_end = ends.next();
      if (!ends.any()) [[unlikely]]
        break;
      const unsigned object_end = ends.next();
      if (type_end != time_end + 1 || !all_short(time_end, index_end, method_end, object_end))
          [[unlikely]]
        break;
      time += unsigned_in(fields, 0, time_end);
      use.clause(time, fields[time_end]);
      at = fields + object_end;
    }
    stand_at(at, time);
  }

  LebCursor& in_;
  BufferBases& bases_;
  const uint8_t* last_word_ = nullptr;
};

}  // namespace telltale::mono
