#pragma once

// The bytes of an XRay trace, in one freestanding header for readers, writers and recorders.
// docs/formats/xray.md has the grammar and a worked hex dump.

#include <cstddef>
#include <cstdint>

namespace telltale::xray {

constexpr size_t kFileHeaderBytes = 32;
constexpr size_t kFunctionRecordBytes = 8;
constexpr size_t kMetadataRecordBytes = 16;
constexpr size_t kMetadataBodyBytes = 15;
constexpr size_t kBasicRecordBytes = 32;

enum class LogType : uint16_t { basic = 0, fdr = 1 };

constexpr uint16_t kFirstFdrVersion = 1;
constexpr uint16_t kLastFdrVersion = 5;
constexpr uint16_t kFirstBasicVersion = 1;
constexpr uint16_t kLastBasicVersion = 3;

// Function records, bits 1 to 3 (counted from the discriminant).
enum class FunctionAction : uint8_t { enter = 0, exit = 1, tail_exit = 2, enter_args = 3 };

// Metadata records: the other seven bits of the first byte.
enum class MetadataKind : uint8_t {
  new_buffer = 0,
  end_of_buffer = 1,  // version 1 only
  new_cpu_id = 2,
  tsc_wrap = 3,
  walltime_marker = 4,
  custom_event_marker = 5,
  call_argument = 6,
  buffer_extents = 7,      // since version 2
  typed_event_marker = 8,  // readable since version 5
  pid = 9,                 // since version 3
};
constexpr uint8_t kLastMetadataKind = 9;

// Function ids fill 28 bits in a function record.
constexpr uint32_t kMaxFdrFunctionId = 0x0FFF'FFFF;
// telltale's recorder: the first id of functions without an object's map.
constexpr uint32_t kFirstAssignedId = uint32_t{1} << 27;

// Differences between versions of the FDR format; no other code compares version numbers.
struct FdrLayout {
  bool has_extents;  // a BufferExtents record before each buffer instead of EndOfBuffer and
                     // filler
  bool has_pid;      // a Pid record in each buffer's preamble
  bool custom_event_has_cpu;  // CPU id after the custom event's time stamp
  bool event_time_is_delta;   // events carry a signed 32-bit delta instead of an absolute 64-bit
                              // time stamp
  bool has_typed_events;
};
constexpr FdrLayout fdr_layout(uint16_t version) {
  return {.has_extents = version >= 2,
          .has_pid = version >= 3,
          .custom_event_has_cpu = version == 4,
          .event_time_is_delta = version >= 5,
          .has_typed_events = version >= 5};
}

// Basic mode: the record type that opens each 32-byte record, and the kinds of a normal record.
enum class BasicRecordType : uint16_t { normal = 0, argument = 1 };
enum class BasicKind : uint8_t { enter = 0, exit = 1, tail_exit = 2, enter_args = 3 };
struct BasicLayout {
  bool has_tail_exit;
  bool has_pid;
};
constexpr BasicLayout basic_layout(uint16_t version) {
  return {.has_tail_exit = version >= 2, .has_pid = version >= 3};
}

// An id of a program with instrumented shared objects: object number in the upper 8 bits, function
// in the lower 24.
constexpr unsigned kObjectShift = 24;
constexpr uint32_t kObjectFunctionMask = 0x00FF'FFFF;

// The mark of telltale's own recorder, in the header's last eight bytes, which clang's runtime
// leaves zero (docs/formats/xray-recorder.md).
constexpr size_t kRecorderMarkOffset = 24;
constexpr uint16_t kRecorderMark = 0x5454;
constexpr uint8_t kRecorderCells = 1;  // flag: buffers are in cells of buffer_size bytes
// Flag: the header's bit field contains, above its two flags, the number of cells (without cells:
// buffers), so that a file truncated between them is detected.
constexpr uint8_t kRecorderCounts = 2;
// Flag: a TSCWrap has, after its time stamp, the microseconds of the time since the thread's
// previous record in which the thread did not run: a u32, 0 for none.
constexpr uint8_t kRecorderWaits = 4;
constexpr size_t kWaitOffset = 9;  // in the record
// Flag: the process had stopped an earlier recording. Calls that were open there have nothing to do
// with those in this file.
constexpr uint8_t kRecorderResumed = 8;
constexpr unsigned kPartsShift = 2;
constexpr uint32_t kMostParts = 0x3FFF'FFFF;
// The word that the recorder stores after the last event of a buffer that is closed before it is
// full. In version 1 it reads as EndOfBuffer.
constexpr uint64_t kClosingWord = 0x103;
// The unused words of version 1 cells: they read as EndOfBuffer.
constexpr uint64_t kFreeWordVersion1 = 3;

// The recorder's control socket (docs/formats/xray-recorder.md, "The control socket"): its abstract
// name begins with this, the process id and '-'.
constexpr char kControlName[] = "telltale-control-";
// The first word of requests and answers, and the number after it.
constexpr char kControlMark[] = "telltale-control ";
constexpr unsigned kControlVersion = 1;
constexpr size_t kMostControlBytes = 8192;  // of a request or an answer

}  // namespace telltale::xray
