#pragma once

// The bytes of a StackTrack recording, in one freestanding header for the reader and the runtime
// (C++17). docs/formats/stacktrack.md has the grammar and worked hex dumps.

#include <cstddef>
#include <cstdint>

namespace telltale::stacktrack {

// The record type: the low byte of its flags.
enum class RecordType : uint8_t {
  hit = 0,
  file_location = 1,    // FLOC
  file_property = 2,    // FPROPERTY
  source_location = 3,  // SLOC
  prologue = 4,
  process_info = 5,  // PROCINFO
  time_info = 6,     // TIMEINFO
  time_type = 7,     // TIMETYPE
  stream = 8,        // wide layout only: the thread of the following records
  lost = 9,          // wide layout only: events that are not in the file
  info = 0xff,       // text of the previous record
};
constexpr uint16_t kTypeMask = 0x00ff;

// The high byte of a record's flags. The specification defines the first two.
constexpr uint16_t kHasInfo = 0x0100;  // INFO records of the same pid and sequence follow
constexpr uint16_t kInfoEnd = 0x0200;  // INFO: the last one
constexpr uint16_t kExit = 0x0400;     // HIT: the scope is left (without it: entered, or a step)
constexpr uint16_t kHeldTime =
    0x0800;  // HIT: the clock was not read; `when` is this thread's last reading
constexpr uint16_t kChunkStart = 0x1000;  // STREAM: a chunk begins here, `chunk_bytes` long

constexpr uint32_t kMagic = 0x12345678;
constexpr uint32_t kClassicVersion = 0x100;
constexpr uint32_t kWideVersion = 0x200;
constexpr size_t kInfoBytes = 16;  // text in an INFO record, in both layouts

// Telltale's recorder: a thread's name is the property kThreadProperty + "TID=NAME" of the file
// kThreadFile.
constexpr char kThreadFile[] = "telltale.threads";
constexpr char kThreadProperty[] = "telltale.thread.";

// Scope styles: 3 and 6 are those of the specification's example.
enum class Style : uint16_t { function = 3, block = 4, step = 5, value = 6 };

// TIMETYPE.timetype: the clock of the ticks. Ticks are unsigned 64-bit integers; a second has
// `tdiv` of them.
constexpr uint16_t kTimeMonotonic = 0x0001;  // CLOCK_MONOTONIC in nanoseconds
constexpr uint16_t kTimeCounter =
    0x0002;  // the processor's counter; tdiv is refined while the program runs
constexpr uint16_t kTimeExample = 0x0020;  // as in the specification's example

// LOST.reason
enum class LostReason : uint32_t {
  no_space = 1,  // events: the disk, a limit or memory was full, or the file could not be extended
  overwritten = 2,  // events: a ring replaced them by later ones
  reentered = 3,    // events: made by the recorder's own caller while it could not take them
  unfit = 4,        // events: an id does not fit the classic layout
  cut_text = 5,     // truncated texts; their events are in the file
  names = 6,        // context records (names, files) for which there was no space
  processes = 7,    // forked children that could not create files of their own
};
constexpr uint32_t kLostReasons = 7;

// The layout of the 2005 example: 16-bit ids.
namespace classic {
struct Head {
  uint16_t flags;
  uint16_t pid;
  uint32_t sequence;
};
constexpr size_t kEntryBytes = 24;
// What the recorder writes at least: the smallest multiple of a page and of a record.
constexpr uint64_t kSmallestFile = 12288;
constexpr size_t kPayloadOffset = 8;
constexpr size_t kPayloadBytes = 16;

struct Hit {
  uint64_t when;
  uint16_t scope_index;
  uint16_t tid;
  uint32_t unused;
};
struct FileLocation {
  uint16_t filenum;
  uint16_t write_count;
  uint16_t properties;
};
struct FileProperty {
  uint16_t filenum;
  uint16_t write_count;
  uint16_t propertynum;
};
struct SourceLocation {
  uint16_t scope_index;
  uint16_t style;
  uint16_t linenum;
  uint16_t write_count;
  uint16_t filenum;
};
struct Prologue {
  uint32_t magic;
  uint32_t version;
  uint8_t info_len;
  uint8_t entry_size;
  uint8_t payload_offset;
};
struct ProcessInfo {
  uint16_t pid;
  uint16_t write_count;
};
struct TimeInfo {
  uint64_t start_hires;
  uint32_t start;  // seconds since 1970
};
struct TimeType {
  uint64_t tdiv;
  uint16_t timetype;
};
static_assert(sizeof(Head) == kPayloadOffset && sizeof(Hit) == kPayloadBytes);
static_assert(kPayloadOffset + kPayloadBytes == kEntryBytes);
}  // namespace classic

// Telltale's layout for current machines. Little-endian; records are at multiples of 32 bytes.
namespace wide {
struct Head {
  uint16_t flags;
  uint16_t
      stream;    // low 16 bits of the thread number (STREAM.thread): distinguishes equal sequences
  uint32_t pid;  // never 0: a slot whose first 8 bytes are 0 is empty
  uint64_t sequence;  // 0 for PROLOGUE, TIMETYPE, TIMEINFO, STREAM and LOST
};
constexpr size_t kEntryBytes = 32;
constexpr size_t kPayloadOffset = 16;
constexpr size_t kPayloadBytes = 16;
constexpr uint64_t kSmallestFile = uint64_t{16} << 10;  // what the recorder writes at least
constexpr size_t kPageBytes = 4096;  // chunks begin at multiples of this, and are multiples of it

struct Hit {
  uint64_t when;  // ticks
  uint32_t scope_index;
  uint32_t tid;
};
struct FileLocation {
  uint32_t filenum;
  uint32_t write_count;
  uint32_t properties;
  uint32_t unused;
};
struct FileProperty {
  uint32_t filenum;
  uint32_t write_count;
  uint32_t propertynum;
  uint32_t unused;
};
struct SourceLocation {
  uint32_t scope_index;
  uint32_t linenum;
  uint32_t write_count;
  uint16_t style;
  uint16_t filenum;
};
struct Prologue {
  uint32_t magic;
  uint32_t version;
  uint8_t info_len;
  uint8_t entry_size;
  uint8_t payload_offset;
  uint8_t unused;
  uint32_t ring_bytes;  // chunk size of a ring, which reuses its chunks; 0: a file that only grows
};
struct ProcessInfo {
  uint32_t pid;
  uint32_t write_count;
  uint32_t parent;
  uint32_t clock_every;  // the clock is read on every Nth event of a thread; 1: on all
};
struct TimeInfo {
  uint64_t start_hires;  // ticks
  uint32_t start;        // seconds since 1970 at start_hires
  uint32_t start_ns;     // and nanoseconds
};
struct TimeType {
  uint64_t tdiv;
  uint16_t timetype;
};
struct Stream {
  uint32_t tid;          // 0: records of all threads
  uint32_t chunk_bytes;  // with kChunkStart; otherwise 0: the thread takes over the rest of a chunk
  uint32_t thread;       // the thread number in this process, from 1, never reused; 0 with tid 0
  uint32_t unused;
};
struct Lost {
  uint64_t count;
  uint32_t reason;
  uint32_t unused;
};
static_assert(sizeof(Head) == kPayloadOffset && sizeof(Hit) == kPayloadBytes);
static_assert(sizeof(FileLocation) == kPayloadBytes && sizeof(FileProperty) == kPayloadBytes);
static_assert(sizeof(SourceLocation) == kPayloadBytes && sizeof(Prologue) == kPayloadBytes);
static_assert(sizeof(ProcessInfo) == kPayloadBytes && sizeof(TimeInfo) == kPayloadBytes);
static_assert(sizeof(Stream) == kPayloadBytes && sizeof(Lost) == kPayloadBytes);
}  // namespace wide

}  // namespace telltale::stacktrack
