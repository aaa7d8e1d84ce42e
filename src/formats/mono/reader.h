#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "bytes/cursor.h"
#include "formats/mono/call_run.h"
#include "formats/mono/field_reader.h"
#include "formats/mono/records.h"
#include "formats/mono/skim_run.h"
#include "formats/mono/versions.h"

namespace telltale::mono {

// The file header. Strings come from the command line and are not trusted.
struct FileHeader {
  uint8_t major = 0;  // of the profiler; determines the header's layout
  uint8_t minor = 0;
  uint8_t version = 0;       // of the data; determines everything else
  uint8_t pointer_size = 8;  // 4 or 8
  uint64_t startup_ms = 0;   // since the Unix epoch; 0: unknown
  uint64_t startup_ns = 0;   // on the clock of the events; 0 before profiler 3.0
  uint32_t timer_overhead_ns = 0;
  uint32_t flags = 0;          // never set by any version
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
  uint32_t length = 0;     // of the following events, bytes
  uint64_t time_base = 0;  // ns
  uint64_t pointer_base = 0;
  uint64_t object_base = 0;  // shifted right by kObjectShift
  uint64_t thread = 0;       // the system's id
  uint64_t method_base = 0;

  [[nodiscard]] BufferBases bases(uint64_t address_mask) const {
    return {time_base, method_base, pointer_base, object_base, address_mask};
  }
};
// Decodes the header at `offset`; empty if its id is not there or the file ends in it.
std::optional<BufferHeader> read_buffer_header(Bytes file, uint64_t offset);

// The place at which the decoding of a buffer ended and, if that is not its end, the reason.
struct DecodeEnd {
  uint64_t offset = 0;         // one past the last whole event, in the file
  std::optional<Error> error;  // the event at `offset` could not be read
  uint64_t last_time = 0;      // running time after the last event, ns
};

namespace detail {

// Reads the fields of an event of `kind` that follow its first byte and its time. They are not
// needed, so one function does for all visitors.
void skip_fields(LebCursor& in, BufferBases& bases, const Layout& layout, uint8_t first,
                 ListRoom& room, EventKind kind);

// Decodes one event; `in` is at its first byte. Calls `emit(head, record)` if it is complete and
// emit takes such a record. False if not; `in` is then after its last readable field.
template <typename Emit>
[[gnu::always_inline]] inline bool decode_event(LebCursor& in, BufferBases& bases,
                                                const Layout& layout, ListRoom& room,
                                                uint64_t file_offset, Emit&& emit) {
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
  with_record_of(static_cast<EventKind>(kind), [&]<typename Record>(Record&& record) {
    constexpr bool kTaken = std::invocable<Emit&, const EventHead&, const Record&>;
    // There may be millions of these: they are worth their own code even if they are skipped.
    if constexpr (kTaken || std::same_as<Record, Alloc> || std::same_as<Record, Clause>) {
      fields(reader, record);
      if constexpr (kTaken) {
        if (!in.ok()) return;
        const EventHead head{static_cast<EventKind>(kind), first, bases.time, offset,
                             Bytes(reinterpret_cast<const std::byte*>(begin),
                                   static_cast<size_t>(in.data() - begin))};
        emit(head, record);
      }
    } else {
      skip_fields(in, bases, layout, first, room, static_cast<EventKind>(kind));
    }
  });
  return in.ok();
}

}  // namespace detail

// Methods are encoded as steps from the previous method. Runs of events that were skipped without
// decoding their methods are noted here, and decoded only if the running method is needed.
class SkippedMethods {
 public:
  // Whole events.
  void note(Bytes events, const Layout& layout, BufferBases& bases) {
    if (rows_.size() == kMost) [[unlikely]]
      add_to(bases, layout);
    rows_.push_back(events);
  }
  void add_to(BufferBases& bases, const Layout& layout) {
    if (!rows_.empty()) [[unlikely]]
      add_rows(bases, layout);
  }
  // True if an event with this first byte has a method outside a stack or a clause.
  static bool matter_to(uint8_t first) { return static_cast<Group>(first & 0x0F) == Group::method; }

 private:
  static constexpr size_t kMost = 4096;
  void add_rows(BufferBases& bases, const Layout& layout);
  std::vector<Bytes> rows_;
};

template <typename Visitor, typename Record>
concept TakesRecord = requires(Visitor& visitor, const EventHead& head, const Record& record) {
  visitor.event(head, record);
};

// The reason why a cursor stopped at an event. `first_byte`: of that event.
Error decode_error(const LebCursor& in, uint64_t offset, uint8_t first_byte, const Layout& layout);

// Passes the events in `events`, the bytes after a buffer's header, to a visitor, in file order:
//   visitor.calls(CallRun&)                  if defined, for runs of entries and exits: calls
//                                            run.for_each(...) once
//   visitor.skim(SkimRun&)                   if defined, for runs of events that SkimRun handles:
//                                            calls run.play(...) once; visitor.wants() selects them
//   visitor.event(const EventHead&, const Record&)   for each record type that it handles;
//                                            without a calls() member, entries and exits as Call
// `file_offset` is the offset of events[0] in the file. Stops at the first unreadable event,
// because the following bytes cannot be interpreted (published text). Buffers are independent of
// one another: decode them in any order, on all cores.
template <typename Visitor>
DecodeEnd decode_buffer(Bytes events, BufferBases bases, uint64_t file_offset, const Layout& layout,
                        Visitor& visitor) {
  constexpr bool kSkims = requires(SkimRun& run) { visitor.skim(run); };
  LebCursor in(events);
  ListRoom room;
  SkippedMethods skipped;
  SkimRun::Wants wants;
  if constexpr (kSkims) {
    if (SkimRun::fits(layout)) wants = visitor.wants();
  }
  size_t whole = 0;  // position after the last whole event
  while (in.ok() && in.left() != 0) {
    whole = in.position();
    if constexpr (kSkims) {
      if (wants.skims(*in.data())) {
        SkimRun run(in, bases, wants);
        visitor.skim(run);
        if (in.position() != whole) {
          if (run.skipped_methods())
            skipped.note(events.subspan(whole, in.position() - whole), layout, bases);
          continue;
        }
      } else if (SkippedMethods::matter_to(*in.data())) {
        skipped.add_to(bases, layout);
      }
    }
    if constexpr (requires(CallRun& run) { visitor.calls(run); }) {
      if (CallRun::is_call(*in.data())) {
        CallRun run(in, bases);
        visitor.calls(run);
        whole = in.position();
        continue;
      }
    }
    const BufferBases before = bases;
    const bool read =
        detail::decode_event(in, bases, layout, room, file_offset,
                             [&]<typename Record>(const EventHead& head, const Record& record)
                               requires TakesRecord<Visitor, Record>
                             {
                               // The condition is for visitors without any event().
                               if constexpr (requires { visitor.event(head, record); })
                                 visitor.event(head, record);
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
