#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "base/error.h"
#include "bytes/cursor.h"
#include "formats/xray/wire.h"

namespace telltale::xray {

// The header fields of telltale's own recorder; all zero in other traces.
struct RecorderMark {
  bool cells = false;                  // buffers are in cells of buffer_size bytes; cells without
                                       // data are unused (recorder_cells.h), not damaged
  uint8_t sparse_interval = 0;         // 0: all records timed; else records with delta 0 are not
  uint32_t lost_events = 0;            // at most 2^32-1
  bool waits = false;                  // TSCWrap says how long the thread waited, see wait_us()
  bool resumed = false;                // the process had stopped an earlier recording
  std::optional<uint32_t> parts = {};  // cells (without cells: buffers) that the file had
};

// The 32 bytes that open every trace file. Only bits 0 and 1 of the bit field are defined; the
// other bits, and bytes that no field uses, are kept in `raw` and never checked (writers leave
// arbitrary values there).
struct FileHeader {
  uint16_t version = 0;
  LogType type = LogType::fdr;
  bool constant_tsc = false;
  bool nonstop_tsc = false;
  uint64_t cycle_frequency = 0;  // ticks per second; 0: unknown
  uint64_t buffer_size = 0;      // bytes; FDR only
  std::endian order = std::endian::little;
  RecorderMark recorder;
  std::array<std::byte, kFileHeaderBytes> raw{};
};

// Reads the header and determines the byte order. Errors: truncated, bad_magic,
// unsupported_version.
Result<FileHeader> read_file_header(Bytes file);
// Of the bytes of a TSCWrap: the microseconds, in the time since the thread's previous record, in
// which the thread did not run; 0: none, or the recording does not say. UINT32_MAX: that long or
// longer.
uint32_t wait_us(Bytes wrap, const FileHeader& header);
// True if the first bytes can begin an XRay binary trace of either flavour, byte order and any
// known version.
bool looks_like_trace(Bytes file);

// --- FDR records, one type each, in the specification's terms
// -------------------------------------------------

struct FunctionRecord {
  FunctionAction action = FunctionAction::enter;
  uint32_t function_id = 0;  // 28 bits
  uint32_t tsc_delta = 0;    // ticks since the previous record
};
struct NewBuffer {
  int32_t tid = 0;
};
struct EndOfBuffer {};
struct NewCpuId {
  uint16_t cpu = 0;
  uint64_t tsc = 0;  // absolute
};
struct TscWrap {
  uint64_t tsc = 0;  // absolute
};
struct WalltimeMarker {
  int64_t seconds =
      0;  // of the writer's clock (the stock runtime: CLOCK_MONOTONIC), not civil time
  int32_t microseconds = 0;  // the part below a second
};
struct CustomEvent {
  int32_t payload_bytes = 0;
  uint64_t tsc = 0;       // absolute; versions 1 to 4
  int32_t tsc_delta = 0;  // since the previous record; version 5
  uint16_t cpu = 0;       // version 4
  Bytes payload;          // view into the input
};
struct CallArgument {
  uint64_t value = 0;
};
struct BufferExtents {
  uint64_t bytes = 0;  // of the buffer, after this record
};
struct TypedEvent {
  int32_t payload_bytes = 0;
  int32_t tsc_delta = 0;
  uint16_t event_type = 0;
  Bytes payload;
};
struct Pid {
  int32_t pid = 0;
};

using FdrPayload =
    std::variant<FunctionRecord, NewBuffer, EndOfBuffer, NewCpuId, TscWrap, WalltimeMarker,
                 CustomEvent, CallArgument, BufferExtents, TypedEvent, Pid>;

// One record and its place. `raw` is the whole record, payload and unused bytes included, so that
// writing it back gives the same bytes.
struct FdrRecord {
  uint64_t offset = 0;  // of its first byte, from the start of the file
  Bytes raw;
  FdrPayload payload;
};

// The specification's name of the record's kind, e.g. "NewCPUId", "Function".
std::string_view record_name(const FdrPayload& payload);

// The following take `word`, the first four bytes of a record as an integer in the file's byte
// order. Bit fields run from the least significant bit on little-endian machines and from the most
// significant on big-endian ones (docs/formats/xray.md).

// Whether it begins a function record, and the action of that is valid.
template <std::endian kOrder>
constexpr bool is_known_function(uint32_t word) {
  return kOrder == std::endian::little ? (word & 0b1001) == 0 : (word >> 30) == 0;
}
// Of a known function record: whether it is an exit or a tail exit, whose actions are 1 and 2 of 0
// to 3: one more is 2 or 3.
template <std::endian kOrder>
constexpr bool is_exit(uint32_t word) {
  constexpr unsigned kActionShift = kOrder == std::endian::little ? 1 : 28;
  return ((word + (1U << kActionShift)) & (2U << kActionShift)) != 0;
}
// Decodes a function record; `delta` is the second four bytes. REQUIRES: is_known_function(word).
template <std::endian kOrder>
constexpr FunctionRecord decode_function(uint32_t word, uint32_t delta) {
  if constexpr (kOrder == std::endian::little) {
    return {static_cast<FunctionAction>((word >> 1) & 7), word >> 4, delta};
  } else {
    return {static_cast<FunctionAction>((word >> 28) & 7), word & kMaxFdrFunctionId, delta};
  }
}

// Decodes the record at `in` and advances past it, its payload included. `version` is the file's.
// Errors (in.error() is set too): truncated; bad_field for an unknown action or kind, or a negative
// payload size.
Result<FdrRecord> read_fdr_record(Cursor& in, uint16_t version);

}  // namespace telltale::xray
