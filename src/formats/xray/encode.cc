#include "formats/xray/encode.h"

#include <algorithm>
#include <concepts>
#include <cstring>
#include <string_view>
#include <utility>
#include <variant>

#include "formats/xray/record_fields.h"

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

// The codec that writes the fields of records (record_fields.h) to the end of a string.
class FieldWriter {
 public:
  // `first`: place of an FDR record's first field.
  FieldWriter(RecordBytes bytes, size_t first, const Encoding& encoding, std::string& out)
      : bytes_(bytes), at_(first), encoding_(encoding), out_(out) {}

  [[nodiscard]] uint16_t version() const { return encoding_.version; }
  template <std::integral T>
  void number(std::string_view, T value) {
    bytes_.put(std::exchange(at_, at_ + sizeof(T)), value);
  }
  template <std::integral T>
  void since_last(std::string_view name, T value) {
    number(name, value);
  }
  void call(FunctionAction action, uint32_t function_id) {
    const uint32_t id = function_id & kMaxFdrFunctionId;
    const uint32_t kind = static_cast<uint32_t>(action) & 7;
    number("function",
           encoding_.order == std::endian::little ? (id << 4 | kind << 1) : (kind << 28 | id));
  }
  void payload(Bytes bytes) {
    out_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  template <std::integral T>
  void number_at(size_t place, std::string_view, T value) {
    bytes_.put(place, value);
  }
  void kind_at(size_t place, BasicKind kind) { bytes_.put(place, static_cast<uint8_t>(kind)); }

 private:
  RecordBytes bytes_;
  size_t at_;
  const Encoding& encoding_;
  std::string& out_;
};

template <typename Record>
constexpr MetadataKind kKindOf{};
template <>
constexpr MetadataKind kKindOf<NewBuffer> = MetadataKind::new_buffer;
template <>
constexpr MetadataKind kKindOf<EndOfBuffer> = MetadataKind::end_of_buffer;
template <>
constexpr MetadataKind kKindOf<NewCpuId> = MetadataKind::new_cpu_id;
template <>
constexpr MetadataKind kKindOf<TscWrap> = MetadataKind::tsc_wrap;
template <>
constexpr MetadataKind kKindOf<WalltimeMarker> = MetadataKind::walltime_marker;
template <>
constexpr MetadataKind kKindOf<CustomEvent> = MetadataKind::custom_event_marker;
template <>
constexpr MetadataKind kKindOf<CallArgument> = MetadataKind::call_argument;
template <>
constexpr MetadataKind kKindOf<BufferExtents> = MetadataKind::buffer_extents;
template <>
constexpr MetadataKind kKindOf<TypedEvent> = MetadataKind::typed_event_marker;
template <>
constexpr MetadataKind kKindOf<Pid> = MetadataKind::pid;

struct Encode {
  const Encoding& encoding;
  std::string& out;
  Bytes base;

  void operator()(FunctionRecord record) const {
    FieldWriter writer(RecordBytes(out, kFunctionRecordBytes, encoding, base), 0, encoding, out);
    fields(writer, record);
  }
  template <typename Record>
  void operator()(Record record) const {
    FieldWriter writer(metadata_record(kKindOf<Record>, encoding, out, base), 1, encoding, out);
    fields(writer, record);
  }
};

void encode_basic(BasicRecord record, const Encoding& encoding, std::string& out, Bytes base) {
  RecordBytes bytes(out, kBasicRecordBytes, encoding, base);
  bytes.put(0, static_cast<uint16_t>(record.type));
  FieldWriter writer(bytes, 0, encoding, out);
  fields(writer, record);
}

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
  BasicRecord record;
  record.kind = call.kind;
  record.cpu = call.cpu;
  record.function_id = call.function_id;
  record.tsc = call.tsc;
  record.tid = call.tid;
  record.pid = call.pid;
  encode_basic(record, encoding, out, base);
}

void encode_basic_argument(const BasicArgument& argument, const Encoding& encoding,
                           std::string& out, Bytes base) {
  BasicRecord record;
  record.type = BasicRecordType::argument;
  record.function_id = argument.function_id;
  record.tid = argument.tid;
  record.pid = argument.pid;
  record.argument = argument.value;
  encode_basic(record, encoding, out, base);
}

}  // namespace telltale::xray
