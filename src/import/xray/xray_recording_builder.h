#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/counted.h"
#include "base/parallel.h"
#include "import/xray/buffer_cuts.h"
#include "import/xray/xray_recording.h"

namespace telltale {

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
    attribute_shared_buffers();
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
  // Large enough that the setup of a shard (names, stacks) is small compared with its records.
  static constexpr uint64_t kShardBytes = uint64_t{4} << 20;
  // Larger buffers are cut into pieces of shard size, so that the cost of a shard does not grow
  // with the recording. Smaller ones are not worth reading twice.
  static constexpr uint64_t kHugeBufferBytes = uint64_t{32} << 20;
  // Cuts lie a few records after the wanted positions; every piece is still one shard.
  static constexpr uint64_t kPieceBytes = kShardBytes + kShardBytes / 64;

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

  // In forked_buffers.cc.
  struct BufferCopy;
  struct OfProcess;
  using Processes = std::map<int64_t, OfProcess>;  // of one file, by pid
  void attribute_shared_buffers();
  [[nodiscard]] std::vector<Processes> processes() const;
  [[nodiscard]] bool notices_forks(const std::vector<BufferCopy>& copies) const;
  [[nodiscard]] uint64_t common_bytes(const BufferCopy& one, const BufferCopy& other) const;
  void sort_copies(std::vector<BufferCopy>& copies) const;
  void drop_shared_buffers(const std::vector<Processes>& files);
  [[nodiscard]] bool go_on_differently(std::span<const BufferCopy> copies) const;
  void report_guess(ThreadKey parent, const std::vector<BufferCopy>& copies,
                    std::set<std::pair<uint32_t, uint32_t>>& told);
  void add_child(ThreadKey parent, const std::vector<BufferCopy>& copies, size_t which);
  void report_missing_parents(const std::vector<Processes>& files);
  [[nodiscard]] const std::string& name_of(uint32_t file) const {
    return recording_.files_[file].input.name();
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

}  // namespace telltale
