#include "output/timeline/perfetto_export.h"

#include <libdeflate.h>

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "output/escape.h"
#include "output/timeline/event_title.h"
#include "output/timeline/perfetto_fields.h"
#include "output/timeline/shown_thread.h"

namespace telltale {

using namespace perfetto;

namespace {

constexpr size_t kPieceBytes = size_t{256} << 10;  // of packets that are compressed together
constexpr size_t kWideLength = 4;                  // bytes of a length that is filled in later
constexpr size_t kMaxWideLength = (size_t{1} << (7 * kWideLength)) - 1;
constexpr int kCompressionLevel = 1;

char tag(uint32_t field, uint32_t wire_type) { return static_cast<char>((field << 3) | wire_type); }

// A varint of always kWideLength bytes, as the wire format allows.
void put_wide_length(char* place, size_t length) {
  for (size_t i = 0; i < kWideLength; ++i) {
    place[i] = static_cast<char>((length & 0x7F) | (i + 1 < kWideLength ? 0x80 : 0));
    length >>= 7;
  }
}

size_t varint_bytes(const char* place) {
  size_t n = 1;
  while ((*place++ & 0x80) != 0) ++n;
  return n;
}

ProtoMessage text_annotation(std::string_view name, std::string_view value) {
  return ProtoMessage().text(annotation::kName, name).text(annotation::kString, value);
}

ProtoMessage instant_event(std::string_view category, std::string_view name) {
  ProtoMessage message;
  message.varint(event::kType, event::kInstant)
      .text(event::kCategories, category)
      .text(event::kName, name);
  return message;
}

// The thread as the kernel's scheduler would name it.
struct Task {
  std::string name;
  int64_t tid;
};

Task task_of(const EventStream& stream, size_t index) {
  const int64_t tid = shown_tid(stream, index);
  return {stream.thread_name.empty() ? "thread " + std::to_string(stream.thread.tid)
                                     : stream.thread_name,
          tid};
}

// That a task begins to run, or, with a state of ftrace, ceases to.
ProtoMessage switch_event(uint64_t ns, const Task& task, int64_t state) {
  const Task idle = {"swapper", 0};
  const Task& from = state == 0 ? idle : task;
  const Task& to = state == 0 ? task : idle;
  ProtoMessage message;
  message.text(ftrace::kPrevComm, from.name)
      .int64(ftrace::kPrevPid, from.tid)
      .int64(ftrace::kPrevState, state)
      .text(ftrace::kNextComm, to.name)
      .int64(ftrace::kNextPid, to.tid);
  return ProtoMessage()
      .varint(ftrace::kTimestamp, ns)
      .int64(ftrace::kPid, from.tid)
      .message(ftrace::kSchedSwitch, message);
}

}  // namespace

PerfettoSink::PerfettoSink(const ExportContext& context, const NsConverter& to_ns,
                           const ShardContext& shard, AppendBuffer buffer, Begins& begins,
                           const PerfettoOptions& options)
    : context_(&context),
      to_ns_(to_ns),
      first_time_(context.first_time),
      sequence_(static_cast<uint32_t>(shard.stream) + 1),
      piece_bytes_(options.compress ? kPieceBytes : std::numeric_limits<size_t>::max()),
      buffer_(std::move(buffer)),
      begins_(&begins),
      shard_number_((uint64_t{sequence_} << 32) | shard.shard),
      waits_are_states_(shard.stream < ftrace::kMostCpus) {
  if (options.compress) {
    compressor_ = {libdeflate_alloc_compressor(kCompressionLevel), libdeflate_free_compressor};
    if (!compressor_) throw std::bad_alloc();
  }
  char* end = sequence_bytes_.data();
  *end++ = tag(packet::kSequenceId, 0);
  end = write_varint(end, sequence_);
  sequence_size_ = static_cast<size_t>(end - sequence_bytes_.data());
}

void PerfettoSink::use(FunctionId function, Begin& begin) {
  begin.used_in = shard_number_;
  used_.push_back(function);
  if (begin.size != 0) return;
  const uint64_t iid = uint64_t{to_number(function)} + 1;
  char* end = begin.bytes.data();
  *end++ = tag(packet::kSequenceFlags, 0);
  *end++ = packet::kNeedsState;
  *end++ = tag(packet::kTrackEvent, 2);
  char* length = end++;
  *end++ = tag(event::kType, 0);
  *end++ = event::kSliceBegin;
  *end++ = tag(event::kNameIid, 0);
  end = write_varint(end, iid);
  if (!context_->functions.describe(function).file.empty()) {
    end = write_varint(end, event::kSourceLocationIid << 3);
    end = write_varint(end, iid);
  }
  *length = static_cast<char>(end - length - 1);
  begin.size = static_cast<size_t>(end - begin.bytes.data());
}

void PerfettoSink::argument(uint64_t value) {
  const std::string name = "arg" + std::to_string(arguments_at_ == 0 ? 0 : argument_count_);
  annotate(ProtoMessage().text(annotation::kName, name).varint(annotation::kUint, value));
  ++argument_count_;
}

void PerfettoSink::annotate_estimate() { annotate(text_annotation("begin", "estimated")); }

void PerfettoSink::annotate(const ProtoMessage& annotation) {
  const std::string field = ProtoMessage().message(event::kDebugAnnotations, annotation).encoded();
  if (arguments_at_ == 0) {
    // Widens both lengths of the BEGIN for any content.
    argument_count_ = 0;
    buffer_.reserve(2 * kWideLength);
    char* begin = buffer_.data() + begin_at_;
    char* fields = begin + 2;
    char* event_field = fields + 1 + varint_bytes(fields + 1);
    event_field += 1 + varint_bytes(event_field + 1) + 2;
    char* event_body = event_field + 2;
    char* end = buffer_.data() + buffer_.size();
    constexpr size_t kShift = kWideLength - 1;
    std::memmove(event_body + 2 * kShift, event_body, static_cast<size_t>(end - event_body));
    std::memmove(fields + kShift, fields, static_cast<size_t>(event_field + 1 - fields));
    arguments_at_ = static_cast<size_t>(event_field + 1 + kShift - buffer_.data());
    buffer_.commit(end + 2 * kShift);
  }
  if (buffer_.size() + field.size() - begin_at_ > kMaxWideLength) return;
  buffer_.append(field);
  put_wide_length(buffer_.data() + begin_at_ + 1, buffer_.size() - begin_at_ - 1 - kWideLength);
  put_wide_length(buffer_.data() + arguments_at_, buffer_.size() - arguments_at_ - kWideLength);
}

void PerfettoSink::put_event(Ticks time, const ProtoMessage& message) {
  if (buffer_.size() >= piece_bytes_) compress_piece();
  ProtoMessage whole;
  whole.varint(packet::kTimestamp, step_clock(time)).varint(packet::kSequenceId, sequence_);
  whole.varint(packet::kSequenceFlags, packet::kNeedsState).message(packet::kTrackEvent, message);
  buffer_.append(ProtoMessage().message(trace::kPacket, whole).encoded());
}

void PerfettoSink::annotated_close(Ticks time, CloseKind how) {
  ProtoMessage message;
  message.varint(event::kType, event::kSliceEnd);
  if (how == CloseKind::unwound || how == CloseKind::unfinished)
    message.message(event::kDebugAnnotations, text_annotation("ended", close_name(how)));
  if (estimated_) message.message(event::kDebugAnnotations, text_annotation("end", "estimated"));
  put_event(time, message);
}

void PerfettoSink::orphan_exit(Ticks time, FunctionId function) {
  const std::string name = "exit without entry: " + context_->functions.describe(function).name;
  put_event(time, instant_event("telltale.orphan_exit", name));
}

void PerfettoSink::instant(const InstantEvent& instant) {
  const std::string_view payload(reinterpret_cast<const char*>(instant.payload.data()),
                                 instant.payload.size());
  std::string category = "telltale.";
  category += instant.category;
  ProtoMessage message = instant_event(category, event_title(instant));
  if (is_printable_utf8(payload)) {
    message.message(event::kDebugAnnotations, text_annotation("payload", payload));
  } else {
    std::string hex;
    append_hex(hex, payload);
    message.message(event::kDebugAnnotations, text_annotation("payload_hex", hex));
  }
  if (estimated_) message.message(event::kDebugAnnotations, text_annotation("begin", "estimated"));
  put_event(instant.time, message);
}

void PerfettoSink::loss(const LossEvent& loss) {
  ProtoMessage message = instant_event("telltale.loss", "loss");
  message.message(event::kDebugAnnotations, text_annotation("reason", loss.reason));
  message.message(
      event::kDebugAnnotations,
      ProtoMessage().text(annotation::kName, "bytes").varint(annotation::kUint, loss.bytes));
  put_event(loss.time, message);
}

void PerfettoSink::compress_piece() {
  const std::string_view piece = buffer_.view();
  if (piece.empty()) return;
  const size_t bound = libdeflate_zlib_compress_bound(compressor_.get(), piece.size());
  std::string compressed(bound, '\0');
  compressed.resize(libdeflate_zlib_compress(compressor_.get(), piece.data(), piece.size(),
                                             compressed.data(), bound));
  compressed_.append(
      ProtoMessage()
          .message(trace::kPacket, ProtoMessage().bytes(packet::kCompressedPackets, compressed))
          .encoded());
  buffer_.truncate(0);
}

void PerfettoSink::finish_pieces() {
  if (!compressor_) return;
  compress_piece();
  std::swap(buffer_, compressed_);
}

void PerfettoExport::begin_stream(size_t stream, std::string& out) {
  const EventStream& from = context_.streams[stream];
  const int64_t pid = shown_pid(distinct_pid(from.thread));
  const auto put = [&out](const ProtoMessage& whole) {
    out += ProtoMessage().message(trace::kPacket, whole).encoded();
  };
  const uint64_t sequence = stream + 1;
  const auto descriptor = [&](const ProtoMessage& track) {
    put(ProtoMessage()
            .varint(packet::kTimestamp, 0)
            .varint(packet::kSequenceId, sequence)
            .message(packet::kTrackDescriptor, track));
  };
  ProtoMessage track_defaults;
  track_defaults.varint(defaults::kClockId, clocks::kStepping)
      .message(defaults::kTrackEvent,
               ProtoMessage().varint(defaults::kTrackUuid, thread_uuid(stream)));
  if (processes_.try_emplace(pid, process_uuid(stream)).second) {
    ProtoMessage process;
    process.int64(track::kPid, pid);
    if (const std::string name = shown_process_name(from); !name.empty())
      process.text(track::kProcessName, name);
    descriptor(ProtoMessage()
                   .varint(track::kUuid, process_uuid(stream))
                   .message(track::kProcess, process));
  }
  ProtoMessage thread;
  thread.int64(track::kPid, pid).int64(track::kTid, shown_tid(from, stream));
  const std::string name = shown_thread_name(from, stream);
  if (!name.empty()) thread.text(track::kThreadName, name);
  descriptor(
      ProtoMessage().varint(track::kUuid, thread_uuid(stream)).message(track::kThread, thread));

  // From here on, time stamps are deltas to the previous packet. All threads start their clock at
  // the same point, so that the builtin clock never goes backwards between snapshots.
  put(ProtoMessage()
          .varint(packet::kSequenceId, sequence)
          .varint(packet::kSequenceFlags, packet::kStateCleared)
          .varint(packet::kFirstOnSequence, 1)
          .message(packet::kDefaults, track_defaults));
  ProtoMessage snapshot;
  snapshot
      .message(clocks::kClock, ProtoMessage()
                                   .varint(clocks::kId, clocks::kStepping)
                                   .varint(clocks::kTimestamp, 0)
                                   .varint(clocks::kIsIncremental, 1))
      .message(clocks::kClock,
               ProtoMessage().varint(clocks::kId, clocks::kBoottime).varint(clocks::kTimestamp, 0))
      .varint(clocks::kPrimary, clocks::kBoottime);
  put(ProtoMessage()
          .varint(packet::kSequenceId, sequence)
          .message(packet::kClockSnapshot, snapshot));
}

// The packet before those of a shard: advances the clock to the shard's first event and defines new
// names.
void PerfettoExport::define(Sink& sink, std::string& out) {
  ProtoMessage data;
  std::ranges::sort(sink.used_);
  for (const FunctionId function : sink.used_) {
    if (std::exchange(defined_[function], uint8_t{1}) != 0) continue;
    const FunctionInfo& info = context_.functions.describe(function);
    const uint64_t iid = uint64_t{to_number(function)} + 1;
    data.message(interned::kEventNames,
                 ProtoMessage().varint(interned::kIid, iid).text(interned::kName, info.name));
    if (info.file.empty()) continue;
    ProtoMessage location;
    location.varint(interned::kIid, iid)
        .text(interned::kFile, info.file)
        .text(interned::kFunction, info.name);
    if (info.line != 0) location.varint(interned::kLine, info.line);
    data.message(interned::kSourceLocations, location);
  }
  ProtoMessage whole;
  whole.varint(packet::kTimestamp, sink.first_ns_ - stream_ns_)
      .varint(packet::kSequenceId, sink.sequence_);
  whole.varint(packet::kSequenceFlags, packet::kNeedsState);
  if (!data.empty()) whole.message(packet::kInternedData, data);
  out += ProtoMessage().message(trace::kPacket, whole).encoded();
  stream_ns_ = sink.last_ns_;
}

// Each thread gets its own virtual processor: a recording has only the longer waits, so that on
// the real processors two threads would seem to run at the same time.
void PerfettoExport::put_waits(const Sink& sink, std::string& out) {
  if (sink.waits_.empty()) return;
  const Task task = task_of(context_.streams[stream_], stream_);
  ProtoMessage bundle;
  bundle.varint(ftrace::kCpu, stream_);
  if (!std::exchange(stream_waits_, true))
    bundle.message(ftrace::kEvent,
                   switch_event(std::min(stream_begin_ns_, sink.waits_.front().first), task, 0));
  for (const auto& [begin, end] : sink.waits_) {
    bundle.message(ftrace::kEvent, switch_event(begin, task, ftrace::kSleeping));
    bundle.message(ftrace::kEvent, switch_event(end, task, 0));
  }
  out += ProtoMessage()
             .message(trace::kPacket, ProtoMessage().message(packet::kFtraceEvents, bundle))
             .encoded();
}

// After its last event a thread has no state.
Result<void> PerfettoExport::end_stream() {
  if (!stream_waits_) return {};
  stream_waits_ = false;
  ProtoMessage bundle;
  bundle.varint(ftrace::kCpu, stream_)
      .message(ftrace::kEvent, switch_event(stream_ns_, task_of(context_.streams[stream_], stream_),
                                            ftrace::kDead));
  return out_.write(
      ProtoMessage()
          .message(trace::kPacket, ProtoMessage().message(packet::kFtraceEvents, bundle))
          .encoded());
}

Result<void> PerfettoExport::finish(const ShardContext& shard, Sink& sink) {
  std::string front;
  if (!any_stream_ || shard.stream != stream_) {
    if (const Result<void> ended = end_stream(); !ended) return ended;
    any_stream_ = true;
    stream_ = shard.stream;
    stream_ns_ = 0;
    stream_begin_ns_ = std::numeric_limits<uint64_t>::max();
    defined_.clear();
    begin_stream(shard.stream, front);
  }
  if (sink.begun_) {
    stream_begin_ns_ = std::min(stream_begin_ns_, sink.first_ns_);
    define(sink, front);
  }
  put_waits(sink, front);
  sink.finish_pieces();
  if (const Result<void> written = out_.write(front); !written) return written;
  const Result<void> written = out_.write(sink.buffer_.view());
  pool_.give(std::move(sink.buffer_));
  return written;
}

}  // namespace telltale
