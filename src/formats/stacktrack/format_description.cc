#include "formats/stacktrack/format_description.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace telltale::stacktrack {
namespace {

constexpr std::array<std::string_view, kRecordKinds> kTags = {
    "HIT",      "FLOC",     "FPROPERTY", "SLOC", "PROLOGUE", "PROCINFO",
    "TIMEINFO", "TIMETYPE", "STREAM",    "LOST", "INFO"};
constexpr std::array<std::string_view, kTimeForms> kTimeFormNames = {"integer", "real", "timespec",
                                                                     "timeval"};

struct RoleName {
  RecordKind kind;
  std::string_view member;
  Role role;
};
using enum RecordKind;
constexpr auto kRoleNames = std::to_array<RoleName>({
    {hit, "when", Role::when},
    {hit, "scopeIndex", Role::scope_index},
    {hit, "tid", Role::thread_id},
    {file_location, "filenum", Role::file_number},
    {file_location, "writeCount", Role::write_count},
    {file_location, "properties", Role::properties},
    {file_property, "filenum", Role::file_number},
    {file_property, "writeCount", Role::write_count},
    {file_property, "propertynum", Role::property_number},
    {source_location, "scopeIndex", Role::scope_index},
    {source_location, "style", Role::style},
    {source_location, "linenum", Role::line},
    {source_location, "writeCount", Role::write_count},
    {source_location, "filenum", Role::file_number},
    {prologue, "_12345678", Role::magic},
    {prologue, "version", Role::version},
    {prologue, "info_len", Role::info_length},
    {prologue, "entry_size", Role::entry_size},
    {prologue, "payload_offset", Role::payload_offset},
    {prologue, "ring_bytes", Role::ring_bytes},
    {process_info, "pid", Role::process_id},
    {process_info, "writeCount", Role::write_count},
    {process_info, "parent", Role::parent},
    {process_info, "clock_every", Role::clock_every},
    {time_info, "start_hires", Role::start_hires},
    {time_info, "start", Role::start},
    {time_info, "start_ns", Role::start_ns},
    {RecordKind::time_type, "tdiv", Role::divisor},
    {RecordKind::time_type, "timetype", Role::time_type},
    {RecordKind::stream, "tid", Role::thread_id},
    {RecordKind::stream, "chunk_bytes", Role::chunk_bytes},
    {RecordKind::stream, "thread", Role::thread_number},
    {lost, "count", Role::count},
    {lost, "reason", Role::reason},
    {info, "text", Role::text},
});

std::unexpected<Error> senseless(std::string detail) {
  return std::unexpected(Error{Error::Cause::bad_field, {}, "RAW_FORMAT", std::move(detail), {}});
}

MemberForm form_of(const Member& member) {
  if (member.type == "hitime_t") return MemberForm::time;
  if (member.type.starts_with("int") || member.type == "sctime_t") {
    return MemberForm::signed_integer;
  }
  // A single char is a small number, several are text.
  if (member.type.starts_with("char") && (member.size > 1 || member.type != "char")) {
    return MemberForm::text;
  }
  return MemberForm::unsigned_integer;
}

bool is_integer_size(uint32_t size) { return size == 1 || size == 2 || size == 4 || size == 8; }

bool is_time_size(uint32_t size, TimeForm form) {
  switch (form) {
    case TimeForm::integer:
      return is_integer_size(size);
    case TimeForm::real:
      return size == 4 || size == 8;
    case TimeForm::timespec:
    case TimeForm::timeval:
      return size == 8 || size == 16;
  }
  return false;
}

// Names are written to XML, JSON and text unescaped, so they are short C identifiers. A char[] may
// be a member's type.
bool is_name(std::string_view name) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  return !name.empty() && name.size() <= 64 &&
         name.find_first_not_of(kLetters) == std::string_view::npos &&
         (name[0] < '0' || name[0] > '9');
}

// `bytes`: the size of the entry or payload that contains the member.
Result<void> check_member(Member& member, uint32_t bytes, TimeForm time_form,
                          const std::string& of) {
  member.form = form_of(member);
  if (!is_name(member.name)) return senseless("a member of " + of + " has no proper name");
  if (member.size == 0 || member.size > bytes || member.offset > bytes - member.size) {
    return senseless(fmt::format("member {} of {} lies outside it", member.name, of));
  }
  const bool fits = member.form == MemberForm::text ||
                    (member.form == MemberForm::time ? is_time_size(member.size, time_form)
                                                     : is_integer_size(member.size));
  if (!fits) {
    return senseless(fmt::format("member {} of {} has {} bytes, which is not a valid size of a {}",
                                 member.name, of, member.size, member.type));
  }
  return {};
}

uint32_t flag_value(const FormatDescription& description, std::string_view name) {
  const auto found = std::ranges::find(description.flags, name, &Flag::name);
  return found == description.flags.end() ? 0 : found->value;
}

uint32_t aligned(uint32_t offset, uint32_t size) { return (offset + size - 1) / size * size; }

// The header of a platform whose description omits it.
std::vector<Member> usual_header(const FormatDescription& description) {
  uint32_t pid_bytes = 2;
  for (const TypeLayout& type : description.types) {
    if (type.tag != "PROCINFO") continue;
    for (const Member& member : type.members) {
      if (member.name == "pid" && is_integer_size(member.size)) pid_bytes = member.size;
    }
  }
  const uint32_t pid_at = aligned(2, pid_bytes);
  const uint32_t sequence_at = aligned(pid_at + pid_bytes, 4);
  return {{"_entryFlags", "flags_t", 2, 0, "record type and flags", {}},
          {"_pid", "st_pid_t", pid_bytes, pid_at, "process ID", {}},
          {"_sequence", "sequence_t", 4, sequence_at, "sequence number", {}}};
}

Result<void> compile_header(FormatDescription& description) {
  FormatDescription::Compiled& made = description.compiled;
  if (description.header.empty()) description.header = usual_header(description);
  if (description.header.size() > kMaxMembers) return senseless("the header has too many members");
  for (Member& member : description.header) {
    if (const auto fine =
            check_member(member, description.payload_offset, description.time_form, "the header");
        !fine)
      return fine;
    const Place place{member.offset, member.size, member.form};
    const Role role = role_of_header(member.name);
    if (place.form != MemberForm::unsigned_integer) continue;
    if (role == Role::flags) made.flags = place;
    if (role == Role::pid) made.pid = place;
    if (role == Role::sequence) made.sequence = place;
    if (role == Role::stream) made.stream = place;
  }
  if (!made.flags.known() || made.flags.size > 4 || !made.pid.known() || !made.sequence.known())
    return senseless("the header needs _entryFlags (of at most 4 bytes), _pid and _sequence");
  return {};
}

// A record cannot be interpreted without these.
constexpr auto kNeeded = std::to_array<std::pair<RecordKind, Role>>({
    {hit, Role::when},
    {hit, Role::scope_index},
    {hit, Role::thread_id},
    {source_location, Role::scope_index},
    {prologue, Role::magic},
    {prologue, Role::version},
    {info, Role::text},
});

Result<void> compile_type(FormatDescription& description, size_t position) {
  FormatDescription::Compiled& made = description.compiled;
  TypeLayout& type = description.types[position];
  if (!is_name(type.tag)) return senseless("a type has no proper uname");
  if (type.index > 0xff || made.position[type.index] >= 0)
    return senseless(fmt::format("type {} has an index that is taken or too large", type.tag));
  if (type.size > description.payload_size || type.members.size() > kMaxMembers)
    return senseless(fmt::format("type {} is larger than the payload", type.tag));
  made.position[type.index] = static_cast<int16_t>(position);
  const auto tag = std::ranges::find(kTags, type.tag);
  const auto kind = static_cast<RecordKind>(tag - kTags.begin());
  if (tag != kTags.end()) {
    if (made.index[static_cast<size_t>(kind)] >= 0)
      return senseless(fmt::format("there are two types {}", type.tag));
    made.kind[type.index] = static_cast<int16_t>(kind);
    made.index[static_cast<size_t>(kind)] = static_cast<int16_t>(type.index);
  }
  for (Member& member : type.members) {
    if (const auto fine = check_member(member, description.payload_size, description.time_form,
                                       "type " + type.tag);
        !fine)
      return fine;
    if (tag == kTags.end()) continue;
    const Role role = role_of(kind, member.name);
    if (role == kNoRole) continue;
    Place& place = made.places[static_cast<size_t>(kind)][static_cast<size_t>(role)];
    if (place.known()) return senseless(fmt::format("type {} has two {}", type.tag, member.name));
    place = {description.payload_offset + member.offset, member.size, member.form};
    const bool is_time = role == Role::when || role == Role::start_hires || role == Role::divisor;
    if ((place.form == MemberForm::time) != is_time ||
        (place.form == MemberForm::text) != (role == Role::text)) {
      return senseless(
          fmt::format("{} of type {} cannot be a {}", member.name, type.tag, member.type));
    }
  }
  return {};
}

}  // namespace

std::string_view to_string(TimeForm form) { return kTimeFormNames[static_cast<size_t>(form)]; }
std::string_view tag_of(RecordKind kind) { return kTags[static_cast<size_t>(kind)]; }

Role role_of(RecordKind kind, std::string_view member_name) {
  for (const RoleName& known : kRoleNames) {
    if (known.kind == kind && known.member == member_name) return known.role;
  }
  return kNoRole;
}

Role role_of_header(std::string_view member_name) {
  if (member_name == "_entryFlags") return Role::flags;
  if (member_name == "_pid") return Role::pid;
  if (member_name == "_sequence") return Role::sequence;
  if (member_name == "_stream") return Role::stream;
  return kNoRole;
}

Result<void> FormatDescription::compile() {
  compiled = {};
  compiled.position.fill(-1);
  compiled.kind.fill(-1);
  compiled.index.fill(-1);
  if (entry_size == 0 || entry_size > kMaxEntryBytes || payload_offset > entry_size ||
      payload_size > entry_size - payload_offset) {
    return senseless(fmt::format("an entry of {} bytes cannot hold a payload of {} at {}",
                                 entry_size, payload_size, payload_offset));
  }
  if (magic == 0) return senseless("the magic number is 0");
  if (types.size() > kMaxTypes || flags.size() > kMaxFlags)
    return senseless("there are too many types or flags");
  if (const Result<void> header_done = compile_header(*this); !header_done) return header_done;
  for (size_t i = 0; i < types.size(); ++i) {
    if (const Result<void> type_done = compile_type(*this, i); !type_done) return type_done;
  }
  for (const auto& [kind, role] : kNeeded) {
    if (!place(kind, role).known())
      return senseless(
          fmt::format("type {} is missing, or a member of it that is needed", tag_of(kind)));
  }
  const uint32_t time_bytes = place(hit, Role::when).size;
  for (const Place& other :
       {place(time_info, Role::start_hires), place(RecordKind::time_type, Role::divisor)}) {
    if (other.known() && other.size != time_bytes)
      return senseless("the members of type hitime_t differ in size");
  }
  compiled.has_info = flag_value(*this, "HAS_INFO");
  compiled.info_end = flag_value(*this, "INFO_END");
  compiled.exit = flag_value(*this, "IS_EXIT");
  compiled.held_time = flag_value(*this, "HELD_TIME");
  compiled.chunk_start = flag_value(*this, "CHUNK_START");
  for (const uint32_t bits : {compiled.has_info, compiled.info_end, compiled.exit,
                              compiled.held_time, compiled.chunk_start}) {
    if ((bits & 0xff) != 0 || (bits & compiled.known_flags) != 0)
      return senseless("two flags share a bit, or one has bits of the record's type");
    compiled.known_flags |= bits;
  }
  if (compiled.has_info == 0 || compiled.info_end == 0)
    return senseless("the flags HAS_INFO and INFO_END are missing");
  return {};
}

bool same_meaning(const FormatDescription& a, const FormatDescription& b) {
  const FormatDescription::Compiled& x = a.compiled;
  const FormatDescription::Compiled& y = b.compiled;
  return a.version == b.version && a.entry_size == b.entry_size &&
         a.payload_offset == b.payload_offset && a.payload_size == b.payload_size &&
         a.magic == b.magic && a.order == b.order && a.time_form == b.time_form &&
         x.flags == y.flags && x.pid == y.pid && x.sequence == y.sequence && x.stream == y.stream &&
         x.kind == y.kind && x.index == y.index && x.places == y.places &&
         x.has_info == y.has_info && x.info_end == y.info_end && x.exit == y.exit &&
         x.held_time == y.held_time && x.chunk_start == y.chunk_start;
}

std::string_view layout_name(const FormatDescription& description) {
  if (same_meaning(description, known_layout(Layout::classic, description.order))) return "classic";
  if (same_meaning(description, known_layout(Layout::wide, description.order))) return "wide";
  return "foreign";
}

}  // namespace telltale::stacktrack
