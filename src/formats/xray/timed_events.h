#pragma once

#include <cstdint>

#include "formats/xray/basic_runs.h"
#include "formats/xray/fdr_walk.h"
#include "formats/xray/records.h"

namespace telltale::xray {

// A record's contents with absolute time: the common part of the format's versions and flavours, on
// which conversion between them is based.
struct TimedEvent {
  enum class Kind : uint8_t {
    call,      // an entry or exit: action, function_id, tsc
    argument,  // of the last entry: value
    custom,    // payload, tsc, cpu
    typed,     // payload, tsc, event_type
    cpu,       // cpu, tsc: the thread runs there from then on
    wrap,      // tsc: only a time; value: microseconds waited before it, if the recorder says so
    wall,      // seconds, microseconds
    other,     // a record that is not allowed there (Pid, EndOfBuffer in the body)
  };
  Kind kind = Kind::other;
  FunctionAction action = FunctionAction::enter;
  uint16_t cpu = 0;
  uint16_t event_type = 0;
  uint32_t function_id = 0;
  uint64_t tsc = 0;  // absolute ticks
  uint64_t value = 0;
  int64_t seconds = 0;
  int32_t microseconds = 0;
  Bytes payload;  // view into the input
};

// The records that open a buffer.
struct BufferStart {
  int32_t tid = 0;
  int32_t pid = 0;  // 0: unknown
  int64_t seconds = 0;
  int32_t microseconds = 0;
  uint16_t cpu = 0;
  uint64_t tsc = 0;
  bool timed = false;  // it has a NewCPUId
};

// Pulls the events of one FDR buffer, one at a time; memory does not grow with the buffer. The
// preamble becomes start().
class FdrBufferEvents {
 public:
  // Reads the preamble. The file and header must outlive this object.
  FdrBufferEvents(Bytes file, const FileHeader& header, const BufferFrame& frame);

  [[nodiscard]] const BufferStart& start() const { return start_; }
  // The next event; false at the buffer's end, or at an unreadable record.
  bool next(TimedEvent& event);
  // Where and why reading ended; set once next() has returned false.
  [[nodiscard]] const WalkEnd& end() const { return end_; }

 private:
  // Decodes the record at the cursor; false as in next().
  bool read(FdrPayload& payload);
  TimedEvent timed(const FdrPayload& payload);

  Bytes file_;
  const FileHeader& header_;
  uint64_t frame_end_;
  Cursor in_;
  BufferStart start_;
  uint64_t now_ = 0;
  TimedPlace next_timed_;  // after the latest event with its own time
  uint16_t cpu_ = 0;
  WalkEnd end_;
  bool ended_ = false;
  bool first_record_ = true;
  bool has_pending_ = false;  // a record was read that is not part of the preamble
  FdrPayload pending_;
};

// A basic record as an event.
TimedEvent timed_event(const BasicRecord& record);

}  // namespace telltale::xray
