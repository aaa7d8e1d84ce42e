#include "formats/xray/encode.h"

#include <algorithm>
#include <concepts>
#include <cstring>
#include <utility>
#include <variant>

namespace telltale::xray {
namespace {

// Stores an integer at a fixed place of a record in `out`.
class RecordBytes {
 public:
  // Appends `size` bytes to `out`, those of `base` and then unused ones, to be filled in.
  RecordBytes(std::string& out, size_t size, const Encoding& encoding, Bytes base)
      : out_(out), start_(out.size()), order_(encoding.order) {
    const size_t known = std::min(size, base.size());
    out_.append(reinterpret_cast<const char*>(base.data()), known);
    out_.append(size - known, static_cast<char>(encoding.unused));
  }

  template <std::integral T>
  void put(size_t at, T value) {
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    if (order_ != std::endian::native) {
      for (size_t i = 0; i < sizeof(T) / 2; ++i) std::swap(raw[i], raw[sizeof(T) - 1 - i]);
    }
    out_.replace(start_ + at, sizeof(T), raw, sizeof(T));
  }

 private:
  std::string& out_;
  size_t start_;
  std::endian order_;
};

RecordBytes metadata_record(MetadataKind kind, const Encoding& encoding, std::string& out,
                            Bytes base) {
  RecordBytes record(out, kMetadataRecordBytes, encoding, base);
  const auto number = static_cast<unsigned>(kind);
  const bool little = encoding.order == std::endian::little;
  record.put(0, static_cast<uint8_t>(little ? (number << 1 | 1) : (0x80 | number)));
  return record;
}

void append(Bytes payload, std::string& out) {
  out.append(reinterpret_cast<const char*>(payload.data()), payload.size());
}

struct Encode {
  const Encoding& encoding;
  std::string& out;
  Bytes base;

  RecordBytes metadata(MetadataKind kind) const {
    return metadata_record(kind, encoding, out, base);
  }

  void operator()(const FunctionRecord& function) const {
    RecordBytes record(out, kFunctionRecordBytes, encoding, base);
    const uint32_t id = function.function_id & kMaxFdrFunctionId;
    const uint32_t action = static_cast<uint32_t>(function.action) & 7;
    record.put(
        0, encoding.order == std::endian::little ? (id << 4 | action << 1) : (action << 28 | id));
    record.put(4, function.tsc_delta);
  }
  void operator()(const NewBuffer& record) const {
    metadata(MetadataKind::new_buffer).put(1, record.tid);
  }
  void operator()(const EndOfBuffer&) const { metadata(MetadataKind::end_of_buffer); }
  void operator()(const NewCpuId& record) const {
    RecordBytes bytes = metadata(MetadataKind::new_cpu_id);
    bytes.put(1, record.cpu);
    bytes.put(3, record.tsc);
  }
  void operator()(const TscWrap& record) const {
    metadata(MetadataKind::tsc_wrap).put(1, record.tsc);
  }
  void operator()(const WalltimeMarker& record) const {
    RecordBytes bytes = metadata(MetadataKind::walltime_marker);
    bytes.put(1, record.seconds);
    bytes.put(9, record.microseconds);
  }
  void operator()(const CustomEvent& event) const {
    const FdrLayout layout = fdr_layout(encoding.version);
    RecordBytes bytes = metadata(MetadataKind::custom_event_marker);
    bytes.put(1, event.payload_bytes);
    if (layout.event_time_is_delta) {
      bytes.put(5, event.tsc_delta);
    } else {
      bytes.put(5, event.tsc);
    }
    if (layout.custom_event_has_cpu) bytes.put(13, event.cpu);
    append(event.payload, out);
  }
  void operator()(const CallArgument& record) const {
    metadata(MetadataKind::call_argument).put(1, record.value);
  }
  void operator()(const BufferExtents& record) const {
    metadata(MetadataKind::buffer_extents).put(1, record.bytes);
  }
  void operator()(const TypedEvent& event) const {
    RecordBytes bytes = metadata(MetadataKind::typed_event_marker);
    bytes.put(1, event.payload_bytes);
    bytes.put(5, event.tsc_delta);
    bytes.put(9, event.event_type);
    append(event.payload, out);
  }
  void operator()(const Pid& record) const { metadata(MetadataKind::pid).put(1, record.pid); }
};

}  // namespace

void encode_file_header(const FileHeader& header, std::string& out) {
  const Encoding encoding = encoding_of(header);
  const bool little = header.order == std::endian::little;
  // Bits are numbered in memory order, so the two defined ones are in the bit field's first byte
  // either way.
  auto bits = std::to_integer<unsigned>(header.raw[4]) & (little ? ~3U : ~0xC0U);
  if (header.constant_tsc) bits |= little ? 1U : 0x80U;
  if (header.nonstop_tsc) bits |= little ? 2U : 0x40U;

  RecordBytes bytes(out, kFileHeaderBytes, encoding, header.raw);
  bytes.put(0, header.version);
  bytes.put(2, static_cast<uint16_t>(header.type));
  bytes.put(4, static_cast<uint8_t>(bits));
  bytes.put(8, header.cycle_frequency);
  if (header.type == LogType::fdr) bytes.put(16, header.buffer_size);
}

void encode_fdr_record(const FdrPayload& payload, const Encoding& encoding, std::string& out,
                       Bytes base) {
  std::visit(Encode{encoding, out, base}, payload);
}

void encode_basic_call(const BasicCall& call, const Encoding& encoding, std::string& out,
                       Bytes base) {
  RecordBytes record(out, kBasicRecordBytes, encoding, base);
  record.put(0, static_cast<uint16_t>(BasicRecordType::normal));
  record.put(2, call.cpu);
  record.put(3, static_cast<uint8_t>(call.kind));
  record.put(4, call.function_id);
  record.put(8, call.tsc);
  record.put(16, call.tid);
  if (basic_layout(encoding.version).has_pid) record.put(20, call.pid);
}

void encode_basic_argument(const BasicArgument& argument, const Encoding& encoding,
                           std::string& out, Bytes base) {
  RecordBytes record(out, kBasicRecordBytes, encoding, base);
  record.put(0, static_cast<uint16_t>(BasicRecordType::argument));
  record.put(4, argument.function_id);
  record.put(8, argument.tid);
  if (basic_layout(encoding.version).has_pid) record.put(12, argument.pid);
  record.put(16, argument.value);
}

}  // namespace telltale::xray
