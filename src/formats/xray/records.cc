#include "formats/xray/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>

#include "formats/xray/record_fields.h"

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

// The codec that reads the fields of FDR records (record_fields.h).
class FieldReader {
 public:
  FieldReader(Cursor& in, uint16_t version) : in_(in), version_(version) {}

  [[nodiscard]] uint16_t version() const { return version_; }
  template <std::integral T>
  void number(std::string_view name, T& value) {
    value = in_.read<T>(name);
  }
  template <std::integral T>
  void since_last(std::string_view name, T& value) {
    number(name, value);
  }
  void call(FunctionAction& action, uint32_t& function_id) {
    const auto word = in_.read<uint32_t>("function");
    const FunctionRecord record = in_.order() == std::endian::little
                                      ? decode_function<std::endian::little>(word, 0)
                                      : decode_function<std::endian::big>(word, 0);
    action = record.action;
    function_id = record.function_id;
  }
  void payload(Bytes&) {}  // read_fdr_record reads it, after the record

 private:
  Cursor& in_;
  uint16_t version_;
};

template <typename Record>
FdrPayload read_fields(FieldReader& reader) {
  Record record;
  fields(reader, record);
  return record;
}

FdrPayload read_metadata_body(Cursor& in, MetadataKind kind, uint16_t version) {
  FieldReader reader(in, version);
  switch (kind) {
    case MetadataKind::new_buffer:
      return read_fields<NewBuffer>(reader);
    case MetadataKind::end_of_buffer:
      return EndOfBuffer{};
    case MetadataKind::new_cpu_id:
      return read_fields<NewCpuId>(reader);
    case MetadataKind::tsc_wrap:
      return read_fields<TscWrap>(reader);
    case MetadataKind::walltime_marker:
      return read_fields<WalltimeMarker>(reader);
    case MetadataKind::custom_event_marker:
      return read_fields<CustomEvent>(reader);
    case MetadataKind::call_argument:
      return read_fields<CallArgument>(reader);
    case MetadataKind::buffer_extents:
      return read_fields<BufferExtents>(reader);
    case MetadataKind::typed_event_marker:
      return read_fields<TypedEvent>(reader);
    case MetadataKind::pid:
      return read_fields<Pid>(reader);
  }
  return EndOfBuffer{};  // unreachable: the caller has checked the kind
}

// Payload bytes after the 16 of an event marker; zero for other records.
int32_t payload_bytes(const FdrPayload& payload) {
  if (const auto* custom = std::get_if<CustomEvent>(&payload)) return custom->payload_bytes;
  if (const auto* typed = std::get_if<TypedEvent>(&payload)) return typed->payload_bytes;
  return 0;
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
                       .lost_events = lost,
                       .waits = (flags & kRecorderWaits) != 0,
                       .resumed = (flags & kRecorderResumed) != 0};
    if ((flags & kRecorderCounts) != 0) header.recorder.parts = bits >> kPartsShift;
  }
  if (in.error()) return std::unexpected(*in.error());
  std::copy_n(file.begin(), kFileHeaderBytes, header.raw.begin());
  return header;
}

uint32_t wait_us(Bytes wrap, const FileHeader& header) {
  if (!header.recorder.waits || wrap.size() < kMetadataRecordBytes) return 0;
  return Cursor(wrap.subspan(kWaitOffset), header.order).read<uint32_t>("wait_us");
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
    FunctionRecord function;
    FieldReader reader(body, version);
    fields(reader, function);
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
    record.payload = read_metadata_body(body, static_cast<MetadataKind>(kind), version);
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
