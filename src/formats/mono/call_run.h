#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "bytes/leb_cursor.h"
#include "bytes/leb_word.h"
#include "bytes/prefetch_input.h"
#include "formats/mono/field_reader.h"
#include "formats/mono/records.h"
#include "formats/mono/wire.h"

namespace telltale::mono {

struct TimedCall {
  Call::Action action;
  uint64_t time;    // ns
  uint64_t method;  // address
};

// Consecutive entries and exits: nearly all of a recording of calls. The consumer is inlined into
// the decoding loop.
class CallRun {
 public:
  CallRun(LebCursor& in, BufferBases& bases) : in_(in), bases_(bases) {}

  // Time of the previous event, ns.
  [[nodiscard]] uint64_t time() const { return bases_.time; }

  // The next call. Empty: the next event is of another kind, or unreadable (then the cursor has
  // failed and is at that event). Its time is before time() if that overflows.
  std::optional<TimedCall> next();

  // Decodes common calls on a fast path, up to one that is not; their times do not go back. Calls
  //   use.enter(time, method), use.leave(time, method), use.exception_leave(time, method), and
  //   use.leaf(entered, left, method): an entry directly followed by its exit
  template <typename Use>
  [[gnu::always_inline]] void play(Use& use);

  // Calls use(Call::Action, time, method) for each call event until there are none.
  template <typename Use>
  void for_each(Use use) {
    Each<Use> each{use};
    do {
      play(each);
    } while (each.call(next()));
  }

  static bool is_call(uint8_t first) {
    return static_cast<uint8_t>(first - kLeaveByte) <= kExceptionLeaveByte - kLeaveByte &&
           (first & 0x0F) == static_cast<uint8_t>(Group::method);
  }

 private:
  template <typename Use>
  struct Each {
    Use& use;
    void enter(uint64_t time, uint64_t method) { use(Call::Action::enter, time, method); }
    void leave(uint64_t time, uint64_t method) { use(Call::Action::leave, time, method); }
    void exception_leave(uint64_t time, uint64_t method) {
      use(Call::Action::exception_leave, time, method);
    }
    void leaf(uint64_t entered, uint64_t left, uint64_t method) {
      enter(entered, method);
      leave(left, method);
    }
    bool call(std::optional<TimedCall> one) {
      if (one) use(one->action, one->time, one->method);
      return one.has_value();
    }
  };

  // Tests which bits of a word have which values. The first byte of a word is its lowest.
  struct Shape {
    uint64_t mask;
    uint64_t bits;
    [[nodiscard]] constexpr bool fits(uint64_t word) const { return (word & mask) == bits; }
  };
  static constexpr uint64_t kActionBits = 0x30;  // of the first byte
  static constexpr uint64_t bits_of(Call::Action action) {
    return static_cast<uint64_t>(action) << 4;
  }
  static constexpr uint64_t kCallMask = 0xCF;  // of the first byte: a call, or 0x03
  static constexpr uint64_t kCallBits = static_cast<uint64_t>(Group::method);
  static constexpr Shape kAnyCall{kCallMask, kCallBits};
  // A time of two bytes and a method of two, or one.
  static constexpr Shape kLonger{0x80'8080'8000 | kCallMask, 0x00'8000'8000 | kCallBits};
  static constexpr Shape kShort{0x8080'8000 | kCallMask, 0x0000'8000 | kCallBits};
  // An exit of the previous event's method, after a time of two bytes: the method's step is 0.
  static constexpr Shape kSameMethodLeaves{0xFF80'80FF, 0x0000'8000 | kLeaveByte};
  // A time of four bytes at most: 2^28 ns times the 2^31 bytes of a buffer do not overflow.
  static constexpr uint64_t kEndsInFour = 0x8080'8080;
  static constexpr uint64_t kMayOverflow = uint64_t{1} << 63;
  // The longest event here, eight bytes, an exit of four, and the word read after it.
  static constexpr std::ptrdiff_t kFarFromEnd = 20;

  // The two-byte numbers in the lowest four bytes of a word, in 16 bits each.
  static constexpr uint64_t pairs(uint64_t word) {
    return (word & 0x007F'007F) | (word >> 1 & 0x3F80'3F80);
  }
  static constexpr uint64_t first_of(uint64_t pairs) { return pairs & 0xFFFF; }

  LebCursor& in_;
  BufferBases& bases_;
};

// Times between calls are usually 128 ns to 16 us, which is two bytes; methods are usually near the
// previous one, in two bytes or one. Such calls are read from one word, and the processor predicts
// their length: a data dependency on it would be slower.
template <typename Use>
inline void CallRun::play(Use& use) {
  const uint8_t* at = in_.data();
  const auto left = static_cast<std::ptrdiff_t>(in_.left());
  if (left < kFarFromEnd || bases_.time >= kMayOverflow) return;
  const uint8_t* const stop = at + (left - kFarFromEnd);
  uint64_t time = bases_.time;
  uint64_t method = bases_.method;
  const uint64_t mask = bases_.address_mask;
  uint64_t word = leb_word(at);
  while (at <= stop) {
    prefetch_input(at);
    const uint64_t action = word & kActionBits;
    if (action == 0) [[unlikely]]
      break;
    const uint64_t numbers = pairs(word >> 8);
    if (kLonger.fits(word)) [[likely]] {
      time += first_of(numbers);
      method += sign_extended(numbers >> 16, 14);
      at += 5;
    } else if (kShort.fits(word)) [[likely]] {
      time += first_of(numbers);
      method += sign_extended(numbers >> 16, 7);
      at += 4;
    } else {
      const uint64_t bytes = word >> 8;
      const uint64_t ends = ~bytes & kLebContinues >> 8;
      const uint64_t method_ends = ends & (ends - 1);
      if (!kAnyCall.fits(word) || method_ends == 0 || (ends & kEndsInFour) == 0) break;
      const unsigned time_bytes = leb_first_bytes(ends);
      const unsigned both_bytes = leb_first_bytes(method_ends);
      time += leb_bits(leb_first(bytes, ends));
      method += sign_extended(leb_bits(leb_first(bytes, method_ends) >> 8 * time_bytes),
                              7 * (both_bytes - time_bytes));
      at += 1 + both_bytes;
    }
    word = leb_word(at);
    if (action == bits_of(Call::Action::enter)) {
      if (kSameMethodLeaves.fits(word)) {
        const uint64_t entered = time;
        time += first_of(pairs(word >> 8));
        at += 4;
        word = leb_word(at);
        use.leaf(entered, time, method & mask);
      } else {
        use.enter(time, method & mask);
      }
    } else if (action == bits_of(Call::Action::leave)) [[likely]] {
      use.leave(time, method & mask);
    } else {
      use.exception_leave(time, method & mask);
    }
  }
  in_.seek_to(at);
  bases_.time = time;
  bases_.method = method;
}

}  // namespace telltale::mono
