#include "formats/stacktrack/writer.h"

#include "formats/stacktrack/reader.h"

namespace telltale::stacktrack {
namespace {

std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Rewriter {
  BlockWriter& out;
  void record(const Record& record) {
    rewrite_record(record, out.block());
    out.flush_if_full();
  }
  void skipped(const SkippedBytes& skipped) { out.write(as_text(skipped.bytes)); }
};

}  // namespace

void rewrite_record(const Record& record, std::string& out) {
  const auto kind = record.kind();
  if (!kind) {  // the platform's own: its members are not interpreted
    out += as_text(record.raw());
    return;
  }
  const FormatDescription& description = record.description();
  RecordBuilder builder(description, *kind, record.raw());
  builder.flags(record.flags()).pid(record.pid()).sequence(record.sequence());
  builder.stream(record.stream());
  for (size_t i = 0; i < kRoles; ++i) {
    const auto role = static_cast<Role>(i);
    const Place& place = description.place(*kind, role);
    if (!place.known()) continue;
    if (place.form == MemberForm::time) {
      builder.time(role, record.time(*kind, role));
    } else if (place.form == MemberForm::text) {
      builder.text(record.text());
    } else {
      builder.number(role, record.number(*kind, role));
    }
  }
  out += builder.bytes();
}

Result<void> rewrite_stream(Bytes file, const StreamFormat& format, const ByteSink& sink) {
  BlockWriter out(sink);
  Rewriter rewriter{out};
  walk_stream(file, format, rewriter);
  return out.finish();
}

}  // namespace telltale::stacktrack
