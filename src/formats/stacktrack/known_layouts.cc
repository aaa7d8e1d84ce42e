// The two layouts of wire.h as descriptions. Names, types and descriptions of the classic one are
// those that the specification prints; sizes and offsets are the compiler's.
#include <array>
#include <initializer_list>
#include <utility>

#include "formats/stacktrack/format_description.h"
#include "formats/stacktrack/wire.h"

namespace telltale::stacktrack {
namespace {

using std::string;

struct M {
  const char* name;
  const char* type;
  size_t offset;
  size_t size;
  const char* description;
};

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): a member's offset and size have no other spelling.
#define TELLTALE_MEMBER(record, member, name, type, text) \
  M { name, type, offsetof(record, member), sizeof(record::member), text }

std::vector<Member> members(std::initializer_list<M> list) {
  std::vector<Member> made;
  for (const M& m : list) {
    made.push_back({m.name, m.type, static_cast<uint32_t>(m.size), static_cast<uint32_t>(m.offset),
                    m.description, MemberForm::unsigned_integer});
  }
  return made;
}

TypeLayout type(RecordType index, const char* tag, const char* name, size_t size,
                const char* followed_by, const char* description, std::initializer_list<M> list) {
  return {tag,
          name,
          string("ev_") + name,
          static_cast<uint32_t>(size),
          static_cast<uint32_t>(index),
          followed_by,
          description,
          members(list)};
}

// The eight records that both layouts have, in their own widths. `I`: the type of small numbers.
template <typename Hit, typename FileLocation, typename FileProperty, typename SourceLocation>
void add_checkpoint_types(std::vector<TypeLayout>& types, const char* number) {
  types.push_back(type(
      RecordType::hit, "HIT", "hit", sizeof(Hit), "~", "ev_hit captures basic entry/exit/step data",
      {TELLTALE_MEMBER(Hit, when, "when", "hitime_t", "when the hit occured"),
       TELLTALE_MEMBER(Hit, scope_index, "scopeIndex", "scopex_t", "where the hit occured"),
       TELLTALE_MEMBER(Hit, tid, "tid", "st_tid_t", "thread in which the hit occured")}));
  types.push_back(type(
      RecordType::file_location, "FLOC", "fileloc", sizeof(FileLocation), "filename",
      "File Location data",
      {TELLTALE_MEMBER(FileLocation, filenum, "filenum", number, "file index"),
       TELLTALE_MEMBER(FileLocation, write_count, "writeCount", "wcount_t", "write count"),
       TELLTALE_MEMBER(FileLocation, properties, "properties", number, "number of properties")}));
  types.push_back(
      type(RecordType::file_property, "FPROPERTY", "fproperty", sizeof(FileProperty), "prop=value",
           "file properties",
           {TELLTALE_MEMBER(FileProperty, filenum, "filenum", number, "file index"),
            TELLTALE_MEMBER(FileProperty, write_count, "writeCount", "wcount_t", "write count"),
            TELLTALE_MEMBER(FileProperty, propertynum, "propertynum", number, "property index")}));
  types.push_back(
      type(RecordType::source_location, "SLOC", "sourceloc", sizeof(SourceLocation), "~",
           "source location",
           {TELLTALE_MEMBER(SourceLocation, scope_index, "scopeIndex", "scopex_t", "scope index"),
            TELLTALE_MEMBER(SourceLocation, style, "style", "int16", "scope style"),
            TELLTALE_MEMBER(SourceLocation, linenum, "linenum", number, "line number"),
            TELLTALE_MEMBER(SourceLocation, write_count, "writeCount", "wcount_t", "write count"),
            TELLTALE_MEMBER(SourceLocation, filenum, "filenum", "int16", "file number")}));
}

// The records about processes and clocks in both layouts.
template <typename Prologue, typename ProcessInfo, typename TimeInfo, typename TimeType>
void add_process_types(std::vector<TypeLayout>& types) {
  types.push_back(
      type(RecordType::prologue, "PROLOGUE", "prologue", sizeof(Prologue), "~", "Prologue data",
           {TELLTALE_MEMBER(Prologue, magic, "_12345678", "uns32", "magic identifier"),
            TELLTALE_MEMBER(Prologue, version, "version", "uns32", "stacktrack format version"),
            TELLTALE_MEMBER(Prologue, info_len, "info_len", "char", "length of _info field"),
            TELLTALE_MEMBER(Prologue, entry_size, "entry_size", "char", "size of entry"),
            TELLTALE_MEMBER(Prologue, payload_offset, "payload_offset", "char",
                            "offset of payload in entry")}));
  types.push_back(type(
      RecordType::process_info, "PROCINFO", "procinfo", sizeof(ProcessInfo), "~", "Process data",
      {TELLTALE_MEMBER(ProcessInfo, pid, "pid", "st_pid_t", "proccess ID"),
       TELLTALE_MEMBER(ProcessInfo, write_count, "writeCount", "wcount_t", "write count")}));
  types.push_back(
      type(RecordType::time_info, "TIMEINFO", "timeinfo", sizeof(TimeInfo), "~",
           "Time info (start time) data",
           {TELLTALE_MEMBER(TimeInfo, start_hires, "start_hires", "hitime_t",
                            "start time in raw hi-res form"),
            TELLTALE_MEMBER(TimeInfo, start, "start", "sctime_t", "start time in CTIME form")}));
  types.push_back(type(RecordType::time_type, "TIMETYPE", "timetype", sizeof(TimeType), "~",
                       "time conversion data",
                       {TELLTALE_MEMBER(TimeType, tdiv, "tdiv", "hitime_t", "time divisor"),
                        TELLTALE_MEMBER(TimeType, timetype, "timetype", "uns16", "time type")}));
}

// Members that only the wide layout has, after the common ones.
void add_members(std::vector<TypeLayout>& types, RecordType index, std::initializer_list<M> list) {
  for (TypeLayout& layout : types) {
    if (layout.index != static_cast<uint32_t>(index)) continue;
    for (Member& member : members(list)) layout.members.push_back(std::move(member));
  }
}

TypeLayout info_type() {
  return {"INFO",
          "info",
          "ev_info",
          kInfoBytes,
          static_cast<uint32_t>(RecordType::info),
          "~",
          "text of the record before",
          {{"text", "char[]", kInfoBytes, 0, "text", MemberForm::text}}};
}

std::vector<Flag> shared_flags(const std::vector<TypeLayout>& types) {
  std::vector<Flag> flags;
  for (const TypeLayout& layout : types) flags.push_back({"IS_" + layout.tag, layout.index});
  flags.insert(flags.end(), {{"TYPE_MASK", kTypeMask},
                             {"HAS_INFO", kHasInfo},
                             {"INFO_END", kInfoEnd},
                             {"IS_EXIT", kExit},
                             {"HELD_TIME", kHeldTime}});
  return flags;
}

FormatDescription classic_layout() {
  using namespace classic;
  FormatDescription made;
  made.version = kClassicVersion;
  made.entry_size = kEntryBytes;
  made.payload_offset = kPayloadOffset;
  made.payload_size = kPayloadBytes;
  made.header =
      members({TELLTALE_MEMBER(Head, flags, "_entryFlags", "flags_t", "record type and flags"),
               TELLTALE_MEMBER(Head, pid, "_pid", "st_pid_t", "process ID"),
               TELLTALE_MEMBER(Head, sequence, "_sequence", "sequence_t", "sequence number")});
  add_checkpoint_types<Hit, FileLocation, FileProperty, SourceLocation>(made.types, "int16");
  add_process_types<Prologue, ProcessInfo, TimeInfo, TimeType>(made.types);
  made.types.push_back(info_type());
  made.flags = shared_flags(made.types);
  return made;
}

FormatDescription wide_layout() {
  using namespace wide;
  FormatDescription made;
  made.version = kWideVersion;
  made.entry_size = kEntryBytes;
  made.payload_offset = kPayloadOffset;
  made.payload_size = kPayloadBytes;
  made.header =
      members({TELLTALE_MEMBER(Head, flags, "_entryFlags", "flags_t", "record type and flags"),
               TELLTALE_MEMBER(Head, stream, "_stream", "uns16", "low bits of the thread's number"),
               TELLTALE_MEMBER(Head, pid, "_pid", "st_pid_t", "process ID"),
               TELLTALE_MEMBER(Head, sequence, "_sequence", "sequence_t", "sequence number")});
  add_checkpoint_types<Hit, FileLocation, FileProperty, SourceLocation>(made.types, "int32");
  add_process_types<Prologue, ProcessInfo, TimeInfo, TimeType>(made.types);
  add_members(
      made.types, RecordType::prologue,
      {TELLTALE_MEMBER(Prologue, ring_bytes, "ring_bytes", "uns32", "chunk size of a ring")});
  add_members(made.types, RecordType::process_info,
              {TELLTALE_MEMBER(ProcessInfo, parent, "parent", "st_pid_t", "parent process ID"),
               TELLTALE_MEMBER(ProcessInfo, clock_every, "clock_every", "uns32",
                               "events of a thread per reading of the clock")});
  add_members(made.types, RecordType::time_info,
              {TELLTALE_MEMBER(TimeInfo, start_ns, "start_ns", "uns32", "nanoseconds of start")});
  made.types.push_back(
      type(RecordType::stream, "STREAM", "stream", sizeof(Stream), "~", "whose records follow",
           {TELLTALE_MEMBER(Stream, tid, "tid", "st_tid_t", "thread, 0: any"),
            TELLTALE_MEMBER(Stream, chunk_bytes, "chunk_bytes", "uns32", "size of the chunk"),
            TELLTALE_MEMBER(Stream, thread, "thread", "uns32", "number of the thread")}));
  made.types.push_back(type(RecordType::lost, "LOST", "lost", sizeof(Lost), "~",
                            "what is not in the file",
                            {TELLTALE_MEMBER(Lost, count, "count", "uns64", "how many"),
                             TELLTALE_MEMBER(Lost, reason, "reason", "uns32", "why")}));
  made.types.push_back(info_type());
  made.flags = shared_flags(made.types);
  made.flags.push_back({"CHUNK_START", kChunkStart});
  return made;
}

#undef TELLTALE_MEMBER

}  // namespace

const FormatDescription& known_layout(Layout layout, std::endian order) {
  const auto make = [](Layout which, std::endian own_order) {
    FormatDescription made = which == Layout::classic ? classic_layout() : wide_layout();
    made.magic = kMagic;
    made.order = own_order;
    // Cannot fail: tests compile all four.
    if (!made.compile()) made = {};
    return made;
  };
  static const std::array kKnown = {
      make(Layout::classic, std::endian::little), make(Layout::classic, std::endian::big),
      make(Layout::wide, std::endian::little), make(Layout::wide, std::endian::big)};
  return kKnown[2 * static_cast<size_t>(layout) + (order == std::endian::big ? 1 : 0)];
}

}  // namespace telltale::stacktrack
