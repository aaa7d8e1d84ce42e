#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "bytes/advance_predicted.h"
#include "bytes/leb_cursor.h"
#include "bytes/leb_ends.h"
#include "bytes/leb_word.h"
#include "bytes/prefetch_input.h"
#include "formats/mono/field_reader.h"
#include "formats/mono/versions.h"
#include "formats/mono/wire.h"

namespace telltale::mono {

// The stack of an event as it is encoded: the first method, which is the outermost call, and then
// the step from each method to the next one. Equal stacks have equal bytes.
struct EncodedStack {
  uint64_t first = 0;
  uint32_t methods = 0;  // 1 or more
  const uint8_t* begin = nullptr;
  const uint8_t* end = nullptr;  // of the steps: signed numbers, all of them complete
};

// Consecutive allocations, objects of heap shots, exception clauses, moves and roots, of which a
// visitor needs types, sizes, times and numbers: nearly all of most recordings without calls.
// References, objects and methods are skipped, and stacks, except those of allocations for visitors
// that take them encoded. Versions 16 and 17.
class SkimRun {
  static constexpr uint8_t kAllocByte = event_byte(Group::alloc, 0);
  static constexpr uint8_t kTracedAllocByte = event_byte(Group::alloc, info::kAllocBacktrace);
  static constexpr uint8_t kHeapObjectByte = event_byte(Group::heap, info::kHeapObject);
  static constexpr uint8_t kClauseByte = event_byte(Group::exception, info::kExceptionClause);
  static constexpr uint8_t kMoveByte = event_byte(Group::gc, info::kGcMove);
  static constexpr uint8_t kRootsByte = event_byte(Group::heap, info::kHeapRoot);

 public:
  // The details that a visitor needs besides types, sizes and times.
  struct Wants {
    // Stacks of any event; objects of allocations.
    bool stacks = true;
    // References of heap objects, and the object's own address; objects of moves and roots.
    bool references = true;
    // With `stacks`: methods and objects of clauses.
    bool clauses = true;
    // With `stacks`: the visitor takes allocations with encoded stacks, by traced_allocation().
    bool encoded_stacks = false;

    // Whether SkimRun handles an event with this first byte.
    [[nodiscard]] bool skims(uint8_t first) const {
      if (first == kHeapObjectByte || first == kMoveByte || first == kRootsByte) return !references;
      if (first == kClauseByte) return !(stacks && clauses);
      if (stacks) return encoded_stacks && first == kTracedAllocByte;
      return first == kAllocByte || first == kTracedAllocByte;
    }
  };
  static bool fits(const Layout& layout) { return layout.heap_object_has_generation; }

  // REQUIRES: the event at the cursor can be skimmed.
  SkimRun(LebCursor& in, BufferBases& bases, const Wants& wants)
      : in_(in), bases_(bases), stacks_(wants.stacks) {}

  // Decodes common events of one kind, up to one that is not; the cursor is then at that event. The
  // running method is only updated if the visitor wants stacks. Calls
  //   use.allocation(time, type, size), use.heap_object(time, type, size), use.clause(time, type),
  //   use.moves(time, number of addresses), use.roots(time), or, instead of use.allocation(),
  //   use.traced_allocation(time, type, object, size, EncodedStack), which returns the sum of the
  //   stack's steps,
  // of which `use` need not have all. The calls are made on a copy of `use`, which the compiler can
  // keep in registers, and which is then assigned to it.
  template <typename Use>
  void play(Use& use) {
    if (!takes<Use>(*in_.data())) return skip();
#ifdef TELLTALE_HAS_BMI2
    if (LebBmi2::is_fast()) return play_bmi2(use);
#endif
    play_portably(use);
  }
  // The same on any processor.
  template <typename Use>
  void play_portably(Use& use) {
    play_with<LebPortable>(use);
  }
  // Reads only the times, also of events that the caller of play() does not take.
  void skip();
  // Whether methods were skipped, so that the running method is another one now.
  [[nodiscard]] bool skipped_methods() const { return skipped_methods_; }

 private:
  // The bytes of an event that are read at once, from its first number on.
  static constexpr unsigned kHeapObjectBytes = 32;
  static constexpr unsigned kAllocationBytes = 64;
  static constexpr unsigned kClauseBytes = 16;
  // An event's first byte, the bytes read at once, and the word read at the last of these.
  static constexpr std::ptrdiff_t kFarFromEnd = 80;
  static constexpr unsigned kMostBytes = 8;      // of a number that is read here
  static constexpr unsigned kMostLebBytes = 10;  // of any number

  template <typename Use>
  static constexpr bool kTakesAllocations = requires(Use& use) { use.allocation(0U, 0U, 0U); };
  template <typename Use>
  static constexpr bool kTakesHeapObjects = requires(Use& use) { use.heap_object(0U, 0U, 0U); };
  template <typename Use>
  static constexpr bool kTakesClauses = requires(Use& use) { use.clause(0U, uint8_t{}); };
  template <typename Use>
  static constexpr bool kTakesMoves = requires(Use& use) { use.moves(0U, 0U); };
  template <typename Use>
  static constexpr bool kTakesRoots = requires(Use& use) { use.roots(0U); };
  template <typename Use>
  static constexpr bool kTakesEncodedStacks = requires(Use& use, const EncodedStack& stack) {
    use.traced_allocation(0U, 0U, 0U, 0U, stack);
  };
  template <typename Use>
  static bool takes(uint8_t first) {
    if (first == kHeapObjectByte) return kTakesHeapObjects<Use>;
    if (first == kMoveByte) return kTakesMoves<Use>;
    if (first == kRootsByte) return kTakesRoots<Use>;
    if (first == kClauseByte) return kTakesClauses<Use>;
    return kTakesAllocations<Use> || kTakesEncodedStacks<Use>;
  }

#ifdef TELLTALE_HAS_BMI2
  template <typename Use>
  [[TELLTALE_TARGET_BMI2]] void play_bmi2(Use& use) {
    play_with<LebBmi2>(use);
  }
#endif
  template <typename Leb, typename Use>
  [[gnu::always_inline]] void play_with(Use& caller) {
    const uint8_t* const begin = in_.data();
    const auto left = static_cast<std::ptrdiff_t>(in_.left());
    if (left < kFarFromEnd) return;
    last_word_ = begin + (left - static_cast<std::ptrdiff_t>(sizeof(uint64_t)));
    const uint8_t* const stop = begin + (left - kFarFromEnd);
    Use use = caller;
    if (*begin == kHeapObjectByte) {
      if constexpr (kTakesHeapObjects<Use>) play_heap_objects<Leb>(begin, stop, use);
    } else if (*begin == kClauseByte) {
      if constexpr (kTakesClauses<Use>) {
        if (stacks_) {
          play_clauses<Leb, true>(begin, stop, use);
        } else {
          play_clauses<Leb, false>(begin, stop, use);
        }
      }
    } else if (*begin == kMoveByte) {
      if constexpr (kTakesMoves<Use>) {
        play_lists<Leb>(begin, stop, 1,
                        [&use](uint64_t time, uint64_t count) { use.moves(time, count); });
      }
    } else if (*begin == kRootsByte) {
      if constexpr (kTakesRoots<Use>)
        play_lists<Leb>(begin, stop, 2, [&use](uint64_t time, uint64_t) { use.roots(time); });
    } else if (stacks_) {
      if constexpr (kTakesEncodedStacks<Use>) play_traced_allocations<Leb>(begin, stop, use);
    } else {
      if constexpr (kTakesAllocations<Use>) play_allocations<Leb>(begin, stop, use);
    }
    caller = use;
  }

  // The place after the lowest set bit, which is cleared; 65 if there is none.
  template <typename Leb>
  [[gnu::always_inline]] static unsigned take_end(uint64_t& ends) {
    const unsigned end = Leb::first(ends) + 1;
    ends &= ends - 1;
    return end;
  }
  // The number in the bytes [begin, end): 1 to 8 bytes.
  template <typename Leb>
  [[gnu::always_inline]] static uint64_t unsigned_in(const uint8_t* fields, unsigned begin,
                                                     unsigned end) {
    const unsigned unused = 64 - 8 * (end - begin);
    return Leb::bits(leb_word(fields + begin) << unused >> unused);
  }
  // The same of a number that usually has one byte.
  template <typename Leb>
  [[gnu::always_inline]] static uint64_t small_in(const uint8_t* fields, unsigned begin,
                                                  unsigned end) {
    if (end - begin == 1) [[likely]]
      return fields[begin];
    return unsigned_in<Leb>(fields, begin, end);
  }
  template <typename Leb>
  [[gnu::always_inline]] static uint64_t signed_in(const uint8_t* fields, unsigned begin,
                                                   unsigned end) {
    return sign_extended(unsigned_in<Leb>(fields, begin, end), 7 * (end - begin));
  }
  // The place after `count` numbers; null if one of them is long, or they come near the end.
  [[gnu::always_inline]] const uint8_t* after(const uint8_t* at, size_t count) const {
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
  // The same, for a count from the input.
  [[gnu::always_inline]] const uint8_t* behind_items(const uint8_t* at, uint64_t items,
                                                     unsigned numbers_each) const {
    // Each number has a byte at least.
    if (at > last_word_ || items > static_cast<uint64_t>(last_word_ - at)) return nullptr;
    return after(at, static_cast<size_t>(items) * numbers_each);
  }
  // The place after `count` numbers at event + begin, where `ends` has the ends of the `kWindow`
  // bytes from `event` on. Null as above.
  template <typename Leb, unsigned kWindow>
  [[gnu::always_inline]] const uint8_t* after(const uint8_t* event, uint64_t ends, unsigned begin,
                                              unsigned count) const {
    if (count == 0) return event + begin;
    if (count > kWindow) [[unlikely]]
      return after(event + begin, count);
    const unsigned bytes = Leb::nth(ends >> begin, count - 1) + 1;
    // Each has a byte at least, so that none is long if all together have few.
    const bool all_short = bytes < count + kMostLebBytes;
    if (bytes > kWindow || (!all_short && leb_may_be_long<kWindow>(ends))) [[unlikely]]
      return after(event + begin, count);
    return event + begin + bytes;
  }
  // The place after a list of references whose number is at fields + begin. Null as above.
  template <typename Leb>
  [[gnu::noinline]] const uint8_t* behind_many(const uint8_t* fields, uint64_t ends,
                                               unsigned begin) const {
    const unsigned end = begin + Leb::first(ends >> begin) + 1;
    if (end - begin > kMostBytes) return nullptr;
    return behind_items(fields + end, unsigned_int(unsigned_in<Leb>(fields, begin, end)), 2);
  }
  // Whether four numbers with these ends, in ascending order, have at most kMostBytes bytes each.
  // False if an end was missing.
  [[gnu::always_inline]] static bool all_short(unsigned first, unsigned second, unsigned third,
                                               unsigned fourth) {
    // Each of them has a byte at least.
    if (fourth <= kMostBytes + 3) [[likely]]
      return true;
    const auto over = [](unsigned bytes) { return kMostBytes - bytes; };  // wraps if too many
    return static_cast<int>(over(first) | over(second - first) | over(third - second) |
                            over(fourth - third)) >= 0;
  }
  void stand_at(const uint8_t* at, uint64_t time) {
    in_.seek_to(at);
    bases_.time = time;
  }

  // Fields: time, object, type, size, a byte, the number of references, two numbers each.
  template <typename Leb, typename Use>
  [[gnu::always_inline]] void play_heap_objects(const uint8_t* at, const uint8_t* stop, Use& use) {
    uint64_t time = bases_.time;
    const uint64_t pointer = bases_.pointer;
    const uint64_t mask = bases_.address_mask;
    while (at <= stop && *at == kHeapObjectByte) {
      prefetch_input(at);
      const uint8_t* const fields = at + 1;
      const uint64_t all_ends = leb_ends<kHeapObjectBytes>(fields);
      uint64_t ends = all_ends;
      const unsigned time_end = take_end<Leb>(ends);
      const unsigned object_end = take_end<Leb>(ends);
      const unsigned type_end = take_end<Leb>(ends);
      const unsigned size_end = take_end<Leb>(ends);
      if (!all_short(time_end, object_end, type_end, size_end)) [[unlikely]]
        break;
      const uint8_t references = fields[size_end + 1];
      const uint8_t* const next =
          references < 0x80
              ? after<Leb, kHeapObjectBytes>(fields, all_ends, size_end + 2, 2U * references)
              : behind_many<Leb>(fields, all_ends, size_end + 1);
      if (next == nullptr) [[unlikely]]
        break;
      time += small_in<Leb>(fields, 0, time_end);
      use.heap_object(time, (pointer + signed_in<Leb>(fields, object_end, type_end)) & mask,
                      unsigned_int(small_in<Leb>(fields, type_end, size_end)));
      at = advance_predicted(at, static_cast<size_t>(next - at));
    }
    stand_at(at, time);
  }

  // Fields: time, type, object, size, and a stack: its number of methods, these.
  template <typename Leb, typename Use>
  [[gnu::always_inline]] void play_allocations(const uint8_t* at, const uint8_t* stop, Use& use) {
    uint64_t time = bases_.time;
    const uint64_t pointer = bases_.pointer;
    const uint64_t mask = bases_.address_mask;
    bool traced = false;
    while (at <= stop && (*at == kTracedAllocByte || *at == kAllocByte)) {
      prefetch_input(at);
      const uint8_t* const fields = at + 1;
      const uint64_t all_ends = leb_ends<kAllocationBytes>(fields);
      uint64_t ends = all_ends;
      const unsigned time_end = take_end<Leb>(ends);
      const unsigned type_end = take_end<Leb>(ends);
      const unsigned object_end = take_end<Leb>(ends);
      const unsigned size_end = take_end<Leb>(ends);
      if (!all_short(time_end, type_end, object_end, size_end)) [[unlikely]]
        break;
      const uint8_t* next = fields + size_end;
      if (*at == kTracedAllocByte) {
        if (*next >= 0x80) [[unlikely]]
          break;
        next = after<Leb, kAllocationBytes>(fields, all_ends, size_end + 1, *next);
        if (next == nullptr) [[unlikely]]
          break;
        traced = true;
      }
      time += unsigned_in<Leb>(fields, 0, time_end);
      use.allocation(time, (pointer + signed_in<Leb>(fields, time_end, type_end)) & mask,
                     unsigned_int(small_in<Leb>(fields, object_end, size_end)));
      at = advance_predicted(at, static_cast<size_t>(next - at));
    }
    stand_at(at, time);
    skipped_methods_ = skipped_methods_ || traced;
  }

  // The same, with stacks.
  template <typename Leb, typename Use>
  [[gnu::always_inline]] void play_traced_allocations(const uint8_t* at, const uint8_t* stop,
                                                      Use& use) {
    uint64_t time = bases_.time;
    uint64_t method = bases_.method;
    const uint64_t pointer = bases_.pointer;
    const uint64_t object_base = bases_.object;
    const uint64_t mask = bases_.address_mask;
    while (at <= stop && *at == kTracedAllocByte) {
      prefetch_input(at);
      const uint8_t* const fields = at + 1;
      const uint64_t all_ends = leb_ends<kAllocationBytes>(fields);
      uint64_t ends = all_ends;
      const unsigned time_end = take_end<Leb>(ends);
      const unsigned type_end = take_end<Leb>(ends);
      const unsigned object_end = take_end<Leb>(ends);
      const unsigned size_end = take_end<Leb>(ends);
      if (!all_short(time_end, type_end, object_end, size_end)) [[unlikely]]
        break;
      const unsigned methods = fields[size_end];
      const unsigned methods_at = size_end + 1;
      ends &= ends - 1;  // of the number of methods
      const unsigned first_end = take_end<Leb>(ends);
      if (methods == 0 || methods >= 0x80 || first_end - methods_at > kMostBytes) [[unlikely]]
        break;
      const uint8_t* const next =
          after<Leb, kAllocationBytes>(fields, all_ends, methods_at, methods);
      if (next == nullptr) [[unlikely]]
        break;
      time += unsigned_in<Leb>(fields, 0, time_end);
      method += signed_in<Leb>(fields, methods_at, first_end);
      method += use.traced_allocation(
          time, (pointer + signed_in<Leb>(fields, time_end, type_end)) & mask,
          ((object_base + signed_in<Leb>(fields, type_end, object_end)) << kObjectShift) & mask,
          unsigned_int(small_in<Leb>(fields, object_end, size_end)),
          EncodedStack{method, methods, fields + first_end, next});
      at = next;
    }
    stand_at(at, time);
    bases_.method = method;
  }

  // Fields: time, type (a byte), index, method, object.
  template <typename Leb, bool kUpdatesMethod, typename Use>
  [[gnu::always_inline]] void play_clauses(const uint8_t* at, const uint8_t* stop, Use& use) {
    uint64_t time = bases_.time;
    uint64_t method = bases_.method;
    while (at <= stop && *at == kClauseByte) {
      prefetch_input(at);
      const uint8_t* const fields = at + 1;
      uint64_t ends = leb_ends<kClauseBytes>(fields);
      const unsigned object_end = Leb::nth(ends, 4) + 1;
      const unsigned time_end = take_end<Leb>(ends);
      // Each of the five has a byte at least, so none of the others has more than ten.
      if (object_end > kMostLebBytes + 4 || time_end > kMostBytes || fields[time_end] >= 0x80)
          [[unlikely]]
        break;
      if constexpr (kUpdatesMethod) {
        ends &= ends - 1;  // of the type
        const unsigned index_end = take_end<Leb>(ends);
        const unsigned method_end = take_end<Leb>(ends);
        if (method_end - index_end > kMostBytes) [[unlikely]]
          break;
        method += signed_in<Leb>(fields, index_end, method_end);
      }
      time += unsigned_in<Leb>(fields, 0, time_end);
      use.clause(time, fields[time_end]);
      at = advance_predicted(at, object_end + 1);
      skipped_methods_ = !kUpdatesMethod;
    }
    stand_at(at, time);
    bases_.method = method;
  }

  // Fields: time, the number of items, `numbers_each` numbers for each. Calls use(time, items).
  template <typename Leb, typename Use>
  [[gnu::always_inline]] void play_lists(const uint8_t* at, const uint8_t* stop,
                                         unsigned numbers_each, Use use) {
    uint64_t time = bases_.time;
    const uint8_t first = *at;
    while (at <= stop && *at == first) {
      const uint8_t* const fields = at + 1;
      uint64_t ends = leb_ends<16>(fields);
      const unsigned time_end = take_end<Leb>(ends);
      const unsigned count_end = take_end<Leb>(ends);
      if (time_end > kMostBytes || count_end - time_end > kMostBytes) break;
      const uint64_t items = unsigned_int(unsigned_in<Leb>(fields, time_end, count_end));
      const uint8_t* const next = behind_items(fields + count_end, items, numbers_each);
      if (next == nullptr) break;
      time += unsigned_in<Leb>(fields, 0, time_end);
      use(time, items);
      at = next;
    }
    stand_at(at, time);
  }

  LebCursor& in_;
  BufferBases& bases_;
  bool stacks_;
  bool skipped_methods_ = false;
  const uint8_t* last_word_ = nullptr;
};

}  // namespace telltale::mono
