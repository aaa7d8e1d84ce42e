// Mono recordings: no crash, and the same answer in three ways: the fast path for calls, skimming,
// and one event after the other.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "formats/mono/frames.h"
#include "formats/mono/reader.h"
#include "formats/mono/verifier.h"
#include "formats/mono/writer.h"
#include "output/dump/mono_dump.h"

namespace {

using namespace telltale;
using namespace telltale::mono;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

struct Summary {
  uint64_t events = 0;
  uint64_t sum = 0;
  void call(Call::Action action, uint64_t time, uint64_t method) {
    ++events;
    sum = (sum * 31) ^ time ^ (method << 7) ^ static_cast<uint64_t>(action);
  }
  template <typename Record>
  void other(const EventHead& head, const Record&) {
    ++events;
    sum = (sum * 31) ^ head.time ^ head.offset ^ head.raw.size();
  }
  bool operator==(const Summary&) const = default;
};
// A reader of types, sizes, times and calls.
struct Plain : Summary {
  void add(uint64_t kind, uint64_t time, uint64_t type, uint64_t size) {
    ++events;
    sum = (sum * 31) ^ kind ^ time ^ (type << 7) ^ (size << 11);
  }
  void event(const EventHead& head, const Alloc& r) { add(1, head.time, r.type, r.size); }
  void event(const EventHead& head, const HeapObject& r) { add(2, head.time, r.type, r.size); }
  void event(const EventHead& head, const Clause& r) { add(3, head.time, r.type, 0); }
  void event(const EventHead& head, const Call& r) { add(4, head.time, r.method, 0); }
  void event(const EventHead& head, const Jit& r) { add(5, head.time, r.method, 0); }
};
struct Skimming : Plain {
  [[nodiscard]] static SkimRun::Wants wants() { return {false, false}; }
  void skim(SkimRun& run) { run.play(*this); }
  void allocation(uint64_t time, uint64_t type, uint64_t size) { add(1, time, type, size); }
  void heap_object(uint64_t time, uint64_t type, uint64_t size) { add(2, time, type, size); }
  void clause(uint64_t time, uint64_t type) { add(3, time, type, 0); }
};
struct FastLane : Summary {
  void calls(CallRun& run) {
    run.for_each(
        [&](Call::Action action, uint64_t time, uint64_t method) { call(action, time, method); });
  }
  template <typename Record>
  void event(const EventHead& head, const Record& record) {
    other(head, record);
  }
};
struct OneByOne : Summary {
  uint64_t end = 0;
  void event(const EventHead& head, const Call& r) {
    require(head.offset >= end, "events stand one after the other");
    end = head.offset + head.raw.size();
    call(r.action, head.time, r.method);
  }
  template <typename Record>
  void event(const EventHead& head, const Record& record) {
    require(head.offset >= end, "events stand one after the other");
    end = head.offset + head.raw.size();
    other(head, record);
  }
};

ByteSink into(std::string& out) {
  return [&out](std::string_view block) -> Result<void> {
    out += block;
    return {};
  };
}

void check_rewriting(Bytes file) {
  std::string again;
  require(rewrite_recording(file, into(again)).has_value(), "what has a header can be rewritten");
  require(std::ranges::equal(std::as_bytes(std::span(again.data(), again.size())), file),
          "rewriting gives the same bytes");
}

void check_conversion(Bytes file, uint8_t version) {
  std::string out;
  ProblemLog problems;
  require(convert_recording(file, "f", version, into(out), problems).has_value(), "conversion");
  const Bytes converted = std::as_bytes(std::span(out.data(), out.size()));
  if (std::ranges::equal(converted, file)) return;
  const Result<FileHeader> header = read_file_header(converted);
  require(header.has_value(), "a converted file has a header");
  const BufferFrames frames = frame_file(converted, *header, "f");
  require(frames.problems.count() == 0, "and whole buffers");
  OneByOne visitor;
  for (const BufferFrame& frame : frames.buffers) {
    visitor.end = frame.begin;
    require(!decode_buffer(frame.events(converted), frame.header.bases(header->address_mask()),
                           frame.begin, layout_of(version), visitor)
                 .error,
            "and whole events");
  }
}

void check_dump(Bytes file) {
  std::string text;
  std::string json;
  ProblemLog problems;
  ProblemLog json_problems;
  require(dump_recording(file, "f", DumpStyle::kText, into(text), problems).has_value(), "dump");
  require(dump_recording(file, "f", DumpStyle::kJson, into(json), json_problems).has_value(),
          "dump --json");
  require(std::ranges::count(text, '\n') == std::ranges::count(json, '\n'), "the same lines");
  for (const char c : text)
    require(c == '\n' || static_cast<unsigned char>(c) >= 0x20, "no control characters");
  const Result<Verdict> verdict = verify_recording(file);
  require(verdict.has_value(), "check");
  require(verdict->valid() == (verdict->violations() == 0), "the first violation is counted");
  require(!verdict->valid() || problems.count() == 0, "a valid file has no problems");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Bytes file = std::as_bytes(std::span(data, size));
  const Result<FileHeader> header = read_file_header(file);
  if (!header) return 0;
  const BufferFrames frames = frame_file(file, *header, "f");
  for (const Problem& problem : frames.problems.kept())
    require(problem.offset <= size, "a problem is placed inside the input");
  const Layout layout = find_layout(file, *header, frames);
  uint64_t at = header->bytes;
  for (const BufferFrame& frame : frames.buffers) {
    require(frame.offset >= at && frame.begin <= frame.end && frame.end <= size,
            "buffers stand one after the other");
    at = frame.end;
    FastLane fast;
    OneByOne single;
    const BufferBases bases = frame.header.bases(header->address_mask());
    const DecodeEnd one = decode_buffer(frame.events(file), bases, frame.begin, layout, fast);
    const DecodeEnd other = decode_buffer(frame.events(file), bases, frame.begin, layout, single);
    require(static_cast<Summary&>(fast) == static_cast<Summary&>(single), "both ways agree");
    require(one.offset == other.offset && one.error.has_value() == other.error.has_value() &&
                one.last_time == other.last_time,
            "and end alike");
    require(one.error.has_value() || one.offset == frame.end, "what has no error is read whole");
    Plain plain;
    Skimming skimming;
    decode_buffer(frame.events(file), bases, frame.begin, layout, plain);
    const DecodeEnd skimmed =
        decode_buffer(frame.events(file), bases, frame.begin, layout, skimming);
    require(static_cast<Summary&>(plain) == static_cast<Summary&>(skimming), "skimming agrees");
    require(skimmed.offset == one.offset && skimmed.last_time == one.last_time,
            "and ends where the others do");
  }
  check_rewriting(file);
  check_conversion(file, kPublishedVersion);
  check_conversion(file, kLastVersion);
  check_dump(file);
  return 0;
}
