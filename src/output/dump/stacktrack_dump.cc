#include "output/dump/stacktrack_dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/stacktrack/reader.h"
#include "output/dump/stacktrack_xml.h"

namespace telltale::stacktrack {
namespace {

std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void tell_time(DumpLine& line, const std::string& key, RawTime time,
               const FormatDescription& description) {
  switch (description.time_form) {
    case TimeForm::integer:
      line.number(key, time.first);
      break;
    case TimeForm::real:
      line.word(key, fmt::format("{:e}", to_double(time, description)));
      break;
    case TimeForm::timespec:
    case TimeForm::timeval:
      line.number(key + "_s", time.first);
      line.number(key + (description.time_form == TimeForm::timespec ? "_ns" : "_us"), time.second);
      break;
  }
}

void tell_member(DumpLine& line, const Record& record, const Member& member) {
  const std::string key = member_key(member);
  switch (member.form) {
    case MemberForm::unsigned_integer:
      line.number(key, record.member(member));
      break;
    case MemberForm::signed_integer:
      line.number(key, record.signed_member(member));
      break;
    case MemberForm::time:
      tell_time(line, key, record.time_member(member), record.description());
      break;
    case MemberForm::text:
      line.text(key,
                record.is(RecordKind::info) ? record.text() : as_text(record.bytes_of(member)));
      break;
  }
}

class Dumper {
 public:
  Dumper(const std::string& file_name, DumpOutput& out, ProblemLog& problems,
         const std::function<bool(const Record&)>& chosen)
      : file_name_(file_name), out_(out), problems_(problems), chosen_(chosen) {}

  void record(const Record& record) {
    if (chosen_ && !chosen_(record)) return;
    const TypeLayout& type = *record.type();
    DumpLine line(out_, record.offset(), type.tag);
    line.word("flags", fmt::format("0x{:04x}", record.flags()));
    line.number("pid", record.pid());
    if (record.description().compiled.stream.known()) line.number("stream", record.stream());
    line.number("seq", record.sequence());
    for (const Member& member : type.members) tell_member(line, record, member);
  }
  void skipped(const SkippedBytes& skipped) {
    if (is_damage(skipped.reason)) {
      Problem problem = problem_of(skipped, file_name_);
      dump_problem(problem, out_);
      problems_.add(std::move(problem));
    }
    DumpLine(out_, skipped.offset, "Skipped")
        .word("reason", to_string(skipped.reason))
        .number("bytes", skipped.bytes.size());
  }

 private:
  const std::string& file_name_;
  DumpOutput& out_;
  ProblemLog& problems_;
  const std::function<bool(const Record&)>& chosen_;
};

void tell_stream(const FormatDescription& description, const std::string& file_name,
                 DumpOutput& out) {
  DumpLine line(out, 0, "Stream");
  if (!out.for_people()) line.text("file", file_name);
  line.word("format", "stacktrack")
      .number("version", description.version)
      .word("layout", layout_name(description))
      .word("order", description.order == std::endian::little ? "little" : "big")
      .number("entry_size", description.entry_size);
}

// A record of each type.
void tell_every_type(const FormatDescription& description, Dumper& dumper) {
  for (const TypeLayout& type : description.types) {
    // The low byte of the flags, which every layout of ours begins with.
    std::vector<std::byte> bytes(description.entry_size);
    bytes[0] = static_cast<std::byte>(type.index);
    dumper.record(Record(description, bytes, 0));
  }
}

// The members' sentences are those of the layouts' own descriptions. Kept for the fields' views.
struct DeclaredMembers {
  DeclaredMembers() {
    for (const Layout layout : {Layout::classic, Layout::wide})
      for (const TypeLayout& type : known_layout(layout).types)
        for (const Member& member : type.members) add(type, member);
  }
  void add(const TypeLayout& type, const Member& member) {
    const std::string key = type.tag + "." + member_key(member);
    if (std::ranges::find(fields, key, &Field::key) != fields.end()) return;
    ValueType value = ValueType::unsigned_integer;
    if (member.form == MemberForm::signed_integer) value = ValueType::integer;
    if (member.form == MemberForm::text) value = ValueType::text;
    std::string sentence = member.description.empty() ? member.name : member.description;
    if (sentence[0] >= 'a' && sentence[0] <= 'z') sentence[0] -= 'a' - 'A';
    fields.push_back(
        {texts.emplace_back(key), value, Unit::none, texts.emplace_back(sentence + ".")});
  }

  std::deque<std::string> texts;
  std::vector<Field> fields = {
      field::text("file", "Name of the file."),
      field::text("format", "stacktrack."),
      field::number_id("Stream.version", "Version of the format."),
      field::text("layout", "classic, wide or foreign."),
      field::text("order", "Byte order: little or big."),
      field::bytes("Stream.entry_size", "Size of a record."),
      field::text("flags", "Type and flags of the record, as hexadecimal digits."),
      field::number_id("pid", "Process."),
      field::number_id("stream", "Stream of the thread, the low 16 bits."),
      field::number_id("seq", "Sequence number of the record."),
  };
};

}  // namespace

Result<void> dump_stream(Bytes file, const std::string& file_name, const StreamFormat& format,
                         DumpStyle style, const ByteSink& sink, ProblemLog& problems,
                         const std::function<bool(const Record&)>& chosen) {
  DumpOutput out(style, sink);
  tell_stream(format.description, file_name, out);
  Dumper dumper(file_name, out, problems, chosen);
  walk_stream(file, format, dumper);
  return out.finish();
}

std::vector<RecordTable> stream_records() {
  static const DeclaredMembers kMembers;
  std::vector<RecordTable> tables = record_tables(kMembers.fields, [](DumpOutput& out) {
    const std::string name;
    ProblemLog problems;
    const std::function<bool(const Record&)> all;
    Dumper dumper(name, out, problems, all);
    for (const Layout layout : {Layout::classic, Layout::wide}) {
      tell_stream(known_layout(layout), name, out);
      tell_every_type(known_layout(layout), dumper);
    }
    dumper.skipped({});
  });
  // Descriptions of other platforms have their own members.
  for (RecordTable& table : tables) table.open = true;
  return tables;
}

}  // namespace telltale::stacktrack
