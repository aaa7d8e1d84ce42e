#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "formats/xray/conversion_loss.h"
#include "formats/xray/encode.h"
#include "formats/xray/timed_events.h"
#include "formats/xray/writer.h"

namespace telltale::xray {

// Shared by all buffers of a file that is being written.
struct FdrOutput {
  FileHeader header;      // version, order and (version 1) buffer_size are used
  uint64_t split_at = 0;  // a buffer that grows beyond this many bytes is continued in a new one
  BlockWriter* out = nullptr;
  ConversionLoss* loss = nullptr;
};

// Composes one thread's buffers from events with absolute times: writes preambles, computes deltas,
// inserts a TSCWrap where a delta would overflow, and closes each buffer as the version requires
// (extents before it, or EndOfBuffer and filler after it). A buffer is held in memory until it is
// closed.
class FdrComposer {
 public:
  explicit FdrComposer(FdrOutput& output)
      : output_(output), layout_(fdr_layout(output.header.version)) {}

  [[nodiscard]] bool is_open() const { return !body_.empty(); }
  void open(const BufferStart& start);
  // REQUIRES: is_open(). Data that the version cannot express is counted as loss.
  void add(const TimedEvent& event);
  void close();
  [[nodiscard]] size_t held_bytes() const { return body_.size(); }

  // The maximum size of a buffer without payload, if an event is its only record. For choosing a
  // buffer size.
  static constexpr uint64_t kFramingBytes = 8 * kMetadataRecordBytes;

 private:
  void put(const FdrPayload& payload) {
    encode_fdr_record(payload, encoding_of(output_.header), body_);
  }
  // Writes the wait into the TSCWrap that put() has just appended.
  void put_wait(uint32_t us);
  void make_room(uint64_t bytes);
  // Makes `tsc` representable as a delta of at most `most` ticks, and returns the delta.
  uint64_t advance(uint64_t tsc, uint64_t most);
  void add_call(const TimedEvent& event);
  void add_argument(const TimedEvent& event);
  void add_custom(const TimedEvent& event);
  void add_typed(const TimedEvent& event);
  [[nodiscard]] bool fits(Bytes payload) const;

  FdrOutput& output_;
  FdrLayout layout_;
  BufferStart start_;          // of the open buffer; a continuation repeats it
  std::string body_;           // the open buffer after BufferExtents; empty: none is open
  uint64_t now_ = 0;           // the time that the next delta is relative to
  bool call_dropped_ = false;  // its arguments are dropped, too
};

}  // namespace telltale::xray
