// FDR files: no crash, and the same answer in two ways: the framing walk with its fast path for
// function records, and the reader that reads one record after the other.
#include <cstddef>
#include <cstdint>

#include "formats/xray/fdr_file_walk.h"
#include "formats/xray/timed_events.h"
#include "xray_checks.h"

namespace {

using namespace telltale;
using namespace telltale::xray;

// Sums the walk buffer by buffer.
struct Summary {
  uint64_t records = 0;
  uint64_t sum = 0;  // of ids, actions and offsets
  bool operator==(const Summary&) const = default;
};

struct WalkSummary : Summary {
  void function(uint64_t offset, const FunctionRecord& record) {
    ++records;
    sum += offset * 31 + record.function_id * 7 + static_cast<uint64_t>(record.action) +
           record.tsc_delta;
  }
  void metadata(const FdrRecord& record) {
    ++records;
    sum += record.offset * 31 + record.payload.index() + record.raw.size();
  }
};

WalkEnd read_one_by_one(Bytes file, const BufferFrame& frame, const FileHeader& header,
                        WalkSummary& summary) {
  Cursor in(file.subspan(frame.begin, frame.end - frame.begin), header.order, frame.begin);
  WalkEnd end;
  while (true) {
    end.offset = in.offset();
    if (in.at_end()) return end;
    const Result<FdrRecord> record = read_fdr_record(in, header.version);
    if (!record) {
      end.error = record.error();
      return end;
    }
    if (detail::begins_buffer(record->payload) && record->offset != frame.begin) {
      end.error = detail::misplaced_opening(record->offset, record->payload);
      return end;
    }
    if (const auto* function = std::get_if<FunctionRecord>(&record->payload)) {
      summary.function(record->offset, *function);
    } else {
      summary.metadata(*record);
    }
    end.offset = in.offset();
    if (header.version == 1 && std::holds_alternative<EndOfBuffer>(record->payload)) return end;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Bytes file = std::as_bytes(std::span(data, size));
  const Result<FileHeader> header = read_file_header(file);
  if (!header || header->type != LogType::fdr) return 0;
  const FdrFrames frames = frame_fdr_file(file, *header, "f");
  fuzz::require_placed(frames.problems, file);
  for (const BufferFrame& frame : frames.buffers) {
    WalkSummary walked;
    WalkSummary read;
    const WalkEnd walk = walk_fdr_records(file, frame.begin, frame.end, *header, walked);
    const WalkEnd one = read_one_by_one(file, frame, *header, read);
    fuzz::require(static_cast<Summary&>(walked) == static_cast<Summary&>(read),
                  "the walk and the reader agree");
    fuzz::require(walk.offset == one.offset && walk.error.has_value() == one.error.has_value(),
                  "and end alike");
    FdrBufferEvents events(file, *header, frame);
    TimedEvent event;
    while (events.next(event)) {
    }
    fuzz::require(events.end().offset == walk.offset, "and so do the events");
  }
  fuzz::check_binary(file);
  static constexpr std::string_view kTargets[] = {"fdr2", "fdr3",   "fdr4", "fdr5",
                                                  "yaml", "basic2", "fdr1"};
  // Last, so that it can be skipped: version 1's fixed-size buffers are large.
  const bool small = frames.buffers.size() <= 4 && header->buffer_size <= (uint64_t{1} << 20);
  fuzz::check_one_conversion(file, std::span(kTargets).first(small ? 7 : 6));
  return 0;
}
