#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/call_sink.h"
#include "model/function_map.h"
#include "model/ns_converter.h"
#include "model/waiting.h"
#include "output/append_buffer.h"
#include "output/export.h"
#include "output/output_file.h"
#include "output/timeline/proto_writer.h"
#include "output/worker_local.h"

struct libdeflate_compressor;

namespace telltale {

// The track uuids of processes, by the pid that is shown.
using PerfettoProcesses = std::map<int64_t, uint64_t>;

struct PerfettoOptions {
  bool compress = false;  // wrap packets in compressed_packets (zlib)
};

// Encodes the calls of one shard as Perfetto TracePackets: BEGIN and END slices and INSTANT events
// on the thread's track.
//
// To keep packets small, each thread is a separate packet sequence whose clock counts nanoseconds
// since the previous packet and whose default track is the thread's; names are interned under the
// function's id + 1. A sink need not know what earlier shards defined: PerfettoExport::finish()
// inserts definitions and the clock delta before its packets.
class PerfettoSink : public IgnoreCalls {
 public:
  // The bytes after the sequence number in a BEGIN packet of one function.
  struct Begin {
    static constexpr size_t kMaxBytes = 24;
    uint64_t used_in = 0;  // last shard that used it
    size_t size = 0;       // 0: not made yet
    std::array<char, kMaxBytes> bytes{};
  };
  using Begins = FunctionMap<Begin>;

  // `begins` belongs to the worker. References must outlive the sink.
  PerfettoSink(const ExportContext& context, const NsConverter& to_ns, const ShardContext& shard,
               AppendBuffer buffer, Begins& begins, const PerfettoOptions& options);

  void open(Ticks time, FunctionId function) {
    if (function == kWaiting && waits_are_states_) [[unlikely]] {
      waiting_since_ = time;
      return;
    }
    if (buffer_.size() >= piece_bytes_) [[unlikely]]
      compress_piece();
    const Begin& begin = begin_of(function);
    char* place = buffer_.reserve(kMaxShortPacket);
    begin_at_ = buffer_.size();
    arguments_at_ = 0;
    char* end = put_head(place, time);
    std::memcpy(end, begin.bytes.data(), Begin::kMaxBytes);
    finish_packet(place, end + begin.size);
    if (estimated_) [[unlikely]]
      annotate_estimate();
  }
  void argument(uint64_t value);  // appends to the BEGIN just written
  void close(Ticks time, FunctionId function, CloseKind how) {
    if (function == kWaiting && waits_are_states_) [[unlikely]] {
      waits_.emplace_back(ns_of(waiting_since_), ns_of(time));
      return;
    }
    if (buffer_.size() >= piece_bytes_) [[unlikely]]
      compress_piece();
    if (estimated_ || how == CloseKind::unwound || how == CloseKind::unfinished) [[unlikely]] {
      annotated_close(time, how);
      return;
    }
    char* place = buffer_.reserve(kMaxShortPacket);
    char* end = put_head(place, time);
    std::memcpy(end, kEnd.data(), kEnd.size());
    finish_packet(place, end + kEnd.size());
  }
  void orphan_exit(Ticks time, FunctionId function);
  void instant(const InstantEvent& event);
  void loss(const LossEvent& event);
  void estimated(bool now) { estimated_ = now; }

 private:
  friend class PerfettoExport;
  static constexpr size_t kMaxShortPacket = 64;
  static constexpr size_t kMaxSequence = 8;  // bytes, of what sequence_bytes_ holds
  // TracePacket.track_event with TrackEvent.type = SLICE_END. No sequence_flags: an END refers to
  // no interned name, and the sequence's defaults hold for every packet.
  static constexpr std::array<char, 4> kEnd = {0x5a, 2, 0x48, 2};

  const Begin& begin_of(FunctionId function) {
    Begin& begin = (*begins_)[function];
    if (begin.used_in != shard_number_) [[unlikely]]
      use(function, begin);
    return begin;
  }
  // A packet of less than 128 bytes up to its event: length (to be filled in), time since the
  // packet before, sequence.
  char* put_head(char* place, Ticks time) {
    place[0] = 0x0a;  // Trace.packet
    place[2] = 0x40;  // TracePacket.timestamp
    char* end = write_varint(place + 3, step_clock(time));
    std::memcpy(end, sequence_bytes_.data(), kMaxSequence);
    return end + sequence_size_;
  }
  void finish_packet(char* place, char* end) {
    place[1] = static_cast<char>(end - place - 2);
    buffer_.commit(end);
  }
  uint64_t ns_of(Ticks time) const { return to_ns_(time - first_time_); }
  uint64_t step_clock(Ticks time) {
    const uint64_t ns = ns_of(time);
    if (!begun_) [[unlikely]] {
      begun_ = true;
      first_ns_ = last_ns_ = ns;
    }
    const uint64_t step = ns - last_ns_;
    last_ns_ = ns;
    return step;
  }
  void use(FunctionId function, Begin& begin);
  void annotated_close(Ticks time, CloseKind how);
  void annotate_estimate();
  void annotate(const ProtoMessage& annotation);  // the BEGIN just written
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
  Begins* begins_;
  uint64_t shard_number_;  // never 0
  std::array<char, kMaxSequence> sequence_bytes_{};
  size_t sequence_size_ = 0;
  bool begun_ = false;
  bool estimated_ = false;
  uint64_t first_ns_ = 0;
  uint64_t last_ns_ = 0;
  size_t begin_at_ = 0;
  size_t arguments_at_ =
      0;  // position of the event's length in a BEGIN with arguments; 0: none yet
  uint32_t argument_count_ = 0;
  std::vector<FunctionId> used_;
  bool waits_are_states_;  // otherwise calls
  Ticks waiting_since_ = 0;
  std::vector<std::pair<uint64_t, uint64_t>> waits_;  // begin and end, in nanoseconds
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
  Sink make(const ShardContext& shard) {
    return {context_, to_ns_, shard, pool_.take(), begins_.of(shard.worker), options_};
  }
  Result<void> finish(const ShardContext& shard, Sink& sink);
  Result<void> end() { return end_stream(); }
  // Those that were described.
  [[nodiscard]] const PerfettoProcesses& processes() const { return processes_; }

 private:
  void begin_stream(size_t stream, std::string& out);
  void define(Sink& sink, std::string& out);
  // The states of the stream's thread: running, or waiting.
  void put_waits(const Sink& sink, std::string& out);
  Result<void> end_stream();

  ExportContext context_;
  NsConverter to_ns_;
  OutputFile& out_;
  PerfettoOptions options_;
  BufferPool pool_;
  WorkerLocal<Sink::Begins> begins_;
  bool any_stream_ = false;
  size_t stream_ = 0;
  uint64_t stream_ns_ = 0;  // current time of the stream's clock
  uint64_t stream_begin_ns_ = 0;
  bool stream_waits_ = false;     // so far
  FunctionMap<uint8_t> defined_;  // in the stream
  PerfettoProcesses processes_;
};
static_assert(CallExport<PerfettoExport>);

}  // namespace telltale
