// StackTrack streams: no crash; rewriting gives the same bytes; conversions are complete. An input
// that begins with an XML tag is a RAW_FORMAT description, followed by the stream.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/stacktrack/convert.h"
#include "formats/stacktrack/format_description_xml.h"
#include "formats/stacktrack/verifier.h"
#include "formats/stacktrack/writer.h"
#include "fuzz_checks.h"
#include "import/stacktrack/stacktrack_recording.h"
#include "output/dump/stacktrack_dump.h"
#include "output/dump/stacktrack_xml.h"

namespace {

using namespace telltale;
using namespace telltale::stacktrack;

void check_texts(Bytes file, const StreamFormat& format) {
  ProblemLog text_problems;
  ProblemLog json_problems;
  ProblemLog xml_problems;
  std::string text;
  std::string json;
  std::string xml;
  fuzz::require(
      dump_stream(file, "f", format, DumpStyle::kText, fuzz::into(text), text_problems).has_value(),
      "dump");
  fuzz::require(
      dump_stream(file, "f", format, DumpStyle::kJson, fuzz::into(json), json_problems).has_value(),
      "dump --json");
  fuzz::require(expand_events(file, "f", format, {}, fuzz::into(xml), xml_problems).has_value(),
                "expand_events");
  fuzz::require_placed(text_problems, file);
  fuzz::require(text_problems.count() == json_problems.count() &&
                    text_problems.count() == xml_problems.count(),
                "all see the same problems");
  for (const char c : text + xml)
    fuzz::require(c == '\n' || static_cast<unsigned char>(c) >= 0x20, "no control characters");
}

void check_events(Bytes file, const StreamFormat& format) {
  std::vector<InputFile> inputs;
  inputs.push_back(InputFile::from_memory("f", file));
  const Result<StacktrackRecording> recording =
      StacktrackRecording::open(std::move(inputs), format.description);
  fuzz::require(recording.has_value(), "a described stream can be opened");
  struct Order : IgnoreEvents {
    Ticks last = 0;
    void check(Ticks time) {
      fuzz::require(time >= last, "times never go back within a shard");
      last = time;
    }
    void enter(Ticks time, FunctionId) { check(time); }
    void leave(Ticks time, FunctionId, LeaveKind) { check(time); }
    void instant(const InstantEvent& event) { check(event.time); }
  };
  for (size_t s = 0; s < recording->streams().size(); ++s) {
    for (size_t u = 0; u < recording->streams()[s].shards; ++u) {
      Order order;
      ProblemLog problems;
      recording->play(s, u, order, problems);
      fuzz::require_placed(problems, file);
    }
  }
  fuzz::require_placed(recording->problems(), file);
  static_cast<void>(recording->info(1));
}

void check_stream(Bytes file, const StreamFormat& format) {
  std::string again;
  fuzz::require(rewrite_stream(file, format, fuzz::into(again)).has_value(), "rewriting");
  fuzz::require(again == std::string_view(reinterpret_cast<const char*>(file.data()), file.size()),
                "rewriting gives the same bytes");
  check_texts(file, format);
  check_events(file, format);
  const Verdict verdict = verify_stream(file, format);
  fuzz::require(verdict.valid() == (verdict.violations() == 0), "the first violation is counted");
  for (const Layout layout : {Layout::classic, Layout::wide}) {
    ProblemLog problems;
    std::string out;
    const FormatDescription to = known_layout(layout);
    const auto converted = convert_stream(file, "f", format, to, fuzz::into(out), problems);
    // A stream of which no record fits the target is an error.
    fuzz::require(converted || converted.error().cause == Error::Cause::usage, "conversion");
    if (!converted) continue;
    if (same_meaning(format.description, to)) continue;
    ProblemLog none;
    std::string text;
    const Result<void> done =
        dump_stream(as_bytes(out), "f", {to, 0, true}, DumpStyle::kText, fuzz::into(text), none);
    // A text without an end stays without it, a recorder's losses stay lost, and records that
    // depend on a damaged one may be dropped with it.
    fuzz::require(done.has_value() && (none.lost_bytes() == 0 || problems.lost_bytes() != 0),
                  "what a sound stream is converted to is whole");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Bytes file = std::as_bytes(std::span(data, size));
  constexpr std::string_view kEnd = "</RAW_FORMAT>\n";
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  if (size != 0 && data[0] == '<') {
    const size_t end = all.find(kEnd);
    const size_t length = end == std::string_view::npos ? size : end + kEnd.size();
    const Result<FormatDescription> platform = read_format_description(file.first(length));
    if (!platform) return 0;
    const std::string shown = raw_format_xml(*platform);
    const Result<FormatDescription> again = read_format_description(as_bytes(shown));
    fuzz::require(again && same_meaning(*platform, *again), "what is shown reads back");
    const Bytes stream = file.subspan(length);
    check_stream(stream, recognise(stream, *platform));
    return 0;
  }
  if (const Result<StreamFormat> format = recognise(file)) check_stream(file, *format);
  return 0;
}
