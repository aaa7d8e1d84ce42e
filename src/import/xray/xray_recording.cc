#include "import/xray/xray_recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <ranges>
#include <set>
#include <string>
#include <utility>

#include "base/counted.h"
#include "base/parallel.h"
#include "bytes/read_ahead.h"
#include "import/sparse_times.h"
#include "import/xray/xray_recording_builder.h"
#include "model/waiting.h"

namespace telltale {

bool is_same_counter(uint64_t one_hz, uint64_t other_hz) {
  constexpr uint64_t kLeast = 1000;  // times the difference
  const auto [least, most] = std::minmax(one_hz, other_hz);
  return one_hz == other_hz || most - least <= least / kLeast;
}

// Files of one counter get the frequency of the largest file, which has probably measured longest.
void XrayRecording::share_frequency() {
  const auto hz = [](const File& file) { return file.header.cycle_frequency; };
  const auto [least, most] = std::ranges::minmax(files_ | std::views::transform(hz));
  same_frequency_ = is_same_counter(least, most);
  if (!same_frequency_ || least == most) return;
  const auto bytes = [](const File& file) { return file.input.bytes().size(); };
  const uint64_t common = hz(*std::ranges::max_element(files_, {}, bytes));
  for (File& file : files_) file.header.cycle_frequency = common;
}

void XrayRecording::add_losses() {
  for (const File& file : files_) {
    const uint32_t lost = file.header.recorder.lost_events;
    if (lost == 0 || file.context.has_side_record) continue;
    problems_.add({Problem::Kind::loss, xray::kRecorderMarkOffset, file.input.name(), "header",
                   "the recorder lost " + counted(lost, "event"), 0});
  }
}

uint64_t XrayRecording::left_out_events() const {
  uint64_t events = 0;
  for (const File& file : files_) events += file.context.left_out;
  return events;
}

std::vector<std::string> XrayRecording::function_choices() const {
  std::set<std::string> choices;
  for (const File& file : files_) choices.insert(file.context.chosen);
  return {choices.begin(), choices.end()};
}

Result<XrayRecording> XrayRecording::open(std::vector<InputFile> inputs,
                                          std::shared_ptr<const FunctionNames> names,
                                          std::vector<FileContext> contexts) {
  XrayRecording recording;
  bool waits = false;
  for (InputFile& input : inputs) {
    Result<xray::FileHeader> header = xray::read_file_header(input.bytes());
    if (!header) {
      header.error().file = input.name();
      return std::unexpected(header.error());
    }
    waits |= header->recorder.waits;
    recording.files_.push_back({std::move(input), *header});
  }
  for (size_t i = 0; i < contexts.size(); ++i) recording.files_[i].context = std::move(contexts[i]);
  recording.number_parts();
  recording.number_processes();
  recording.names_ = std::move(names);
  if (waits) recording.names_ = std::make_shared<NamesWithWaiting>(std::move(recording.names_));
  if (!recording.files_.empty()) recording.share_frequency();
  if (recording.same_frequency_) {
    recording.clock_ = {.name = "TSC",
                        .ticks_per_second = recording.files_.empty()
                                                ? 0
                                                : recording.files_[0].header.cycle_frequency};
  } else {
    recording.clock_ = {.name = "TSC, in nanoseconds", .ticks_per_second = 1'000'000'000};
  }
  Builder builder(recording);
  for (uint32_t i = 0; i < recording.files_.size(); ++i) builder.add_file(i);
  builder.finish();
  recording.add_losses();
  recording.name_threads();
  return recording;
}

// By the side records of the stream's part, or of its process if the part has none. Process 0:
// unknown.
void XrayRecording::name_threads() {
  std::set<uint32_t> known_parts;
  for (const File& file : files_)
    if (file.context.has_side_record) known_parts.insert(file.part);
  for (const File& file : files_) {
    const FileContext& context = file.context;
    if (!context.has_side_record) continue;
    std::map<ThreadKey, const std::string*> names;
    for (const auto& [tid, name] : context.thread_names) {
      names[{context.pid, tid, file.process}] = &name;
      if (files_.size() == 1) names[{0, tid}] = &name;
    }
    for (size_t i = 0; i < streams_.size(); ++i) {
      EventStream& stream = streams_[i];
      const uint32_t part = chunks_[i].part;
      if (part != file.part && known_parts.contains(part)) continue;
      const auto found = names.find(stream.thread);
      if (found != names.end()) stream.thread_name = *found->second;
      const bool of_file =
          stream.thread.pid == 0 ? files_.size() == 1 : stream.thread.pid == context.pid;
      if (!of_file) continue;
      stream.process_name = context.process_name;
      stream.cost = context.cost;
      if (context.fault_thread != 0 && stream.thread.tid == context.fault_thread)
        stream.fault = context.fault;
    }
  }
}

void XrayRecording::read_ahead(size_t stream, size_t shard) const {
  // Merges ranges across small gaps (buffers of other threads), to make fewer requests.
  constexpr uint64_t kWideGapBytes = uint64_t{128} << 10;
  const Stream& chunks = chunks_[stream];
  for (size_t i = chunks.shard_starts[shard]; i < chunks.shard_starts[shard + 1];) {
    const Chunk& first = chunks.chunks[i];
    uint64_t end = first.end;
    for (++i; i < chunks.shard_starts[shard + 1]; ++i) {
      const Chunk& next = chunks.chunks[i];
      if (next.file != first.file || next.begin < end || next.begin - end > kWideGapBytes) break;
      end = next.end;
    }
    telltale::read_ahead(files_[first.file].input.bytes().subspan(
        static_cast<size_t>(first.begin), static_cast<size_t>(end - first.begin)));
  }
}

uint64_t XrayRecording::shard_bytes(size_t stream, size_t shard) const {
  const Stream& chunks = chunks_[stream];
  uint64_t bytes = 0;
  for (size_t i = chunks.shard_starts[shard]; i < chunks.shard_starts[shard + 1]; ++i) {
    bytes += chunks.chunks[i].end - chunks.chunks[i].begin;
  }
  return bytes;
}

uint64_t XrayRecording::on_clock_of(uint32_t file, uint32_t other, uint64_t tsc) const {
  if (same_frequency_ || tsc == 0) return tsc;
  const auto clock = [&](uint32_t of) {
    return Clock{.name = "TSC", .ticks_per_second = files_[of].header.cycle_frequency};
  };
  const uint64_t ns = clock(other).to_ns(tsc);
  const uint64_t same = clock(file).from_ns(ns);
  return clock(file).to_ns(same) < ns ? same + 1 : same;
}

uint64_t XrayRecording::limit_of(const Stream& stream, size_t i) {
  if (i + 1 == stream.chunks.size() || stream.chunks[i + 1].file != stream.chunks[i].file)
    return std::numeric_limits<uint64_t>::max();
  const Chunk& next = stream.chunks[i + 1];
  return next.inside_buffer ? next.start_tsc : next.order_tsc;
}

void XrayRecording::play_adapted(const Chunk& chunk, Progress& progress, EventReceiver& sink,
                                 ProblemLog& problems) const {
  const File& file = files_[chunk.file];
  const Clock own{.name = "TSC", .ticks_per_second = file.header.cycle_frequency};
  const auto scale = [this, &own](uint64_t tsc) { return same_frequency_ ? tsc : own.to_ns(tsc); };
  MappedIds<EventReceiver> mapped(sink, file.context.ids);
  if (file.header.recorder.sparse_interval == 0) {
    play_chunk<Files::any>(chunk, progress, mapped, scale, problems);
    return;
  }
  SparseTimes times(mapped, file.header.recorder.sparse_interval, progress.pace);
  if (chunk.inside_buffer) times.start_inside(scale(chunk.start_tsc));
  play_chunk<Files::any>(chunk, progress, times, scale, problems);
  times.end_buffer(scale(progress.limit_tsc));
  progress.pace = times.pace();
  progress.estimated += times.estimated();
}

static_assert(EventSource<XrayRecording>);

}  // namespace telltale
