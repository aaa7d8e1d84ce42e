#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/input_file.h"
#include "formats/stacktrack/format_description.h"
#include "formats/stacktrack/recognise.h"
#include "formats/stacktrack/records.h"
#include "import/stacktrack/stacktrack_checkpoints.h"
#include "model/clock.h"
#include "model/estimated.h"
#include "model/event_source.h"
#include "model/record_filter.h"
#include "model/recording_info.h"

namespace telltale {

// One or several StackTrack streams as one recording: an EventSource. Scopes are calls; steps and
// logged variables are instants ("step" with the step's name, "variable" with "name=value").
// Opening reads everything but the events. Memory grows with checkpoints and threads, and by 24 to
// 80 bytes for every 256 KiB of records or change of thread.
class StacktrackRecording {
 public:
  // `platform`: the layout of all inputs; none: recognised for each. Errors: an input that is not a
  // StackTrack stream, or of an unknown platform.
  static Result<StacktrackRecording> open(
      std::vector<InputFile> inputs,
      const std::optional<stacktrack::FormatDescription>& platform = {});

  [[nodiscard]] const Clock& clock() const { return clock_; }
  [[nodiscard]] Ticks first_time() const { return first_time_; }
  [[nodiscard]] std::span<const EventStream> streams() const { return streams_; }
  [[nodiscard]] const FunctionNames& functions() const { return *checkpoints_; }
  [[nodiscard]] uint64_t shard_bytes(size_t stream, size_t shard) const;
  [[nodiscard]] const ProblemLog& problems() const { return problems_; }
  void add_problems(const ProblemLog& problems) { problems_.merge(problems); }

  template <typename Sink>
  void play(size_t stream, size_t shard, Sink& sink, ProblemLog& problems) const;

  // Properties, size and problems cover the whole recording; the rest covers what the filter
  // selects.
  [[nodiscard]] RecordingInfo info(size_t workers, const CallFilter& filter = {}) const;

  [[nodiscard]] size_t file_count() const { return files_.size(); }
  [[nodiscard]] const InputFile& input(size_t file) const { return files_[file].input; }
  [[nodiscard]] const stacktrack::StreamFormat& format(size_t file) const {
    return files_[file].format;
  }
  // As Recording.
  [[nodiscard]] uint32_t process_in(size_t file, int64_t pid) const {
    const auto found = among_pid_.find({file, pid});
    return found == among_pid_.end() ? 0 : found->second;
  }
  // Selects each file's HITs, thread by thread in true order; returns ascending offsets.
  struct Chosen {
    std::vector<std::vector<uint64_t>> hits;  // by file
    Ticks first = 0;                          // of the selected ones; 0 if there are none
    Ticks last = 0;
  };
  [[nodiscard]] Chosen choose(RecordFilter& filter) const;

 private:
  // Part of a file with one thread's HITs, possibly interleaved with others'.
  struct Run {
    uint64_t begin = 0;  // offset of its first HIT
    uint64_t end = 0;    // after its last HIT
    uint64_t low_sequence = 0;
    uint64_t high_sequence = 0;
    uint64_t low_time = 0;       // of the HIT with the lowest sequence number: raw ticks ...
    bool low_time_held = false;  // ... that were not read for it
    bool in_order = true;        // sequence numbers never fall
    uint32_t file = 0;
    uint64_t repeated_to = 0;  // HITs with sequence numbers up to it are in an earlier file, too
  };
  struct Shard {
    size_t first_run = 0;
    size_t last_run = 0;  // one past
    bool in_order = true;
    std::optional<uint64_t> next_time;  // reading at the start of the next shard
  };
  struct Thread {
    std::vector<Run> runs;
    std::vector<Shard> shards;
    uint32_t process = 0;
    std::optional<stacktrack::RawTime> first_hit;
    std::optional<stacktrack::RawTime> last_hit;
    // The last HIT in file order with a reading of the clock.
    uint64_t last_reading = 0;  // raw ticks
    uint64_t last_sequence = 0;
  };
  struct File {
    InputFile input;
    stacktrack::StreamFormat format;
    bool sorted_by_sequence = false;
    // For HITs whose text does not directly follow them.
    std::unordered_map<uint64_t, std::string> texts;
    // By index of the record: exits that only their sequence number marks.
    std::vector<bool> exits;
  };
  // The clock of a process.
  struct ProcessTime {
    std::optional<stacktrack::RawTime> divisor;
    std::optional<stacktrack::RawTime> start_hires;
    int64_t start = 0;  // seconds since 1970
    uint64_t start_ns = 0;
    uint64_t time_type = 0;
    std::optional<stacktrack::RawTime> first_hit;
    std::optional<stacktrack::RawTime> last_hit;
    uint32_t file = 0;
  };
  // A HIT in its thread's true order.
  struct Place {
    uint64_t sequence = 0;
    uint64_t offset = 0;
    uint32_t file = 0;
  };
  class Indexer;

  [[nodiscard]] bool keeps(const stacktrack::Record& hit, const Place& place, Ticks time,
                           uint32_t process, RecordFilter::Thread& thread) const;
  [[nodiscard]] FunctionId checkpoint_of(const stacktrack::Record& hit, const Place& place,
                                         uint32_t process) const;
  [[nodiscard]] stacktrack::Record record_at(uint32_t file, uint64_t offset) const;
  [[nodiscard]] std::vector<Place> places_of(size_t stream, const Shard& shard) const;
  [[nodiscard]] std::vector<Ticks> times_of(const std::vector<Place>& places, const Shard& shard,
                                            uint32_t process) const;
  [[nodiscard]] bool is_exit(const stacktrack::Record& record, uint32_t file) const;
  // The text in the HIT's INFO records.
  [[nodiscard]] std::string text_of(const stacktrack::Record& hit, uint32_t file) const;
  [[nodiscard]] Ticks to_ticks(stacktrack::RawTime time, uint32_t file, uint32_t process) const;
  void choose_clock();
  void make_shards(Thread& thread) const;

  std::vector<File> files_;
  std::shared_ptr<StacktrackCheckpoints> checkpoints_;
  std::vector<ProcessTime> processes_;
  bool raw_ticks_ = false;   // all files count the same integer ticks; otherwise times are in ns
  int64_t first_start_ = 0;  // the earliest of all processes, seconds since 1970
  Clock clock_;
  Ticks first_time_ = 0;
  Ticks last_time_ = 0;
  std::vector<EventStream> streams_;
  std::vector<Thread> threads_;  // parallel to streams_
  ProblemLog problems_;
  std::map<std::string, uint64_t> kinds_;
  std::vector<std::pair<std::string, std::string>> programs_;  // by process, as words
  std::map<std::pair<size_t, int64_t>, uint32_t> among_pid_;   // ThreadKey::process by file, pid
  uint64_t cycles_ = 0;
  uint64_t file_properties_ = 0;
  uint64_t sparse_clock_ = 0;  // the largest clock_every
  uint64_t overwritten_ = 0;   // skipped records
};

template <typename Sink>
void StacktrackRecording::play(size_t stream, size_t shard_index, Sink& sink,
                               ProblemLog& problems) const {
  const Shard& shard = threads_[stream].shards[shard_index];
  const uint32_t process = threads_[stream].process;
  const std::vector<Place> places = places_of(stream, shard);
  const std::vector<Ticks> times = times_of(places, shard, process);
  Ticks latest = 0;
  bool estimated = false;
  for (size_t i = 0; i < places.size(); ++i) {
    const Place& place = places[i];
    const stacktrack::Record hit = record_at(place.file, place.offset);
    if (hit.held_time() != estimated) {
      estimated = !estimated;
      emit_estimated(sink, estimated);
    }
    if (times[i] < latest) {
      problems.add({Problem::Kind::oddity, place.offset, files_[place.file].input.name(), "HIT",
                    "the clock goes backwards; time is held until it has caught up", 0});
    }
    latest = std::max(latest, times[i]);
    const FunctionId id = checkpoint_of(hit, place, process);
    switch (checkpoints_->kind(id)) {
      case CheckpointKind::scope:
        if (is_exit(hit, place.file)) {
          sink.leave(latest, id, LeaveKind::normal);
        } else {
          sink.enter(latest, id);
        }
        break;
      case CheckpointKind::step: {
        const std::string& name = checkpoints_->describe(id).name;
        sink.instant({latest, "step", 0, std::as_bytes(std::span(name))});
        break;
      }
      case CheckpointKind::variable: {
        const std::string text = checkpoints_->describe(id).name + "=" + text_of(hit, place.file);
        sink.instant({latest, "variable", 0, std::as_bytes(std::span(text))});
        break;
      }
    }
  }
}

}  // namespace telltale
