#include "formats/mono/call_run.h"

#include <algorithm>

#include "bytes/leb_word.h"

namespace telltale::mono {
namespace {

// The numbers of two bytes each that stand in the lowest four bytes of a word, in 16 bits each.
constexpr uint64_t pairs(uint64_t word) { return (word & 0x007F'007F) | (word >> 1 & 0x3F80'3F80); }
constexpr uint64_t first_of(uint64_t pairs) { return pairs & 0xFFFF; }

// Times between calls are 128 ns to 16 us as a rule, which is two bytes; methods are mostly near
// the last one, in two bytes or one. What is so is read from one word, and its length is guessed
// (by the processor): to wait for it takes longer. The first byte of a word is its lowest.
struct Shape {
  uint64_t mask;
  uint64_t bits;
  [[nodiscard]] constexpr bool fits(uint64_t word) const { return (word & mask) == bits; }
};
constexpr uint64_t kCallMask = 0xCF;  // of the first byte: a call, or 0x03
constexpr uint64_t kCallBits = static_cast<uint64_t>(Group::method);
constexpr uint64_t kEnter = static_cast<uint64_t>(Call::Action::enter) << TimedCall::kActionShift;
constexpr Shape kShort{0x8080'8000 | kCallMask, 0x0000'8000 | kCallBits};
constexpr Shape kLonger{0x80'8080'8000 | kCallMask, 0x00'8000'8000 | kCallBits};  // method: two
// An exit of the same method as the event before it: no step.
constexpr Shape kSameMethodLeaves{0xFF80'80FF, 0x0000'8000 | kLeaveByte};
// A short event and a leaf's exit are seven bytes or more; an event, its exit and the word that is
// looked at behind them at most 8 + 4 + 8.
constexpr std::ptrdiff_t kShortestEvent = 3;
constexpr std::ptrdiff_t kFarFromEnd = 20;

}  // namespace

size_t CallRun::read() {
  const uint8_t* at = in_.data();
  const auto left = static_cast<std::ptrdiff_t>(in_.left());
  const auto room = static_cast<std::ptrdiff_t>(block_.size());
  if (left < kFarFromEnd) return read_one();
  const uint8_t* const stop = at + std::min(left - kFarFromEnd, (room - 1) * kShortestEvent);
  uint64_t time = bases_.time;
  uint64_t method = bases_.method;
  const uint64_t mask = bases_.address_mask;
  TimedCall* call = block_.data();
  uint64_t word = leb_word(at);
  for (; at <= stop; ++call) {
    const uint64_t action = word & TimedCall::kActionBits;
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
      if ((word & kCallMask) != kCallBits || method_ends == 0) break;
      const unsigned time_bytes = leb_first_bytes(ends);
      const unsigned both_bytes = leb_first_bytes(method_ends);
      time += leb_bits(leb_first(bytes, ends));
      method += sign_extended(leb_bits(leb_first(bytes, method_ends) >> 8 * time_bytes),
                              7 * (both_bytes - time_bytes));
      at += 1 + both_bytes;
    }
    call->time = time;
    call->method = method & mask;
    word = leb_word(at);
    if (action == kEnter && kSameMethodLeaves.fits(word)) {
      const uint64_t duration = first_of(pairs(word >> 8));
      call->set_leaf(duration);
      time += duration;
      at += 4;
      word = leb_word(at);
    } else {
      call->set(action);
    }
  }
  if (call == block_.data()) return read_one();
  in_.seek_to(at);
  bases_.time = time;
  bases_.method = method;
  return static_cast<size_t>(call - block_.data());
}

// What is longer, or near the end of the bytes.
size_t CallRun::read_one() {
  if (in_.left() == 0 || !is_call(*in_.data())) return 0;
  const size_t begin = in_.position();
  const uint8_t first = in_.byte("type");
  const uint64_t time = in_.uleb("time");
  const auto step = static_cast<uint64_t>(in_.sleb("method"));
  if (!in_.ok()) {
    in_.seek(begin);
    return 0;
  }
  bases_.time += time;
  bases_.method += step;
  TimedCall& call = block_.front();
  call.time = bases_.time;
  call.method = bases_.method & bases_.address_mask;
  call.set(first & TimedCall::kActionBits);
  return 1;
}

}  // namespace telltale::mono
