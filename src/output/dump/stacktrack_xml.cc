#include "output/dump/stacktrack_xml.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>

#include "formats/stacktrack/reader.h"
#include "output/escape.h"

namespace telltale::stacktrack {
namespace {

void attribute(std::string& out, std::string_view name, std::string_view value) {
  out += ' ';
  out += name;
  out += "=\"";
  append_xml(out, value);
  out += '"';
}

// Two digits per byte, as the specification prints ids: 0x060c.
std::string hex(uint64_t value, uint32_t bytes) {
  return fmt::format("0x{:0{}x}", value, 2 * bytes);
}

// As in the specification's example: the digits first, then zeros up to the field's width.
std::string left_justified_hex(uint64_t value, uint32_t bytes) {
  return fmt::format("0x{:0<{}}", fmt::format("{:x}", value), 2 * bytes);
}

// The example prints these types in hexadecimal, all other numbers in decimal.
bool is_shown_in_hex(const Member& member) {
  return member.type == "st_pid_t" || member.type == "st_tid_t" || member.type == "uns16";
}

struct Start {
  std::optional<RawTime> divisor;
  std::optional<RawTime> start;
};

// The first of each of a process; it also applies to earlier events.
struct FindStarts {
  std::map<uint64_t, Start> starts;
  void record(const Record& record) {
    if (record.is(RecordKind::time_type)) {
      starts[record.pid()].divisor = record.time(RecordKind::time_type, Role::divisor);
    } else if (record.is(RecordKind::time_info) && !starts[record.pid()].start) {
      starts[record.pid()].start = record.time(RecordKind::time_info, Role::start_hires);
    }
  }
  void skipped(const SkippedBytes&) {}
};

class Expander {
 public:
  Expander(const std::string& file_name, const FormatDescription& description,
           const ExpandOptions& options, std::map<uint64_t, Start> starts, BlockWriter& out,
           ProblemLog& problems)
      : file_name_(file_name),
        description_(description),
        options_(options),
        starts_(std::move(starts)),
        out_(out),
        problems_(problems) {}

  void record(const Record& record) {
    std::string& out = out_.block();
    const TypeLayout& type = *record.type();
    const uint32_t flag_bytes = description_.compiled.flags.size;
    const uint32_t pid_bytes = description_.compiled.pid.size;
    const bool left = options_.as_printed && !record.is(RecordKind::info);
    out += '<';
    out += type.tag;
    attribute(
        out, "flags",
        left ? left_justified_hex(record.flags(), flag_bytes) : hex(record.flags(), flag_bytes));
    attribute(out, "pid",
              left ? left_justified_hex(record.pid(), pid_bytes) : hex(record.pid(), pid_bytes));
    if (description_.compiled.stream.known())
      attribute(out, "stream", fmt::format("{}", record.stream()));
    attribute(out, "seq", fmt::format("{}", record.sequence()));
    for (const Member& member : type.members) {
      attribute(out, options_.as_printed ? member.name : member_key(member),
                value_of(record, member));
    }
    out += "/>\n";
    out_.flush_if_full();
  }

  void skipped(const SkippedBytes& skipped) {
    if (is_damage(skipped.reason)) problems_.add(problem_of(skipped, file_name_));
    out_.write(fmt::format("<!-- {} bytes at {}: {} -->\n", skipped.bytes.size(), skipped.offset,
                           to_string(skipped.reason)));
  }

 private:
  std::string value_of(const Record& record, const Member& member) const {
    switch (member.form) {
      case MemberForm::unsigned_integer:
        return is_shown_in_hex(member) ? hex(record.member(member), member.size)
                                       : fmt::format("{}", record.member(member));
      case MemberForm::signed_integer:
        return fmt::format("{}", record.signed_member(member));
      case MemberForm::time:
        return fmt::format("{:.6f}", seconds(record, member));
      case MemberForm::text: {
        if (record.is(RecordKind::info)) return std::string(record.text());
        const Bytes bytes = record.bytes_of(member);
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
      }
    }
    return {};
  }

  [[nodiscard]] double seconds(const Record& record, const Member& member) const {
    const auto found = starts_.find(record.pid());
    static const Start kUnknown;
    const Start& known = found == starts_.end() ? kUnknown : found->second;
    const RawTime time = record.time_member(member);
    double divisor = known.divisor ? to_double(*known.divisor, description_) : 1;
    if (divisor == 0) divisor = 1;
    if (record.is(RecordKind::time_type)) return to_double(time, description_) / divisor;
    const RawTime start = known.start.value_or(RawTime());
    const auto ticks = to_ticks(time, description_);
    const auto from = to_ticks(start, description_);
    // Ticks are subtracted as integers: a counter may be larger than what a double holds exactly.
    if (ticks && from) {
      const double distance = *ticks >= *from ? static_cast<double>(*ticks - *from)
                                              : -static_cast<double>(*from - *ticks);
      return distance / divisor;
    }
    return (to_double(time, description_) - to_double(start, description_)) / divisor;
  }

  const std::string& file_name_;
  const FormatDescription& description_;
  const ExpandOptions& options_;
  std::map<uint64_t, Start> starts_;
  BlockWriter& out_;
  ProblemLog& problems_;
};

void append_member(std::string& out, const Member& member) {
  out += "<MEMBER";
  attribute(out, "name", member.name);
  attribute(out, "type", member.type);
  attribute(out, "size", fmt::format("{}", member.size));
  attribute(out, "offset", fmt::format("{}", member.offset));
  attribute(out, "desc", member.description);
  out += "/>\n";
}

}  // namespace

std::string member_key(const Member& member) {
  static constexpr std::array<std::string_view, 6> kTaken = {"flags", "pid",    "stream",
                                                             "seq",   "offset", "record"};
  const bool taken = std::ranges::find(kTaken, member.name) != kTaken.end();
  return taken ? "payload_" + member.name : member.name;
}

Result<void> expand_events(Bytes file, const std::string& file_name, const StreamFormat& format,
                           const ExpandOptions& options, const ByteSink& sink,
                           ProblemLog& problems) {
  FindStarts starts;
  walk_stream(file, format, starts);
  BlockWriter out(sink);
  if (options.document) out.write("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<STACKTRACK>\n");
  Expander expander(file_name, format.description, options, std::move(starts.starts), out,
                    problems);
  walk_stream(file, format, expander);
  if (options.document) out.write("</STACKTRACK>\n");
  return out.finish();
}

std::string raw_format_xml(const FormatDescription& description) {
  std::string out = "<RAW_FORMAT";
  const uint32_t raw = description.order == std::endian::big ? description.magic
                                                             : __builtin_bswap32(description.magic);
  attribute(out, "version", fmt::format("{:x}", description.version));
  attribute(out, "size", fmt::format("{}", description.entry_size));
  attribute(out, "payload_size", fmt::format("{}", description.payload_size));
  attribute(out, "payload_offset", fmt::format("{}", description.payload_offset));
  attribute(out, "magic", hex(description.magic, 4));
  attribute(out, "magic_raw", hex(raw, 4));
  // Our choice: the specification does not define it, and without it values are integers.
  if (description.time_form != TimeForm::integer)
    attribute(out, "time_form", to_string(description.time_form));
  out += ">\n";
  for (const TypeLayout& type : description.types) {
    out += "<TYPE";
    attribute(out, "uname", type.tag);
    attribute(out, "name", type.name);
    attribute(out, "typeindex", fmt::format("{}", type.index));
    attribute(out, "type", type.type);
    attribute(out, "size", fmt::format("{}", type.size));
    attribute(out, "followedby", type.followed_by);
    attribute(out, "desc", type.description);
    out += ">\n";
    for (const Member& member : type.members) append_member(out, member);
    out += "</TYPE>\n";
  }
  for (const Flag& flag : description.flags) {
    out += "<FLAG";
    attribute(out, "name", flag.name);
    attribute(out, "value", hex(flag.value, description.compiled.flags.size));
    out += "/>\n";
  }
  // Our addition: the bytes before the payload.
  out += "<HEADER>\n";
  for (const Member& member : description.header) append_member(out, member);
  return out + "</HEADER>\n</RAW_FORMAT>\n";
}

}  // namespace telltale::stacktrack
