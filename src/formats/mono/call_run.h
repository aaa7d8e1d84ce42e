#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "bytes/leb_cursor.h"
#include "formats/mono/field_reader.h"
#include "formats/mono/records.h"
#include "formats/mono/wire.h"

namespace telltale::mono {

// An entry or exit, or both: the call of a method that calls nothing, a leaf.
struct TimedCall {
  uint64_t time;    // ns; a leaf's entry
  uint64_t method;  // address

  [[nodiscard]] bool is_leaf() const { return (detail_ & kLeaf) != 0; }
  [[nodiscard]] Call::Action action() const {
    return static_cast<Call::Action>((detail_ & kActionBits) >> kActionShift);
  }
  // Time of a leaf's exit, ns; of other events their own.
  [[nodiscard]] uint64_t left() const { return time + (detail_ >> kDurationShift); }

  // The action as it stands in the event's first byte.
  void set(uint64_t action_bits) { detail_ = action_bits; }
  void set_leaf(uint64_t duration) { detail_ = duration << kDurationShift | kLeaf; }

  static constexpr unsigned kActionShift = 4;
  static constexpr uint64_t kActionBits = 3 << kActionShift;

 private:
  static constexpr uint64_t kLeaf = 1;
  static constexpr unsigned kDurationShift = 8;
  uint64_t detail_;
};

// Entries and exits side by side: nearly all of a recording of calls. They are read in blocks, so
// that the loop that reads and the loop that uses what was read both fit the processor's registers.
class CallRun {
 public:
  CallRun(LebCursor& in, BufferBases& bases) : in_(in), bases_(bases) {}

  // The next calls, valid until the next question. None: another kind of event is next, or one that
  // cannot be read (then the cursor has failed, and stands at that event). Only within a block can
  // times go back, by overflow: then the block's last time is before its first.
  std::span<TimedCall> next() { return {block_.data(), read()}; }

  // Calls use(Call::Action, time, method) for each call event until there are none.
  template <typename Use>
  void for_each(Use use) {
    for (std::span<TimedCall> calls = next(); !calls.empty(); calls = next()) {
      for (const TimedCall& call : calls) {
        use(call.is_leaf() ? Call::Action::enter : call.action(), call.time, call.method);
        if (call.is_leaf()) use(Call::Action::leave, call.left(), call.method);
      }
    }
  }

  static bool is_call(uint8_t first) {
    return static_cast<uint8_t>(first - kLeaveByte) <= kExceptionLeaveByte - kLeaveByte &&
           (first & 0x0F) == static_cast<uint8_t>(Group::method);
  }

 private:
  size_t read();
  size_t read_one();

  LebCursor& in_;
  BufferBases& bases_;
  std::array<TimedCall, 128> block_;  // not set by the constructor
};

}  // namespace telltale::mono
