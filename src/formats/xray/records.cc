#include "formats/xray/records.h"

#include <fmt/format.h>

#include <algorithm>

namespace telltale::xray {
namespace {

bool known_version(uint16_t version, uint16_t type) {
  if (type == static_cast<uint16_t>(LogType::fdr))
    return version >= kFirstFdrVersion && version <= kLastFdrVersion;
  if (type == static_cast<uint16_t>(LogType::basic)) {
    return version >= kFirstBasicVersion && version <= kLastBasicVersion;
  }
  return false;
}

FdrPayload read_metadata_body(Cursor& in, MetadataKind kind, const FdrLayout& layout) {
  switch (kind) {
    case MetadataKind::new_buffer:
      return NewBuffer{in.read<int32_t>("tid")};
    case MetadataKind::end_of_buffer:
      return EndOfBuffer{};
    case MetadataKind::new_cpu_id: {
      const auto cpu = in.read<uint16_t>("cpu");
      return NewCpuId{cpu, in.read<uint64_t>("tsc")};
    }
    case MetadataKind::tsc_wrap:
      return TscWrap{in.read<uint64_t>("tsc")};
    case MetadataKind::walltime_marker: {
      const auto seconds = in.read<int64_t>("seconds");
      return WalltimeMarker{seconds, in.read<int32_t>("microseconds")};
    }
    case MetadataKind::custom_event_marker: {
      CustomEvent event;
      event.payload_bytes = in.read<int32_t>("event_size");
      if (layout.event_time_is_delta) {
        event.tsc_delta = in.read<int32_t>("tsc_delta");
      } else {
        event.tsc = in.read<uint64_t>("tsc");
      }
      if (layout.custom_event_has_cpu) event.cpu = in.read<uint16_t>("cpu");
      return event;
    }
    case MetadataKind::call_argument:
      return CallArgument{in.read<uint64_t>("argument")};
    case MetadataKind::buffer_extents:
      return BufferExtents{in.read<uint64_t>("extents")};
    case MetadataKind::typed_event_marker: {
      TypedEvent event;
      event.payload_bytes = in.read<int32_t>("event_size");
      event.tsc_delta = in.read<int32_t>("tsc_delta");
      event.event_type = in.read<uint16_t>("event_type");
      return event;
    }
    case MetadataKind::pid:
      return Pid{in.read<int32_t>("pid")};
  }
  return EndOfBuffer{};  // unreachable: the caller has checked the kind
}

// Payload bytes after the 16 of an event marker; zero for other records.
int32_t payload_bytes(const FdrPayload& payload) {
  if (const auto* custom = std::get_if<CustomEvent>(&payload)) return custom->payload_bytes;
  if (const auto* typed = std::get_if<TypedEvent>(&payload)) return typed->payload_bytes;
  return 0;
}

FunctionRecord read_function(Cursor& in) {
  const auto word = in.read<uint32_t>("function");
  const auto delta = in.read<uint32_t>("tsc_delta");
  return in.order() == std::endian::little ? decode_function<std::endian::little>(word, delta)
                                           : decode_function<std::endian::big>(word, delta);
}

}  // namespace

bool looks_like_trace(Bytes file) {
  if (file.size() < 4) return false;
  for (const std::endian order : {std::endian::little, std::endian::big}) {
    Cursor in(file.first(4), order);
    const auto version = in.read<uint16_t>("version");
    if (known_version(version, in.read<uint16_t>("type"))) return true;
  }
  return false;
}

Result<FileHeader> read_file_header(Bytes file) {
  FileHeader header;
  if (file.size() >= 4 && !looks_like_trace(file)) {
    for (const std::endian order : {std::endian::little, std::endian::big}) {
      Cursor in(file, order);
      const auto version = in.read<uint16_t>("version");
      const auto type = in.read<uint16_t>("type");
      if (version == 0 || version > 255 || type > 1 || file.size() < kFileHeaderBytes) continue;
      const bool fdr = type == static_cast<uint16_t>(LogType::fdr);
      return std::unexpected(Error{
          Error::Cause::unsupported_version,
          {},
          "FileHeader",
          fmt::format("version {} of XRay's {} format is unknown; telltale reads {} to {}", version,
                      fdr ? "FDR" : "basic", fdr ? kFirstFdrVersion : kFirstBasicVersion,
                      fdr ? kLastFdrVersion : kLastBasicVersion),
          0});
    }
    return std::unexpected(Error{
        Error::Cause::bad_magic, {}, "FileHeader", "these bytes do not begin an XRay trace", 0});
  }
  // Version and type are small, so only one byte order reads them as a known pair.
  Cursor probe(file);
  const auto first = probe.read<uint16_t>("version");
  const auto second = probe.read<uint16_t>("type");
  if (!known_version(first, second)) header.order = std::endian::big;

  Cursor in(file, header.order);
  in.begin_record("FileHeader");
  header.version = in.read<uint16_t>("version");
  header.type = static_cast<LogType>(in.read<uint16_t>("type"));
  const auto bits = in.read<uint32_t>("bitfield");
  const bool little = header.order == std::endian::little;
  header.constant_tsc = little ? (bits & 1) != 0 : (bits >> 31) != 0;
  header.nonstop_tsc = little ? (bits & 2) != 0 : ((bits >> 30) & 1) != 0;
  header.cycle_frequency = in.read<uint64_t>("cycle_frequency");
  const auto free_form = in.read<uint64_t>("buffer_size");
  if (header.type == LogType::fdr) header.buffer_size = free_form;
  const auto mark = in.read<uint16_t>("recorder_mark");
  const auto flags = in.read<uint8_t>("recorder_flags");
  const auto sparse = in.read<uint8_t>("sparse_interval");
  const auto lost = in.read<uint32_t>("lost_events");
  if (header.type == LogType::fdr && mark == kRecorderMark) {
    header.recorder = {.cells = (flags & kRecorderCells) != 0 && header.buffer_size != 0,
                       .sparse_interval = sparse,
                       .lost_events = lost};
    if ((flags & kRecorderCounts) != 0) header.recorder.parts = bits >> kPartsShift;
  }
  if (in.error()) return std::unexpected(*in.error());
  std::copy_n(file.begin(), kFileHeaderBytes, header.raw.begin());
  return header;
}

std::string_view record_name(const FdrPayload& payload) {
  static constexpr std::array<std::string_view, std::variant_size_v<FdrPayload>> kNames = {
      "Function",          "NewBuffer",    "EndOfBuffer",
      "NewCPUId",          "TSCWrap",      "WallTimeMarker",
      "CustomEventMarker", "CallArgument", "BufferExtents",
      "TypedEventMarker",  "Pid"};
  return kNames[payload.index()];
}

Result<FdrRecord> read_fdr_record(Cursor& in, uint16_t version) {
  const uint64_t start = in.offset();
  const Bytes rest = in.rest();
  in.begin_record("Record");
  if (rest.empty()) {
    in.fail(Error::Cause::truncated, "the buffer ends here");
    return std::unexpected(*in.error());
  }
  const auto first = std::to_integer<uint8_t>(rest[0]);
  const bool little = in.order() == std::endian::little;
  FdrRecord record;
  record.offset = start;

  const bool is_metadata = little ? (first & 1) != 0 : (first >> 7) != 0;
  if (!is_metadata) {
    in.begin_record("Function");
    Cursor body = in.split(kFunctionRecordBytes, "record");
    const FunctionRecord function = read_function(body);
    if (!in.error() && function.action > FunctionAction::enter_args) {
      in.fail_at(start, Error::Cause::bad_field,
                 fmt::format("unknown function action {}", static_cast<unsigned>(function.action)));
    }
    record.payload = function;
  } else {
    const auto kind = static_cast<uint8_t>(little ? first >> 1 : first & 0x7F);
    in.begin_record("Metadata");
    if (kind > kLastMetadataKind) {
      in.fail_at(start, Error::Cause::bad_field, fmt::format("unknown metadata kind {}", kind));
      return std::unexpected(*in.error());
    }
    Cursor body = in.split(kMetadataRecordBytes, "record");
    body.read<uint8_t>("kind");
    record.payload = read_metadata_body(body, static_cast<MetadataKind>(kind), fdr_layout(version));
    in.begin_record(record_name(record.payload));
    const int32_t size = payload_bytes(record.payload);
    if (size < 0) in.fail_at(start, Error::Cause::bad_field, fmt::format("event_size is {}", size));
    const Bytes payload = in.take(static_cast<uint64_t>(std::max(size, 0)), "payload");
    if (auto* custom = std::get_if<CustomEvent>(&record.payload)) custom->payload = payload;
    if (auto* typed = std::get_if<TypedEvent>(&record.payload)) typed->payload = payload;
  }
  if (in.error()) return std::unexpected(*in.error());
  record.raw = rest.first(static_cast<size_t>(in.offset() - start));
  return record;
}

}  // namespace telltale::xray
