// `info` for XRay recordings.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string_view>
#include <utility>
#include <variant>

#include "base/parallel.h"
#include "import/xray/xray_recording.h"

namespace telltale {
namespace {

constexpr size_t kFdrKinds = std::variant_size_v<xray::FdrPayload>;
constexpr std::array<std::string_view, 4> kActionNames = {"FunctionEnter", "FunctionExit",
                                                          "FunctionTailExit", "FunctionEnterArgs"};

// Counts records by kind, without converting them to model events.
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
  [[nodiscard]] uint64_t custom_events() const {
    return metadata_records[xray::FdrPayload(xray::CustomEvent{}).index()] +
           metadata_records[xray::FdrPayload(xray::TypedEvent{}).index()];
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
  uint64_t estimated = 0;
  void estimated_calls(uint64_t count) { estimated += count; }
};

// Forwards selected records to a counter.
struct ChosenCounter {
  explicit ChosenCounter(XrayRecordSelector& with) : selector(with) {}
  XrayRecordSelector& selector;
  RecordCounter counter;
  Ticks first = std::numeric_limits<Ticks>::max();
  Ticks last = 0;

  void function(uint64_t offset, const xray::FunctionRecord& record) {
    if (!selector.function(record)) return;
    counter.function(offset, record);
    note_time();
  }
  void metadata(const xray::FdrRecord& record) {
    if (!selector.metadata(record)) return;
    counter.metadata(record);
    note_time();
  }
  void record(const xray::BasicRecord& record) {
    if (!selector.basic(record)) return;
    counter.record(record);
    note_time();
  }
  void note_time() {
    first = std::min(first, selector.now());
    last = std::max(last, selector.now());
  }
};

std::string sparse_words(uint32_t interval, uint64_t estimated) {
  return fmt::format("read on every {}th event and after gaps; {} records have estimated times",
                     interval, estimated);
}

}  // namespace

// Counts and span.
struct XrayRecording::RecordCount {
  RecordCounter counter;
  Ticks first = std::numeric_limits<Ticks>::max();
  Ticks last = 0;
  uint64_t estimated = 0;  // call records without their own time

  void merge(const RecordCount& other) {
    estimated += other.estimated;
    counter.merge(other.counter);
    first = std::min(first, other.first);
    last = std::max(last, other.last);
  }
  // Framed buffers are preceded by a BufferExtents record, which is in no chunk.
  void add_extents() {
    ++counter.metadata_records[xray::FdrPayload(xray::BufferExtents{}).index()];
  }
};

XrayRecordSelector XrayRecording::selector(RecordFilter& filter, size_t file) const {
  const File& of = files_[file];
  const IdMap* ids = of.context.ids.is_identity() ? nullptr : &of.context.ids;
  if (same_frequency_) return {filter, std::nullopt, ids};
  return {filter, Clock{.name = "TSC", .ticks_per_second = of.header.cycle_frequency}, ids};
}

bool XrayRecording::has_extents(const Chunk& chunk) const {
  const xray::FileHeader& header = files_[chunk.file].header;
  return header.type == xray::LogType::fdr && !chunk.inside_buffer &&
         xray::fdr_layout(header.version).has_extents;
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

// Reads every record, shard by shard; reports the problems of all.
XrayRecording::RecordCount XrayRecording::count_records(size_t workers,
                                                        ProblemLog& problems) const {
  std::vector<std::pair<size_t, size_t>> shards;
  for (size_t s = 0; s < streams_.size(); ++s) {
    for (size_t u = 0; u < streams_[s].shards; ++u) shards.emplace_back(s, u);
  }
  struct Partial {
    RecordCount count;
    LastTime span;
    ProblemLog problems;
  };
  std::vector<Partial> partials(worker_count(workers));
  parallel_for(shards.size(), partials.size(), [&](size_t item, size_t worker) {
    Partial& partial = partials[worker];
    const auto [s, u] = shards[item];
    play(s, u, partial.span, partial.problems);
    const Stream& stream = chunks_[s];
    for (size_t i = stream.shard_starts[u]; i < stream.shard_starts[u + 1]; ++i) {
      walk(stream.chunks[i], partial.count.counter);
      if (has_extents(stream.chunks[i])) partial.count.add_extents();
    }
  });
  RecordCount total;
  for (Partial& partial : partials) {
    partial.count.first = first_time_;
    partial.count.last = partial.span.last;
    partial.count.estimated = partial.span.estimated;
    total.merge(partial.count);
    problems.merge(partial.problems);
  }
  return total;
}

// Reads the selected records thread by thread, since the depth of a call depends on the calls
// before it.
XrayRecording::RecordCount XrayRecording::count_chosen(size_t workers,
                                                       const CallFilter& filter) const {
  std::vector<RecordCount> partials(worker_count(workers));
  parallel_for(streams_.size(), partials.size(), [&](size_t s, size_t worker) {
    RecordFilter records(filter, clock_, first_time_, *names_);
    const ThreadKey& thread = streams_[s].thread;
    if (!filter.keeps_thread(thread)) return;
    for (const Chunk& chunk : chunks_[s].chunks) {
      XrayRecordSelector chosen = selector(records, chunk.file);
      chosen.begin_buffer(thread.pid, thread.tid,
                          chunk.inside_buffer ? chunk.start_tsc : chunk.order_tsc);
      RecordCount& count = partials[worker];
      if (has_extents(chunk) && chosen.here()) count.add_extents();
      ChosenCounter counter(chosen);
      walk(chunk, counter);
      count.merge({counter.counter, counter.first, counter.last, 0});
    }
  });
  RecordCount total;
  for (const RecordCount& partial : partials) total.merge(partial);
  return total;
}

RecordingInfo XrayRecording::info(size_t workers, const CallFilter& filter) const {
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
  for (const File& file : files_) {
    for (const auto& [name, value] : file.context.properties) {
      info.properties.emplace_back(
          files_.size() == 1 ? name : fmt::format("{} {}", file.input.name(), name), value);
    }
  }
  info.clock = clock_;
  info.problems = problems_;
  for (const EventStream& stream : streams_) {
    // A thread of several recordings of a process has several streams, one after the other.
    if (filter.keeps_thread(stream.thread) &&
        (info.threads.empty() || info.threads.back() != stream.thread))
      info.threads.push_back(stream.thread);
  }
  // Reports all damage regardless of the filter: it may explain missing records.
  RecordCount count = count_records(workers, info.problems);
  for (const File& file : files_) {
    if (file.header.recorder.sparse_interval == 0) continue;
    info.properties.emplace_back(
        "sparse clock", sparse_words(file.header.recorder.sparse_interval, count.estimated));
    break;
  }
  const auto waits =
      std::ranges::count_if(files_, [](const File& file) { return file.header.recorder.waits; });
  if (waits != 0) {
    info.properties.emplace_back(
        "waiting",
        fmt::format("from the threads' processor clocks, in gaps of 0.1 ms or more{}",
                    static_cast<size_t>(waits) == files_.size() ? "" : "; some files do not say"));
  } else if (std::ranges::any_of(files_,
                                 [](const File& file) { return file.context.has_side_record; })) {
    info.properties.emplace_back("waiting", "not recorded: times of calls include it");
  }
  if (!filter.keeps_everything()) count = count_chosen(workers, filter);
  info.first_time = std::min(count.first, std::max(count.last, first_time_));
  info.last_time = std::max(count.last, info.first_time);
  info.custom_events = count.counter.custom_events();
  for (const auto& [kind, number] : count.counter.by_kind()) {
    if (number == 0) continue;
    info.records_by_kind.emplace_back(kind, number);
    info.records += number;
  }
  return info;
}

}  // namespace telltale
