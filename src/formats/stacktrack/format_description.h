#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace telltale::stacktrack {

// A platform's RAW_FORMAT: the place, width and meaning of each member of each record. All reading,
// writing, checking and printing of records is based on such a value, so the classic layout, the
// wide one and any foreign one share their code. docs/formats/stacktrack.md, "RAW_FORMAT".

// The encoding of a member's value. Derived from the name of its type.
enum class MemberForm : uint8_t {
  unsigned_integer,
  signed_integer,
  time,  // hitime_t, encoded according to FormatDescription::time_form
  text,  // all its bytes
};

// The encoding of hitime_t: the specification leaves it to the platform, and its RAW_FORMAT does
// not specify it. An attribute of ours does.
enum class TimeForm : uint8_t {
  integer,   // of 1, 2, 4 or 8 bytes, unsigned
  real,      // IEEE 754, of 4 or 8 bytes
  timespec,  // seconds and nanoseconds, integers of half the size each
  timeval,   // seconds and microseconds, integers of half the size each
};
constexpr size_t kTimeForms = 4;
std::string_view to_string(TimeForm form);

struct Member {
  std::string name;
  std::string type;
  uint32_t size = 0;    // bytes
  uint32_t offset = 0;  // from the start of the payload; of the entry, for the header's members
  std::string description;
  MemberForm form = MemberForm::unsigned_integer;
};

// The records that telltale interprets.
enum class RecordKind : uint8_t {
  hit,
  file_location,
  file_property,
  source_location,
  prologue,
  process_info,
  time_info,
  time_type,
  stream,
  lost,
  info,
};
constexpr size_t kRecordKinds = 11;
std::string_view tag_of(RecordKind kind);  // "HIT", "FLOC" ...

// The meaning of a member. A description's other members are kept and printed.
enum class Role : uint8_t {
  flags,  // of the header: flags, pid, sequence, stream
  pid,
  sequence,
  stream,
  when,  // of payloads
  scope_index,
  thread_id,
  file_number,
  write_count,
  properties,
  property_number,
  style,
  line,
  magic,
  version,
  info_length,
  entry_size,
  payload_offset,
  ring_bytes,
  process_id,
  parent,
  clock_every,
  start_hires,
  start,
  start_ns,
  divisor,
  time_type,
  chunk_bytes,
  thread_number,
  count,
  reason,
  text,
};
constexpr size_t kRoles = 32;
constexpr Role kNoRole = static_cast<Role>(kRoles);
Role role_of(RecordKind kind, std::string_view member_name);
Role role_of_header(std::string_view member_name);

struct TypeLayout {
  std::string tag;          // "HIT"
  std::string name;         // "hit"
  std::string type;         // "ev_hit"
  uint32_t size = 0;        // bytes, padding included
  uint32_t index = 0;       // the low byte of the flags
  std::string followed_by;  // what its INFO records hold; "~": none as a rule
  std::string description;
  std::vector<Member> members;
};

struct Flag {
  std::string name;  // "HAS_INFO"
  uint32_t value = 0;
};

// The place of a role; size 0: this platform does not have it.
struct Place {
  uint32_t offset = 0;  // from the start of the entry
  uint32_t size = 0;
  MemberForm form = MemberForm::unsigned_integer;
  [[nodiscard]] bool known() const { return size != 0; }
  bool operator==(const Place&) const = default;
};

// Limits for descriptions: they bound every loop and buffer whose size comes from one.
constexpr uint32_t kMaxEntryBytes = 64 << 10;
constexpr size_t kMaxMembers = 64;  // of a type
constexpr size_t kMaxTypes = 256;
constexpr size_t kMaxFlags = 1024;

struct FormatDescription {
  uint32_t version = 0;         // of PROLOGUE
  uint32_t entry_size = 0;      // bytes
  uint32_t payload_offset = 0;  // bytes
  uint32_t payload_size = 0;    // bytes
  uint32_t magic = 0;
  std::endian order = std::endian::little;
  TimeForm time_form = TimeForm::integer;
  std::vector<Member> header;
  std::vector<TypeLayout> types;
  std::vector<Flag> flags;

  // Checks all of the above, and derives what is below: call after every change. A missing header
  // is derived: flags of 2 bytes, a pid of the size of PROCINFO's, a sequence of 4 bytes, each at
  // the next multiple of its size. Errors: bad_field.
  Result<void> compile();

  struct Compiled {
    std::array<int16_t, 256> position{};  // record index -> index in types; -1: no such record
    std::array<int16_t, 256> kind{};      // record index -> RecordKind; -1: not interpreted
    std::array<int16_t, kRecordKinds> index{};  // the inverse; -1: the platform has none
    std::array<std::array<Place, kRoles>, kRecordKinds> places{};
    Place flags, pid, sequence, stream;
    uint32_t has_info = 0;  // flag bits; 0: the platform has none
    uint32_t info_end = 0;
    uint32_t exit = 0;
    uint32_t held_time = 0;
    uint32_t chunk_start = 0;
    uint32_t known_flags = 0;  // all named bits above the record's index
  };
  Compiled compiled;

  [[nodiscard]] const Place& place(RecordKind kind, Role role) const {
    return compiled.places[static_cast<size_t>(kind)][static_cast<size_t>(role)];
  }
  [[nodiscard]] bool has(RecordKind kind) const {
    return compiled.index[static_cast<size_t>(kind)] >= 0;
  }
  // Bytes of text in one INFO record.
  [[nodiscard]] uint32_t info_bytes() const { return place(RecordKind::info, Role::text).size; }
};

// Telltale's built-in layouts (wire.h), compiled.
enum class Layout : uint8_t { classic, wide };
const FormatDescription& known_layout(Layout layout, std::endian order = std::endian::little);

// Whether both interpret bytes in the same way.
bool same_meaning(const FormatDescription& a, const FormatDescription& b);
// "classic", "wide", or "foreign".
std::string_view layout_name(const FormatDescription& description);

}  // namespace telltale::stacktrack
