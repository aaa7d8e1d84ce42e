#include "output/dump/stacktrack_dump.h"

#include <fmt/format.h>

#include <string_view>

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
  Dumper(const std::string& file_name, DumpStyle style, BlockWriter& out, ProblemLog& problems,
         const std::function<bool(const Record&)>& chosen)
      : file_name_(file_name), style_(style), out_(out), problems_(problems), chosen_(chosen) {}

  void record(const Record& record) {
    if (chosen_ && !chosen_(record)) return;
    const TypeLayout& type = *record.type();
    {
      DumpLine line(style_, record.offset(), type.tag, out_.block());
      line.word("flags", fmt::format("0x{:04x}", record.flags()));
      line.number("pid", record.pid());
      if (record.description().compiled.stream.known()) line.number("stream", record.stream());
      line.number("seq", record.sequence());
      for (const Member& member : type.members) tell_member(line, record, member);
    }
    out_.flush_if_full();
  }
  void skipped(const SkippedBytes& skipped) {
    if (is_damage(skipped.reason)) {
      Problem problem = problem_of(skipped, file_name_);
      dump_problem(problem, style_, out_);
      problems_.add(std::move(problem));
    }
    DumpLine(style_, skipped.offset, "Skipped", out_.block())
        .word("reason", to_string(skipped.reason))
        .number("bytes", skipped.bytes.size());
    out_.flush_if_full();
  }

 private:
  const std::string& file_name_;
  DumpStyle style_;
  BlockWriter& out_;
  ProblemLog& problems_;
  const std::function<bool(const Record&)>& chosen_;
};

}  // namespace

Result<void> dump_stream(Bytes file, const std::string& file_name, const StreamFormat& format,
                         DumpStyle style, const ByteSink& sink, ProblemLog& problems,
                         const std::function<bool(const Record&)>& chosen) {
  BlockWriter out(sink);
  {
    DumpLine line(style, 0, "Stream", out.block());
    if (style == DumpStyle::json) line.text("file", file_name);
    line.word("format", "stacktrack")
        .number("version", format.description.version)
        .word("layout", layout_name(format.description))
        .word("order", format.description.order == std::endian::little ? "little" : "big")
        .number("entry_size", format.description.entry_size);
  }
  Dumper dumper(file_name, style, out, problems, chosen);
  walk_stream(file, format, dumper);
  return out.finish();
}

}  // namespace telltale::stacktrack
