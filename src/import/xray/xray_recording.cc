#include "import/xray/xray_recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <ranges>
#include <set>
#include <string_view>
#include <utility>

#include "base/counted.h"
#include "base/parallel.h"
#include "bytes/read_ahead.h"
#include "import/sparse_times.h"
#include "import/xray/buffer_cuts.h"
#include "model/waiting.h"

namespace telltale {
namespace {

// Large enough that the setup of a shard (names, stacks) is small compared with its records.
constexpr uint64_t kShardBytes = uint64_t{4} << 20;
// Larger buffers are cut into pieces of shard size, so that the cost of a shard does not grow with
// the recording. Smaller ones are not worth reading twice.
constexpr uint64_t kHugeBufferBytes = uint64_t{32} << 20;
// Cuts lie a few records after the wanted positions; every piece is still one shard.
constexpr uint64_t kPieceBytes = kShardBytes + kShardBytes / 64;

}  // namespace

// Collects the chunks of all files by thread.
class XrayRecording::Builder {
 public:
  explicit Builder(XrayRecording& recording) : recording_(recording) {}

  void add_file(uint32_t index) {
    const File& file = recording_.files_[index];
    recording_.problems_.merge(file.input.problems());
    if (file.header.type == xray::LogType::basic) {
      // A thread's records are in true order within a file, so all its runs sort by the first one.
      std::map<ThreadKey, uint64_t> first_tsc;
      uint64_t orphans = 0;
      uint64_t first_orphan = 0;
      for (const xray::BasicRun& run : xray::find_basic_runs(
               file.input.bytes(), file.header, file.input.name(), recording_.problems_)) {
        const ThreadKey thread{run.pid, run.tid};
        const uint64_t order_tsc = first_tsc.try_emplace(thread, run.first_tsc).first->second;
        note_start(index, run.first_tsc, run.first_tsc != 0);
        add(thread, {.begin = run.begin, .end = run.end, .order_tsc = order_tsc, .file = index});
        if (orphans == 0) first_orphan = run.first_orphan;
        orphans += run.orphan_arguments;
      }
      report_orphans(orphans, first_orphan, file);
      return;
    }
    const xray::FdrFrames frames =
        xray::frame_fdr_file(file.input.bytes(), file.header, file.input.name());
    recording_.problems_.merge(frames.problems);
    const bool says_process = xray::fdr_layout(file.header.version).has_pid;
    for (const xray::BufferFrame& frame : frames.buffers) {
      const ThreadKey thread{says_process ? frame.pid : file.context.pid, frame.tid};
      note_start(index, frame.first_tsc, frame.timed);
      Chunk chunk{.begin = frame.begin,
                  .end = frame.end,
                  .order_tsc = frame.first_tsc,
                  .file = index,
                  .timed = frame.timed,
                  .torn = frame.torn};
      if (frame.pid == 0 && !frame.timed && says_process) {
        cut_buffers_.emplace_back(frame.tid, chunk);
        continue;
      }
      if (frame.end - frame.begin > kHugeBufferBytes) {
        for (const BufferCut& cut : cut_buffer(file.input.bytes(), file.header, frame.begin,
                                               frame.end, kPieceBytes, worker_count(0))) {
          chunk.end = cut.offset;
          add(thread, chunk);
          chunk.begin = cut.offset;
          chunk.start_tsc = cut.tsc;
          chunk.inside_buffer = true;
        }
        chunk.end = frame.end;
      }
      add(thread, chunk);
    }
  }

  void finish() {
    place_cut_buffers();
    if (recording_.files_.size() > 1) drop_shared_buffers();
    std::erase_if(threads_, [](const auto& thread) { return thread.second.empty(); });
    for (auto& [key, chunks] : threads_) {
      // Stable: chunks that begin at the same time stay in file order.
      std::ranges::stable_sort(
          chunks, {}, [&](const Chunk& chunk) { return to_ticks(chunk.file, chunk.order_tsc); });
      drop_copies(chunks);
      Stream stream{std::move(chunks), {0}, key.second};
      uint64_t bytes = 0;
      for (size_t i = 0; i < stream.chunks.size(); ++i) {
        bytes += stream.chunks[i].end - stream.chunks[i].begin;
        if (bytes >= kShardBytes || i + 1 == stream.chunks.size()) {
          stream.shard_starts.push_back(i + 1);
          bytes = 0;
        }
      }
      recording_.streams_.push_back({key.first, {}, stream.shard_starts.size() - 1});
      recording_.chunks_.push_back(std::move(stream));
    }
    recording_.first_time_ = first_ == std::numeric_limits<Ticks>::max() ? 0 : first_;
  }

 private:
  // Clang's runtime leaves out entries of calls nested deeper than its limit, not their arguments.
  void report_orphans(uint64_t count, uint64_t first, const File& file) {
    if (count == 0) return;
    recording_.problems_.add(
        {Problem::Kind::oddity, first, file.input.name(), "BasicArgument",
         fmt::format("{} of calls whose entries are not in the file: its recorder leaves calls out "
                     "while more than max_stack_depth (64 by default) are open, which includes "
                     "those that an exception or longjmp has left",
                     counted(count, "argument")),
         0});
  }
  // Converts a file's time stamp to the recording's clock.
  [[nodiscard]] Ticks to_ticks(uint32_t file, uint64_t tsc) const {
    if (recording_.same_frequency_) return tsc;
    return Clock{"TSC", recording_.files_[file].header.cycle_frequency}.to_ns(tsc);
  }
  void note_start(uint32_t file, uint64_t tsc, bool timed) {
    if (timed) first_ = std::min(first_, to_ticks(file, tsc));
  }
  void add(ThreadKey thread, const Chunk& chunk) {
    const File& file = recording_.files_[chunk.file];
    thread.process = file.process;
    threads_[{thread, file.part}].push_back(chunk);
  }

  // Snapshots of a process, and the recording beside which they are taken, have buffers in common.
  // A call must not count twice: of each such buffer, the file counts in which it has most bytes.
  // A forked process has a copy of its parent's buffers, too, and goes on in that of its thread.
  void drop_shared_buffers() {
    using Buffer = std::pair<ThreadKey, uint64_t>;       // and the time of its first event
    std::map<Buffer, std::map<uint32_t, Region>> bytes;  // by file
    std::vector<std::set<int64_t>> pids(recording_.files_.size());
    for (const auto& [key, chunks] : threads_) {
      for (const Chunk& chunk : chunks) {
        pids[chunk.file].insert(key.first.pid);
        if (chunk.timed) bytes[{key.first, chunk.order_tsc}][chunk.file].add(chunk);
      }
    }
    struct Dropped {
      uint64_t buffers = 0;
      std::set<uint32_t> in;  // files that have them, too
    };
    std::map<uint32_t, Dropped> dropped;  // by file
    std::map<Buffer, uint32_t> counting;
    std::vector<ChildPart> parts;
    for (const auto& [buffer, by_file] : bytes) {
      if (by_file.size() < 2) continue;
      // Files with other processes are those of forked ones.
      std::vector<std::pair<uint32_t, Region>> files(by_file.begin(), by_file.end());
      std::ranges::stable_sort(files, {}, [&](const auto& file) {
        return std::pair(pids[file.first].size(), ~file.second.bytes);
      });
      // A parent usually waits for its children, so that its own copy of the buffer ends last.
      const auto goes_on_differently = [&](const auto& file) {
        return common_bytes(files.front(), file) < file.second.bytes;
      };
      if (std::ranges::any_of(files, goes_on_differently)) {
        std::ranges::stable_sort(files, {}, [&](const auto& file) {
          return std::pair(pids[file.first].size(), ~last_tsc(file));
        });
      }
      const uint32_t most = files.front().first;
      counting.emplace(buffer, most);
      for (size_t i = 1; i < files.size(); ++i) {
        const auto& [file, region] = files[i];
        ++dropped[file].buffers;
        dropped[file].in.insert(most);
        uint64_t same = 0;
        for (size_t k = 0; k < i && same < region.bytes; ++k)
          same = std::max(same, common_bytes(files[k], files[i]));
        if (same < region.bytes && region.is_whole())
          parts.push_back({buffer.first, file, most, region, same});
      }
    }
    for (auto& [key, chunks] : threads_) {
      std::erase_if(chunks, [&, thread = key.first](const Chunk& chunk) {
        const auto file = chunk.timed ? counting.find({thread, chunk.order_tsc}) : counting.end();
        return file != counting.end() && file->second != chunk.file;
      });
    }
    for (const ChildPart& part : parts) add_child(part, pids);
    for (const auto& [file, of_file] : dropped) {
      recording_.problems_.add(
          {Problem::Kind::by_design, 0, recording_.files_[file].input.name(), "Buffer",
           fmt::format("{} of it {} also in {}, and not counted again",
                       counted(of_file.buffers, "buffer"), of_file.buffers == 1 ? "is" : "are",
                       of_file.in.size() == 1 ? recording_.files_[*of_file.in.begin()].input.name()
                                              : "other files"),
           0});
    }
  }

  // Where a file has a buffer.
  struct Region {
    uint64_t begin = std::numeric_limits<uint64_t>::max();
    uint64_t end = 0;
    uint64_t bytes = 0;

    void add(const Chunk& chunk) {
      begin = std::min(begin, chunk.begin);
      end = std::max(end, chunk.end);
      bytes += chunk.end - chunk.begin;
    }
    [[nodiscard]] bool is_whole() const { return end - begin == bytes; }
  };
  [[nodiscard]] uint64_t common_bytes(const std::pair<uint32_t, Region>& one,
                                      const std::pair<uint32_t, Region>& other) const {
    if (!one.second.is_whole() || !other.second.is_whole())
      return std::min(one.second.bytes, other.second.bytes);
    const auto bytes = [&](const auto& of) {
      return recording_.files_[of.first].input.bytes().subspan(
          static_cast<size_t>(of.second.begin), static_cast<size_t>(of.second.bytes));
    };
    const Bytes all = bytes(one);
    const size_t least = std::min(one.second.bytes, other.second.bytes);
    // Faster than mismatch(), and snapshots of one process are equal as far as both go.
    if (std::memcmp(all.data(), bytes(other).data(), least) == 0) return least;
    return static_cast<uint64_t>(std::ranges::mismatch(all, bytes(other)).in1 - all.begin());
  }

  [[nodiscard]] uint64_t last_tsc(const std::pair<uint32_t, Region>& of) const {
    const File& file = recording_.files_[of.first];
    const std::optional<BufferCut> cut =
        last_cut(file.input.bytes(), file.header, of.second.begin, of.second.end);
    return cut ? cut->tsc : 0;
  }

  // The records of a forked process in the copy of its parent's buffer. The recorder gives them the
  // parent's ids, because a buffer has those of its beginning.
  struct ChildPart {
    ThreadKey parent;
    uint32_t file = 0;
    uint32_t parent_file = 0;
    Region region;
    uint64_t same = 0;  // bytes that are the parent's
  };
  void add_child(const ChildPart& part, const std::vector<std::set<int64_t>>& pids) {
    const File& file = recording_.files_[part.file];
    const std::optional<BufferCut> cut =
        last_cut(file.input.bytes(), file.header, part.region.begin, part.region.begin + part.same);
    // Its later buffers have its own id, which is also that of its thread.
    std::vector<int64_t> children;
    std::ranges::set_difference(pids[part.file], pids[part.parent_file],
                                std::back_inserter(children));
    const auto words = [&](std::string_view what_follows) {
      return fmt::format(
          "the buffer of thread {}:{} goes on differently than in {}: the process forked. {}",
          part.parent.pid, part.parent.tid, recording_.files_[part.parent_file].input.name(),
          what_follows);
    };
    const uint64_t at = cut ? cut->offset : part.region.begin;
    if (!cut || children.size() != 1) {
      recording_.problems_.add({Problem::Kind::loss, at, file.input.name(), "Buffer",
                                words("What follows is not counted: the file does not say which "
                                      "process it is of"),
                                part.region.end - at});
      return;
    }
    recording_.problems_.add(
        {Problem::Kind::oddity, at, file.input.name(), "Buffer",
         words(fmt::format("What follows is of its child, process {}", children.front())), 0});
    add({children.front(), children.front()}, {.begin = at,
                                               .end = part.region.end,
                                               .order_tsc = cut->tsc,
                                               .start_tsc = cut->tsc,
                                               .file = part.file,
                                               .inside_buffer = true,
                                               .timed = true});
  }

  // clang's runtime sometimes writes one buffer twice and loses another (docs/formats/xray.md,
  // "What the reader tolerates"). A call must not count twice. REQUIRES: in order of time.
  void drop_copies(std::vector<Chunk>& chunks) {
    const auto same_bytes = [&](const Chunk& one, const Chunk& other) {
      return one.timed && other.timed && one.order_tsc == other.order_tsc &&
             one.file == other.file && !one.inside_buffer && !other.inside_buffer &&
             std::ranges::equal(bytes_of(one), bytes_of(other));
    };
    const auto copy = [&](const Chunk& one, const Chunk& other) {
      if (!same_bytes(one, other)) return false;
      recording_.problems_.add({Problem::Kind::loss, other.begin,
                                recording_.files_[other.file].input.name(), "Buffer",
                                fmt::format("the same bytes as the buffer at {}, not counted "
                                            "again: the recorder has probably lost another buffer",
                                            one.begin),
                                other.end - other.begin});
      return true;
    };
    const auto copies = std::ranges::unique(chunks, copy);
    chunks.erase(copies.begin(), copies.end());
  }
  [[nodiscard]] Bytes bytes_of(const Chunk& chunk) const {
    return recording_.files_[chunk.file].input.bytes().subspan(
        static_cast<size_t>(chunk.begin), static_cast<size_t>(chunk.end - chunk.begin));
  }

  // A buffer truncated before its process record belongs to the thread of the same number, if there
  // is one.
  void place_cut_buffers() {
    for (const auto& [tid, chunk] : cut_buffers_) {
      const uint32_t part = recording_.files_[chunk.file].part;
      const auto named = std::ranges::find_if(threads_, [&, thread = tid](const auto& entry) {
        return entry.first.first.tid == thread && entry.first.second == part;
      });
      add(named == threads_.end() ? ThreadKey{0, tid} : named->first.first, chunk);
    }
  }

  XrayRecording& recording_;
  // By thread and part.
  std::map<std::pair<ThreadKey, uint32_t>, std::vector<Chunk>> threads_;
  std::vector<std::pair<int64_t, Chunk>> cut_buffers_;  // by tid
  Ticks first_ = std::numeric_limits<Ticks>::max();
};

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
