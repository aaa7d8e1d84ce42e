#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

#include "formats/xray/records.h"

namespace telltale::xray {

// From typed records to bytes, the inverse of records.h (layouts: docs/formats/xray.md). Everything
// appends to a string of the caller and cannot fail. Field values are written unchecked, even those
// that a reader rejects, so that tests can create such files.

// The encoding of a file.
struct Encoding {
  uint16_t version = kLastFdrVersion;
  std::endian order = std::endian::little;
  std::byte unused{0};  // value of bytes that no field uses
};
inline Encoding encoding_of(const FileHeader& header) {
  return {header.version, header.order, std::byte{0}};
}

// The 32 bytes of a header. Bits and bytes that no field uses are those of header.raw.
void encode_file_header(const FileHeader& header, std::string& out);

// One FDR record, with the payload bytes of an event. The event's payload_bytes field is written
// unchecked. Bytes that no field uses are those of `base`, a record of the same kind; after its
// end, encoding.unused.
void encode_fdr_record(const FdrPayload& payload, const Encoding& encoding, std::string& out,
                       Bytes base = {});

// One record of a basic log. Fields that the version does not have (pid before version 3) are
// omitted.
struct BasicCall {
  BasicKind kind = BasicKind::enter;
  uint8_t cpu = 0;
  int32_t function_id = 0;
  uint64_t tsc = 0;  // absolute
  uint32_t tid = 0;
  uint32_t pid = 0;
};
struct BasicArgument {
  int32_t function_id = 0;
  uint32_t tid = 0;
  uint32_t pid = 0;
  uint64_t value = 0;
};
void encode_basic_call(const BasicCall& call, const Encoding& encoding, std::string& out,
                       Bytes base = {});
void encode_basic_argument(const BasicArgument& argument, const Encoding& encoding,
                           std::string& out, Bytes base = {});

}  // namespace telltale::xray
