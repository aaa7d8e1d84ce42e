#include "import/xray_recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/parallel.h"

namespace telltale {
namespace {

// Large enough that what a unit costs to begin (names, stacks) is small beside its records.
constexpr uint64_t kUnitBytes = uint64_t{4} << 20;
// A buffer larger than this is cut into pieces of unit size, so that what a unit costs does not
// grow with the recording. Smaller ones are not worth reading twice.
constexpr uint64_t kHugeBufferBytes = uint64_t{32} << 20;

constexpr size_t kFdrKinds = std::variant_size_v<xray::FdrPayload>;
constexpr std::array<std::string_view, 4> kActionNames = {"FunctionEnter", "FunctionExit",
                                                          "FunctionTailExit", "FunctionEnterArgs"};

// Counts records by kind, without going through the model.
struct RecordCounter {
  std::array<uint64_t, 4> functions{};
  std::array<uint64_t, kFdrKinds> metadata_records{};
  uint64_t basic_arguments = 0;

  void function(uint64_t, const xray::FunctionRecord& record) {
    ++functions[static_cast<size_t>(record.action)];
  }
  void metadata(const xray::FdrRecord& record) { ++metadata_records[record.payload.index()]; }
  void record(const xray::BasicRecord& record) {
    if (record.type == xray::BasicRecordType::argument) {
      ++basic_arguments;
    } else {
      ++functions[static_cast<size_t>(record.kind)];
    }
  }
  void merge(const RecordCounter& other) {
    for (size_t i = 0; i < functions.size(); ++i) functions[i] += other.functions[i];
    for (size_t i = 0; i < metadata_records.size(); ++i)
      metadata_records[i] += other.metadata_records[i];
    basic_arguments += other.basic_arguments;
  }
  [[nodiscard]] std::map<std::string_view, uint64_t> by_kind() const {
    std::map<std::string_view, uint64_t> counts;
    for (size_t i = 0; i < functions.size(); ++i) counts[kActionNames[i]] = functions[i];
    counts["Argument"] = basic_arguments;
    const auto add = [&]<size_t... I>(std::index_sequence<I...>) {
      ((counts[xray::record_name(xray::FdrPayload(std::in_place_index<I>))] += metadata_records[I]),
       ...);
    };
    add(std::make_index_sequence<kFdrKinds>());
    return counts;
  }
};

// Finds the time of the last event.
struct LastTime : IgnoreEvents {
  Ticks last = 0;
  void enter(Ticks time, FunctionId) { last = std::max(last, time); }
  void leave(Ticks time, FunctionId, LeaveKind) { last = std::max(last, time); }
  void instant(const InstantEvent& event) { last = std::max(last, event.time); }
  void cpu(Ticks time, uint32_t) { last = std::max(last, time); }
};

}  // namespace

// Finds where a huge buffer can be cut: before function records, whose time is then known.
struct BufferCutter {
  struct Cut {
    uint64_t offset;
    uint64_t tsc;  // before the record at offset
  };
  std::vector<Cut> cuts;
  uint64_t piece_begin;
  uint64_t tsc = 0;
  bool timed = false;

  explicit BufferCutter(uint64_t begin) : piece_begin(begin) {}
  void function(uint64_t offset, const xray::FunctionRecord& record) {
    if (timed && offset - piece_begin >= kUnitBytes) {
      cuts.push_back({offset, tsc});
      piece_begin = offset;
    }
    tsc += record.tsc_delta;
  }
  void metadata(const xray::FdrRecord& record) {
    if (const auto* cpu = std::get_if<xray::NewCpuId>(&record.payload)) {
      tsc = cpu->tsc;
      timed = true;
    } else if (const auto* wrap = std::get_if<xray::TscWrap>(&record.payload)) {
      tsc = wrap->tsc;
      timed = true;
    } else if (const auto* custom = std::get_if<xray::CustomEvent>(&record.payload)) {
      tsc += static_cast<uint64_t>(
          int64_t{custom->tsc_delta});  // 0 where the event has a time of its own
    } else if (const auto* typed = std::get_if<xray::TypedEvent>(&record.payload)) {
      tsc += static_cast<uint64_t>(int64_t{typed->tsc_delta});
    }
  }
};

// Collects the chunks of all files by thread.
class XrayRecording::Builder {
 public:
  explicit Builder(XrayRecording& recording) : recording_(recording) {}

  void add_file(uint32_t index) {
    const File& file = recording_.files_[index];
    recording_.problems_.merge(file.input.problems());
    if (file.header.type == xray::LogType::basic) {
      // A thread's records are in true order within a file, so all its runs stand where the first
      // one does.
      std::map<ThreadKey, uint64_t> first_tsc;
      for (const xray::BasicRun& run : xray::find_basic_runs(
               file.input.bytes(), file.header, file.input.name(), recording_.problems_)) {
        const ThreadKey thread{run.pid, run.tid};
        const uint64_t order_tsc = first_tsc.try_emplace(thread, run.first_tsc).first->second;
        note_start(index, run.first_tsc, run.first_tsc != 0);
        add(thread, {.begin = run.begin, .end = run.end, .order_tsc = order_tsc, .file = index});
      }
      return;
    }
    const xray::FdrFrames frames =
        xray::frame_fdr_file(file.input.bytes(), file.header, file.input.name());
    recording_.problems_.merge(frames.problems);
    for (const xray::BufferFrame& frame : frames.buffers) {
      note_start(index, frame.first_tsc, frame.timed);
      Chunk chunk{.begin = frame.begin,
                  .end = frame.end,
                  .order_tsc = frame.first_tsc,
                  .file = index,
                  .torn = frame.torn};
      if (frame.pid == 0 && !frame.timed && xray::fdr_layout(file.header.version).has_pid) {
        cut_buffers_.emplace_back(frame.tid, chunk);
        continue;
      }
      if (frame.end - frame.begin > kHugeBufferBytes) {
        BufferCutter cutter(frame.begin);
        xray::walk_fdr_records(file.input.bytes(), frame.begin, frame.end, file.header, cutter);
        for (const BufferCutter::Cut& cut : cutter.cuts) {
          chunk.end = cut.offset;
          add({frame.pid, frame.tid}, chunk);
          chunk.begin = cut.offset;
          chunk.start_tsc = cut.tsc;
          chunk.inside_buffer = true;
        }
        chunk.end = frame.end;
      }
      add({frame.pid, frame.tid}, chunk);
    }
  }

  void finish() {
    place_cut_buffers();
    for (auto& [thread, chunks] : threads_) {
      // Stable: chunks that begin at the same time stay in file order.
      std::ranges::stable_sort(
          chunks, {}, [&](const Chunk& chunk) { return to_ticks(chunk.file, chunk.order_tsc); });
      Stream stream{std::move(chunks), {0}};
      uint64_t bytes = 0;
      for (size_t i = 0; i < stream.chunks.size(); ++i) {
        bytes += stream.chunks[i].end - stream.chunks[i].begin;
        if (bytes >= kUnitBytes || i + 1 == stream.chunks.size()) {
          stream.unit_starts.push_back(i + 1);
          bytes = 0;
        }
      }
      recording_.streams_.push_back({thread, {}, stream.unit_starts.size() - 1});
      recording_.chunks_.push_back(std::move(stream));
    }
    recording_.first_time_ = first_ == std::numeric_limits<Ticks>::max() ? 0 : first_;
  }

 private:
  // A time stamp of a file on the recording's clock.
  [[nodiscard]] Ticks to_ticks(uint32_t file, uint64_t tsc) const {
    if (recording_.same_frequency_) return tsc;
    return Clock{"TSC", recording_.files_[file].header.cycle_frequency}.to_ns(tsc);
  }
  void note_start(uint32_t file, uint64_t tsc, bool timed) {
    if (timed) first_ = std::min(first_, to_ticks(file, tsc));
  }
  void add(ThreadKey thread, const Chunk& chunk) { threads_[thread].push_back(chunk); }

  // A buffer that was cut off before it named its process belongs to the thread of that number, if
  // there is one.
  void place_cut_buffers() {
    for (const auto& [tid, chunk] : cut_buffers_) {
      const auto named =
          std::ranges::find_if(threads_, [&](const auto& entry) { return entry.first.tid == tid; });
      add(named == threads_.end() ? ThreadKey{0, tid} : named->first, chunk);
    }
  }

  XrayRecording& recording_;
  std::map<ThreadKey, std::vector<Chunk>> threads_;
  std::vector<std::pair<int64_t, Chunk>> cut_buffers_;  // by tid
  Ticks first_ = std::numeric_limits<Ticks>::max();
};

Result<XrayRecording> XrayRecording::open(std::vector<InputFile> inputs,
                                          std::shared_ptr<const FunctionNames> names) {
  XrayRecording recording;
  recording.names_ = std::move(names);
  std::set<uint64_t> frequencies;
  for (InputFile& input : inputs) {
    Result<xray::FileHeader> header = xray::read_file_header(input.bytes());
    if (!header) {
      header.error().file = input.name();
      return std::unexpected(header.error());
    }
    frequencies.insert(header->cycle_frequency);
    recording.files_.push_back({std::move(input), *header});
  }
  recording.same_frequency_ = frequencies.size() <= 1;
  if (recording.same_frequency_) {
    recording.clock_ = {.name = "TSC",
                        .ticks_per_second = frequencies.empty() ? 0 : *frequencies.begin()};
  } else {
    recording.clock_ = {.name = "TSC, in nanoseconds", .ticks_per_second = 1'000'000'000};
  }
  Builder builder(recording);
  for (uint32_t i = 0; i < recording.files_.size(); ++i) builder.add_file(i);
  builder.finish();
  return recording;
}

uint64_t XrayRecording::unit_bytes(size_t stream, size_t unit) const {
  const Stream& chunks = chunks_[stream];
  uint64_t bytes = 0;
  for (size_t i = chunks.unit_starts[unit]; i < chunks.unit_starts[unit + 1]; ++i) {
    bytes += chunks.chunks[i].end - chunks.chunks[i].begin;
  }
  return bytes;
}

template <typename Visitor>
void XrayRecording::walk(const Chunk& chunk, Visitor& visitor) const {
  const File& file = files_[chunk.file];
  if (file.header.type == xray::LogType::basic) {
    xray::walk_basic_records(file.input.bytes(), chunk.begin, chunk.end, file.header, visitor);
  } else {
    xray::walk_fdr_records(file.input.bytes(), chunk.begin, chunk.end, file.header, visitor);
  }
}

RecordingInfo XrayRecording::info(size_t workers) const {
  RecordingInfo info;
  const xray::FileHeader& header = files_.front().header;
  const bool fdr = header.type == xray::LogType::fdr;
  info.format = fdr ? "xray-fdr" : "xray-basic";
  info.version = std::to_string(header.version);
  for (const File& file : files_) {
    info.files.push_back(file.input.name());
    info.bytes += file.input.bytes().size();
  }
  info.properties = {
      {"byte order", header.order == std::endian::little ? "little-endian" : "big-endian"},
      {"cycle frequency", clock_.known() ? fmt::format("{} Hz", header.cycle_frequency)
                                         : "unknown; ticks are shown as nanoseconds"},
      {"constant TSC", header.constant_tsc ? "yes" : "no"},
      {"nonstop TSC", header.nonstop_tsc ? "yes" : "no"}};
  if (fdr) info.properties.emplace_back("buffer size", fmt::format("{} bytes", header.buffer_size));
  if (!files_.front().input.compression().empty()) {
    info.properties.emplace_back("compression", files_.front().input.compression());
  }
  info.clock = clock_;
  info.first_time = info.last_time = first_time_;
  info.problems = problems_;
  for (const EventStream& stream : streams_) info.threads.push_back(stream.thread);

  std::vector<std::pair<size_t, size_t>> units;
  for (size_t s = 0; s < streams_.size(); ++s) {
    for (size_t u = 0; u < streams_[s].units; ++u) units.emplace_back(s, u);
  }
  struct Partial {
    RecordCounter counter;
    LastTime span;
    ProblemLog problems;
  };
  std::vector<Partial> partials(worker_count(workers));
  parallel_for(units.size(), partials.size(), [&](size_t item, size_t worker) {
    Partial& partial = partials[worker];
    const auto [s, u] = units[item];
    play(s, u, partial.span, partial.problems);
    const Stream& stream = chunks_[s];
    for (size_t i = stream.unit_starts[u]; i < stream.unit_starts[u + 1]; ++i)
      walk(stream.chunks[i], partial.counter);
  });
  RecordCounter total;
  for (const Partial& partial : partials) {
    total.merge(partial.counter);
    info.last_time = std::max(info.last_time, partial.span.last);
    info.problems.merge(partial.problems);
  }

  // Each framed buffer has one BufferExtents record in front of it.
  for (const Stream& stream : chunks_) {
    for (const Chunk& chunk : stream.chunks) {
      const xray::FileHeader& own = files_[chunk.file].header;
      if (own.type == xray::LogType::fdr && !chunk.inside_buffer &&
          xray::fdr_layout(own.version).has_extents) {
        ++total.metadata_records[xray::FdrPayload(xray::BufferExtents{}).index()];
      }
    }
  }
  for (const auto& [kind, count] : total.by_kind()) {
    if (count == 0) continue;
    info.records_by_kind.emplace_back(kind, count);
    info.records += count;
  }
  return info;
}

static_assert(EventSource<XrayRecording>);

}  // namespace telltale
