#include "formats/mono/reader.h"

#include <fmt/format.h>

#include <algorithm>

namespace telltale::mono {
namespace {

constexpr auto kEventNames = std::to_array<std::string_view>({
    "Alloc",
    "GcEvent",
    "GcResize",
    "GcMove",
    "GcHandle",
    "GcFinalize",
    "Metadata",
    "Call",
    "Jit",
    "Throw",
    "Clause",
    "Monitor",
    "HeapShot",
    "HeapObject",
    "HeapRoots",
    "HeapRootArea",
    "SampleHit",
    "NativeSymbol",
    "NativeBinary",
    "CounterDescriptions",
    "Counters",
    "JitHelper",
    "CoverageAssembly",
    "CoverageMethod",
    "CoverageStatement",
    "CoverageClass",
    "SyncPoint",
    "AotId",
});
static_assert(kEventNames.size() == kEventKinds);

// A string of the header: its length, including the zero byte, and its bytes.
std::string_view header_string(Cursor& in, std::string_view field) {
  const int32_t size = in.read<int32_t>(field);
  if (size < 0) {
    in.fail(Error::Cause::bad_field, fmt::format("{} has a negative length", field));
    return {};
  }
  const Bytes bytes = in.take(static_cast<uint64_t>(size), field);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.substr(0, text.find('\0'));
}

uint32_t word_at(Bytes file, uint64_t offset) {
  if (offset > file.size() || file.size() - offset < sizeof(uint32_t)) return 0;
  Cursor in(file.subspan(static_cast<size_t>(offset), sizeof(uint32_t)));
  return in.read<uint32_t>("id");
}

}  // namespace

std::string_view event_name(EventKind kind) { return kEventNames[static_cast<size_t>(kind)]; }

std::string_view counter_section_name(uint64_t section) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"Mono JIT", "Mono GC", "Mono Metadata", "Mono Generics", "Mono Security", "Mono Runtime",
       "Mono System", "", "Mono Profiler"});
  for (size_t i = 0; i < kNames.size(); ++i)
    if (section == uint64_t{1} << (8 + i)) return kNames[i];
  return {};
}

bool looks_like_recording(Bytes file) { return word_at(file, 0) == kFileId; }

Result<FileHeader> read_file_header(Bytes file) {
  Cursor in(file);
  in.begin_record("FileHeader");
  FileHeader header;
  if (in.read<uint32_t>("id") != kFileId && !in.error())
    in.fail_at(0, Error::Cause::bad_magic, "not a Mono log-profiler recording");
  header.major = in.read<uint8_t>("major");
  header.minor = in.read<uint8_t>("minor");
  header.version = in.read<uint8_t>("data version");
  if (!in.error() && (header.version == 0 || header.version > kLastVersion)) {
    in.fail_at(6, Error::Cause::unsupported_version,
               fmt::format("data version {} is unknown; 1 to {} can be read", header.version,
                           kLastVersion));
  }
  header.pointer_size = in.read<uint8_t>("pointer size");
  if (!in.error() && header.pointer_size != 4 && header.pointer_size != 8) {
    in.fail_at(7, Error::Cause::bad_field,
               fmt::format("pointers have {} bytes; 4 or 8 are possible", header.pointer_size));
  }
  const HeaderLayout layout = header_layout(header.major);
  header.startup_ms = in.read<uint64_t>("startup time");
  if (layout.has_startup_ns) header.startup_ns = in.read<uint64_t>("startup time, ns");
  header.timer_overhead_ns = in.read<uint32_t>("timer overhead");
  header.flags = in.read<uint32_t>("flags");
  header.pid = in.read<uint32_t>("pid");
  header.port = in.read<uint16_t>("port");
  if (layout.has_strings) {
    header.arguments = header_string(in, "arguments");
    header.architecture = header_string(in, "architecture");
    header.operating_system = header_string(in, "operating system");
  } else {
    in.read<uint16_t>("operating system");
  }
  if (in.error()) return std::unexpected(*in.error());
  header.bytes = in.offset();
  return header;
}

std::optional<BufferHeader> read_buffer_header(Bytes file, uint64_t offset) {
  if (offset > file.size() || file.size() - offset < kBufferHeaderBytes) return std::nullopt;
  Cursor in(file.subspan(static_cast<size_t>(offset), kBufferHeaderBytes));
  if (in.read<uint32_t>("id") != kBufferId) return std::nullopt;
  BufferHeader header;
  header.length = in.read<uint32_t>("length");
  header.time_base = in.read<uint64_t>("time base");
  header.pointer_base = in.read<uint64_t>("pointer base");
  header.object_base = in.read<uint64_t>("object base");
  header.thread = in.read<uint64_t>("thread");
  header.method_base = in.read<uint64_t>("method base");
  return header;
}

void detail::skip_fields(LebCursor& in, BufferBases& bases, const Layout& layout, uint8_t first,
                         ListRoom& room, EventKind kind) {
  FieldReader reader(in, bases, layout, first, room);
  with_record_of(kind, [&](auto&& record) { fields(reader, record); });
}

void SkippedMethods::add_rows(BufferBases& bases, const Layout& layout) {
  ListRoom room;
  for (const Bytes row : rows_) {
    LebCursor in(row);
    BufferBases steps;  // the method starts at 0
    while (in.ok() && in.left() != 0)
      (void)detail::decode_event(in, steps, layout, room, 0, [](const EventHead&, const auto&) {});
    bases.method += steps.method;
  }
  rows_.clear();
}

Error decode_error(const LebCursor& in, uint64_t offset, uint8_t first_byte, const Layout& layout) {
  const uint8_t kind = layout.events.kind[first_byte];
  Error error{Error::Cause::bad_field, {}, "Event", {}, offset};
  if (kind == EventTable::kNone) {
    error.detail =
        fmt::format("no event begins with 0x{:02x} in data version {}", first_byte, layout.version);
    return error;
  }
  error.record = event_name(static_cast<EventKind>(kind));
  switch (in.failure()) {
    case LebCursor::Failure::truncated:
      error.cause = Error::Cause::truncated;
      error.detail = fmt::format("the buffer ends inside it ({})", in.failed_field());
      break;
    case LebCursor::Failure::too_long:
      error.detail = fmt::format("{} has more than ten bytes", in.failed_field());
      break;
    case LebCursor::Failure::rejected:
    case LebCursor::Failure::none:
      error.detail = fmt::format("{} has an unknown value", in.failed_field());
      break;
  }
  return error;
}

}  // namespace telltale::mono
