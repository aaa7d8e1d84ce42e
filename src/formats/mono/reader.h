#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "bytes/cursor.h"
#include "formats/mono/field_reader.h"
#include "formats/mono/records.h"
#include "formats/mono/versions.h"

namespace telltale::mono {

// What opens every file. Strings come from the command line and are not trusted.
struct FileHeader {
  uint8_t major = 0;  // of the profiler; decides the header's layout
  uint8_t minor = 0;
  uint8_t version = 0;       // of the data; decides everything else
  uint8_t pointer_size = 8;  // 4 or 8
  uint64_t startup_ms = 0;   // since the Unix epoch; 0: unknown
  uint64_t startup_ns = 0;   // on the clock of the events; 0 before profiler 3.0
  uint32_t timer_overhead_ns = 0;
  uint32_t flags = 0;          // nobody ever set one
  uint32_t pid = 0;            // 0: unknown
  uint16_t port = 0;           // of the command server; 0: none
  std::string_view arguments;  // views of the file, up to their first zero byte; profiler 1.0
  std::string_view architecture;
  std::string_view operating_system;
  uint64_t bytes = 0;  // of the whole header

  [[nodiscard]] uint64_t address_mask() const {
    return pointer_size == 4 ? 0xFFFF'FFFF : ~uint64_t{0};
  }
};

// Errors: truncated, bad_magic, unsupported_version (0 or more than 17), bad_field (pointer size,
// a negative string length).
Result<FileHeader> read_file_header(Bytes file);
// True if the first bytes are the id of a recording.
bool looks_like_recording(Bytes file);

struct BufferHeader {
  uint32_t length = 0;     // of the events behind it, bytes
  uint64_t time_base = 0;  // ns
  uint64_t pointer_base = 0;
  uint64_t object_base = 0;  // shifted right by kObjectShift
  uint64_t thread = 0;       // id, as the system has it
  uint64_t method_base = 0;

  [[nodiscard]] BufferBases bases(uint64_t address_mask) const {
    return {time_base, method_base, pointer_base, object_base, address_mask};
  }
};
// Decodes the header at `offset`; nothing if its id does not stand there or the file ends in it.
std::optional<BufferHeader> read_buffer_header(Bytes file, uint64_t offset);

// Where the decoding of a buffer ended and, if not at its end, why.
struct DecodeEnd {
  uint64_t offset = 0;         // one past the last whole event, in the file
  std::optional<Error> error;  // the event at `offset` could not be read
  uint64_t last_time = 0;      // running time after the last event, ns
};

namespace detail {

// Decodes one event: its first byte stands at in. `tell(head, record)` is called if it is whole.
// False if not; `in` then stands behind its last readable field.
template <typename Tell>
[[gnu::always_inline]] inline bool decode_event(LebCursor& in, BufferBases& bases,
                                                const Layout& layout, ListRoom& room,
                                                uint64_t file_offset, Tell&& tell) {
  const uint8_t* const begin = in.data();
  const uint64_t offset = file_offset + in.position();
  const uint8_t first = in.byte("type");
  const uint8_t kind = layout.events.kind[first];
  if (kind == EventTable::kNone) {
    in.fail(LebCursor::Failure::rejected, "type");
    return false;
  }
  FieldReader reader(in, bases, layout, first, room);
  if (layout.events.has_time[first]) reader.running_time();
  with_record_of(static_cast<EventKind>(kind), [&](auto record) {
    fields(reader, record);
    if (!in.ok()) return;
    const EventHead head{
        static_cast<EventKind>(kind), first, bases.time, offset,
        Bytes(reinterpret_cast<const std::byte*>(begin), static_cast<size_t>(in.data() - begin))};
    tell(head, record);
  });
  return in.ok();
}

}  // namespace detail

// Entries and exits side by side. A visitor that keeps its state in local variables around
// for_each lets the compiler hold them in registers: this loop is what decoding costs.
class CallRun {
 public:
  CallRun(LebCursor& in, BufferBases& bases) : in_(in), bases_(bases) {}

  // Calls use(Call::Action, time, method) for each call event, until another kind of event, or one
  // that cannot be read (then the cursor has failed, and stands at that event).
  template <typename Use>
  [[gnu::always_inline]] void for_each(Use use) {
    const uint8_t* at = in_.data();
    const uint8_t* const end = at + in_.left();
    uint64_t time = bases_.time;
    uint64_t method = bases_.method;
    const uint64_t mask = bases_.address_mask;
    while (at != end) {
      const uint8_t first = *at;
      if (!is_call(first)) break;
      if (std::endian::native == std::endian::little && end - at > 8) [[likely]] {
        uint64_t word;
        std::memcpy(&word, at + 1, sizeof word);
        // Calls take 128 ns to 16 us between events, as a rule: two bytes. The method is mostly
        // near the last one: one byte or two, which nobody can predict, so no branch depends on it.
        if ((word & 0x8080) == 0x0080 && (word & 0x8080'0000) != 0x8080'0000) [[likely]] {
          time += (word & 0x7F) | (word >> 1 & 0x3F80);
          const uint64_t longer = word >> 23 & 1;
          const uint64_t step = (word >> 16 & 0x7F) | (word >> 17 & 0x3F80 & (0 - longer));
          const unsigned unused = 57 - static_cast<unsigned>(7 * longer);
          method += static_cast<uint64_t>(static_cast<int64_t>(step << unused) >> unused);
          at += 4 + longer;
          use(static_cast<Call::Action>(first >> 4), time, method & mask);
          continue;
        }
      }
      at = longer_event(at, time, method);
      if (at == nullptr) return;
      use(static_cast<Call::Action>(first >> 4), time, method & mask);
    }
    in_.seek_to(at);
    bases_.time = time;
    bases_.method = method;
  }

  static bool is_call(uint8_t first) {
    return static_cast<uint8_t>(first - kLeaveByte) <= kExceptionLeaveByte - kLeaveByte &&
           (first & 0x0F) == static_cast<uint8_t>(Group::method);
  }

 private:
  // Reads the call event at `at`, whatever its length; returns what follows it. Null if it cannot
  // be read: the cursor then stands at it, and the bases have the time and method before it.
  [[gnu::noinline]] const uint8_t* longer_event(const uint8_t* at, uint64_t& time,
                                                uint64_t& method) {
    in_.seek_to(at);
    bases_.time = time;
    bases_.method = method;
    const size_t begin = in_.position();
    in_.byte("type");
    const uint64_t time_step = in_.uleb("time");
    const uint64_t step = static_cast<uint64_t>(in_.sleb("method"));
    if (!in_.ok()) {
      in_.seek(begin);
      return nullptr;
    }
    time += time_step;
    method += step;
    return in_.data();
  }

  LebCursor& in_;
  BufferBases& bases_;
};

// Why a cursor stopped at an event, in words. `first_byte`: of that event.
Error decode_error(const LebCursor& in, uint64_t offset, uint8_t first_byte, const Layout& layout);

// Tells the events in `events`, the bytes behind a buffer's header, to a visitor, in file order:
//   visitor.calls(CallRun&)                  if there is one, for rows of entries and exits: calls
//                                            run.for_each(...) once
//   visitor.event(const EventHead&, const Record&)   for each record type it cares for; without a
//                                            calls() member, entries and exits as Call
// `file_offset` is where events[0] stands in the file. Stops at the first event that cannot be
// read: what follows cannot be interpreted (published text). Buffers are independent of one
// another: decode them in any order, on all cores.
template <typename Visitor>
DecodeEnd decode_buffer(Bytes events, BufferBases bases, uint64_t file_offset, const Layout& layout,
                        Visitor& visitor) {
  LebCursor in(events);
  ListRoom room;
  size_t whole = 0;  // position behind the last whole event
  while (in.ok() && in.left() != 0) {
    whole = in.position();
    if constexpr (requires(CallRun& run) { visitor.calls(run); }) {
      if (CallRun::is_call(*in.data())) {
        CallRun run(in, bases);
        visitor.calls(run);
        whole = in.position();
        continue;
      }
    }
    const BufferBases before = bases;
    const bool read = detail::decode_event(
        in, bases, layout, room, file_offset, [&](const EventHead& head, const auto& record) {
          if constexpr (requires { visitor.event(head, record); }) visitor.event(head, record);
        });
    if (!read) {
      bases.time = before.time;
      break;
    }
    whole = in.position();
  }
  DecodeEnd end{file_offset + whole, {}, bases.time};
  if (!in.ok())
    end.error = decode_error(in, end.offset, std::to_integer<uint8_t>(events[whole]), layout);
  return end;
}

}  // namespace telltale::mono
