#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/call_sink.h"
#include "model/function_map.h"
#include "model/ns_converter.h"
#include "output/append_buffer.h"
#include "output/export.h"
#include "output/output_file.h"
#include "output/proto_writer.h"

struct libdeflate_compressor;

namespace telltale {

struct PerfettoOptions {
  bool compress = false;  // wrap packets in compressed_packets (zlib)
};

// Encodes the calls of one unit as Perfetto TracePackets: BEGIN and END slices and INSTANT events
// on the thread's track.
//
// What makes packets small: each thread is a packet sequence of its own, whose clock counts
// nanoseconds since the packet before and whose default track is the thread's; names are interned
// under the function's id + 1. So a sink need not know what earlier units defined:
// PerfettoExport::finish() puts definitions, and the step of the clock, in front.
class PerfettoSink : public IgnoreCalls {
 public:
  PerfettoSink(const ExportContext& context, const NsConverter& to_ns, const UnitContext& unit,
               AppendBuffer buffer, const PerfettoOptions& options);

  void open(Ticks time, FunctionId function) {
    if (buffer_.size() >= piece_bytes_) [[unlikely]]
      compress_piece();
    const Begin& begin = begin_of(function);
    char* place = buffer_.reserve(kMaxShortPacket);
    begin_at_ = buffer_.size();
    arguments_at_ = 0;
    buffer_.commit(put_packet(place, time, begin.tail.data(), begin.size, kMaxTail));
  }
  void argument(uint64_t value);  // appends to the BEGIN just written
  void close(Ticks time, FunctionId, CloseKind how) {
    if (buffer_.size() >= piece_bytes_) [[unlikely]]
      compress_piece();
    if (how == CloseKind::unwound || how == CloseKind::unfinished) [[unlikely]] {
      annotated_close(time, how);
      return;
    }
    char* place = buffer_.reserve(kMaxShortPacket);
    buffer_.commit(put_packet(place, time, end_tail_.data(), end_tail_size_, kMaxEndTail));
  }
  void orphan_exit(Ticks time, FunctionId function);
  void instant(const InstantEvent& event);
  void loss(const LossEvent& event);

 private:
  friend class PerfettoExport;
  static constexpr size_t kMaxTail = 32;     // of a BEGIN: what follows the time stamp
  static constexpr size_t kMaxEndTail = 16;  // of an END
  static constexpr size_t kMaxShortPacket = 64;
  struct Begin {
    uint64_t key = 0;  // function id + 1
    size_t size = 0;
    std::array<char, kMaxTail> tail{};
  };

  const Begin& begin_of(FunctionId function) {
    Begin& slot = begins_[to_number(function) % begins_.size()];
    if (slot.key != uint64_t{to_number(function)} + 1) [[unlikely]]
      make_begin(function, slot);
    return slot;
  }
  // A packet of less than 128 bytes: header, time since the packet before, `tail` (copied as a
  // block of `copied` bytes).
  char* put_packet(char* place, Ticks time, const char* tail, size_t tail_bytes, size_t copied) {
    place[0] = 0x0a;  // Trace.packet
    place[2] = 0x40;  // TracePacket.timestamp
    char* end = write_varint(place + 3, step_clock(time));
    std::memcpy(end, tail, copied);
    end += tail_bytes;
    place[1] = static_cast<char>(end - place - 2);
    return end;
  }
  uint64_t step_clock(Ticks time) {
    const uint64_t ns = to_ns_(time - first_time_);
    if (!begun_) [[unlikely]] {
      begun_ = true;
      first_ns_ = last_ns_ = ns;
    }
    const uint64_t step = ns - last_ns_;
    last_ns_ = ns;
    return step;
  }
  void make_begin(FunctionId function, Begin& slot);
  void use(FunctionId function);
  void annotated_close(Ticks time, CloseKind how);
  void put_event(Ticks time, const ProtoMessage& event);
  void compress_piece();
  void finish_pieces();  // compresses what is left

  const ExportContext* context_;
  NsConverter to_ns_;
  Ticks first_time_;
  uint32_t sequence_;
  size_t piece_bytes_;
  AppendBuffer buffer_;
  AppendBuffer compressed_;
  std::shared_ptr<libdeflate_compressor> compressor_;
  std::vector<Begin> begins_;  // by low bits of the id
  std::array<char, kMaxEndTail> end_tail_{};
  size_t end_tail_size_ = 0;
  bool begun_ = false;
  uint64_t first_ns_ = 0;
  uint64_t last_ns_ = 0;
  size_t begin_at_ = 0;
  size_t arguments_at_ =
      0;  // place of the event's length in a BEGIN with arguments; 0: has none yet
  uint32_t argument_count_ = 0;
  std::vector<FunctionId> used_;  // may repeat
  size_t used_limit_ = 4096;      // repeats are taken out when there are so many
};
static_assert(CallSink<PerfettoSink>);

// Writes a recording as a Perfetto trace (docs/exports.md, "Perfetto").
class PerfettoExport {
 public:
  using Sink = PerfettoSink;
  // `context` and `out` outlive this.
  PerfettoExport(const ExportContext& context, OutputFile& out, const PerfettoOptions& options = {})
      : context_(context), to_ns_(context.clock), out_(out), options_(options) {}

  Result<void> begin() { return {}; }
  Sink make(const UnitContext& unit) { return {context_, to_ns_, unit, pool_.take(), options_}; }
  Result<void> finish(const UnitContext& unit, Sink& sink);
  Result<void> end() { return {}; }

 private:
  void begin_stream(size_t stream, std::string& out);
  void define(Sink& sink, std::string& out);

  ExportContext context_;
  NsConverter to_ns_;
  OutputFile& out_;
  PerfettoOptions options_;
  BufferPool pool_;
  bool any_stream_ = false;
  size_t stream_ = 0;
  uint64_t stream_ns_ = 0;        // where the stream's clock stands
  FunctionMap<uint8_t> defined_;  // in the stream
  std::set<int64_t> described_processes_;
};
static_assert(CallExport<PerfettoExport>);

}  // namespace telltale
