// Mono recordings: no crash, and two ways to the same answer: the fast lane for calls, and one
// event after the other.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "formats/mono/frames.h"
#include "formats/mono/reader.h"

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
    require(head.offset >= end, "events stand one behind the other");
    end = head.offset + head.raw.size();
    call(r.action, head.time, r.method);
  }
  template <typename Record>
  void event(const EventHead& head, const Record& record) {
    require(head.offset >= end, "events stand one behind the other");
    end = head.offset + head.raw.size();
    other(head, record);
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Bytes file = std::as_bytes(std::span(data, size));
  const Result<FileHeader> header = read_file_header(file);
  if (!header) return 0;
  const BufferFrames frames = frame_file(file, *header, "f");
  for (const Problem& problem : frames.problems.kept())
    require(problem.offset <= size, "a problem is placed inside the input");
  const Layout layout = layout_of(header->version);
  uint64_t at = header->bytes;
  for (const BufferFrame& frame : frames.buffers) {
    require(frame.offset >= at && frame.begin <= frame.end && frame.end <= size,
            "buffers stand one behind the other");
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
  }
  return 0;
}
