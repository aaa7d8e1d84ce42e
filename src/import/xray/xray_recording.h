#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/input_file.h"
#include "formats/xray/basic_runs.h"
#include "formats/xray/fdr_walk.h"
#include "formats/xray/records.h"
#include "import/id_map.h"
#include "import/xray/xray_events.h"
#include "import/xray/xray_record_selector.h"
#include "model/call_filter.h"
#include "model/clock.h"
#include "model/event_receiver.h"
#include "model/event_source.h"
#include "model/function_names.h"
#include "model/recorder_cost.h"
#include "model/recording_info.h"

namespace telltale {

// Whether two frequencies are probably measurements of the same counter: within one thousandth, as
// recorders measure it in a millisecond. Converting each file's ticks with its own
// frequency would move the files against each other, by a second after ten days of uptime.
bool is_same_counter(uint64_t one_hz, uint64_t other_hz);

// One or several XRay traces (FDR or basic, mixed if need be) as one recording: an EventSource.
// Orders the buffers of a thread by their first time stamp, regardless of their order in the files.
// Immutable after opening.
class XrayRecording {
 public:
  // Data that belongs to one file: the mapping of its ids, and its side record.
  struct FileContext {
    IdMap ids;
    std::vector<std::pair<std::string, std::string>> properties;
    bool has_side_record = false;
    uint32_t pid = 0;           // 0: unknown
    uint64_t begun = 0;         // when the process began to record; 0: unknown
    uint32_t number = 0;        // of the recordings that it stopped and began; 0: unknown
    uint64_t left_out = 0;      // events that the recorder's filters left out
    std::string chosen;         // as xray::SideRecord
    std::string process_name;   // as EventStream
    uint32_t fault_thread = 0;  // that ended the process; 0: unknown, or none
    std::string fault;          // as EventStream
    RecorderCost cost;          // as EventStream
    std::vector<std::pair<uint32_t, std::string>> thread_names;  // by thread id; the last counts
  };

  // `inputs` must have XRay file headers. `names` resolves the ids; `contexts` has one for each
  // file, or none. Errors: truncated or unknown header of any file.
  static Result<XrayRecording> open(std::vector<InputFile> inputs,
                                    std::shared_ptr<const FunctionNames> names,
                                    std::vector<FileContext> contexts = {});

  [[nodiscard]] const Clock& clock() const { return clock_; }
  [[nodiscard]] Ticks first_time() const { return first_time_; }
  [[nodiscard]] std::span<const EventStream> streams() const { return streams_; }
  [[nodiscard]] const FunctionNames& functions() const { return *names_; }
  // Size of a shard's records in the files in bytes: an estimate of its cost.
  [[nodiscard]] uint64_t shard_bytes(size_t stream, size_t shard) const;
  // Problems found while indexing the files; play() reports the others.
  [[nodiscard]] const ProblemLog& problems() const { return problems_; }
  // Adds problems of files that belong to the recording.
  void add_problems(const ProblemLog& problems) { problems_.merge(problems); }

  template <typename Sink>
  void play(size_t stream, size_t shard, Sink& sink, ProblemLog& problems) const;
  // Prefetches a shard that will be played soon.
  void read_ahead(size_t stream, size_t shard) const;

  // Reads every record once, on `workers` threads. Threads, records and span cover only records
  // that the filter selects.
  [[nodiscard]] RecordingInfo info(size_t workers, const CallFilter& filter = {}) const;

  // As Recording.
  [[nodiscard]] uint64_t left_out_events() const;
  [[nodiscard]] std::vector<std::string> function_choices() const;

  // The files, for work record by record.
  [[nodiscard]] size_t file_count() const { return files_.size(); }
  [[nodiscard]] const InputFile& input(size_t file) const { return files_[file].input; }

  // As Recording: a file is of one process.
  [[nodiscard]] uint32_t process_in(size_t file, int64_t /*pid*/) const {
    return files_[file].process;
  }
  // The recording's id of a function that has this id in a file.
  [[nodiscard]] FunctionId function_at(size_t file, uint64_t id) const {
    const FunctionId in_file{static_cast<uint32_t>(id)};
    const IdMap& ids = files_[file].context.ids;
    return ids.is_identity() ? in_file : ids(in_file);
  }

 private:
  void share_frequency();  // REQUIRES: a file
  void number_parts();
  void number_processes();
  void add_losses();
  void name_threads();

  struct File {
    InputFile input;
    xray::FileHeader header;
    FileContext context = {};
    // Threads of the same ids in files of different parts are different, or a call that was open in
    // one part does not last until the other: processes in different namespaces, programs that one
    // process executed, recordings that it stopped and began.
    uint32_t part = 0;
    uint32_t process = 0;  // as ThreadKey::process

    // Whether events need more than decoding: estimated times, mapped ids, or another byte order.
    [[nodiscard]] bool adapted() const {
      return header.recorder.sparse_interval != 0 || !context.ids.is_identity() ||
             header.order != std::endian::native;
    }
  };
  // Bytes of one file with consecutive events of one thread.
  struct Chunk {
    uint64_t begin = 0;
    uint64_t end = 0;
    uint64_t order_tsc =
        0;  // order among the thread's chunks; pieces of one buffer share it, in file order
    uint64_t start_tsc =
        0;  // time before the first record, for a piece that begins inside a buffer
    uint32_t file = 0;
    bool inside_buffer = false;
    bool timed = false;  // an FDR buffer whose order_tsc is from the file
    bool torn = false;
  };
  // Chunks of one thread, in true order; shard u is chunks[shard_starts[u]] up to
  // chunks[shard_starts[u + 1]].
  struct Stream {
    std::vector<Chunk> chunks;
    std::vector<size_t> shard_starts;
    uint32_t part = 0;
  };
  class Builder;

  // State carried between the chunks of a shard.
  struct Progress {
    uint64_t latest_tsc =
        0;           // latest emitted time on the file's clock: a lower bound for later events
    Ticks pace = 0;  // of a sparse clock
    uint64_t limit_tsc = 0;  // when the next chunk begins, on the file's clock
    bool follows_other_file = false;
    uint64_t estimated = 0;  // call records without their own time
  };
  // Of a file that is not adapted(), or of any.
  enum class Files : uint8_t { plain, any };
  template <Files kFiles, typename Sink, typename Scale>
  void play_chunk(const Chunk& chunk, Progress& progress, Sink& sink, Scale scale,
                  ProblemLog& problems) const;
  // The same for rarer cases that need not be as fast: adapted() files, and frequencies that differ
  // between files. One loop for all sinks.
  void play_adapted(const Chunk& chunk, Progress& progress, EventReceiver& sink,
                    ProblemLog& problems) const;
  // The first time on the clock of `file` that is not before `tsc` on that of `other`.
  [[nodiscard]] uint64_t on_clock_of(uint32_t file, uint32_t other, uint64_t tsc) const;
  // Start of the chunk after number i of a stream, if it is from the same file.
  static uint64_t limit_of(const Stream& stream, size_t i);
  template <typename Visitor>
  void walk(const Chunk& chunk, Visitor& visitor) const;
  // Selects records of one of the files. `filter` must outlive it.
  [[nodiscard]] XrayRecordSelector selector(RecordFilter& filter, size_t file) const;
  struct RecordCount;
  [[nodiscard]] RecordCount count_records(size_t workers, ProblemLog& problems) const;
  [[nodiscard]] RecordCount count_chosen(size_t workers, const CallFilter& filter) const;
  [[nodiscard]] bool has_extents(const Chunk& chunk) const;  // preceded by a BufferExtents record

  std::vector<File> files_;
  std::shared_ptr<const FunctionNames> names_;
  Clock clock_;
  bool same_frequency_ = true;  // of all files; otherwise times are in nanoseconds
  Ticks first_time_ = 0;
  std::vector<Stream> chunks_;        // parallel to streams_
  std::vector<EventStream> streams_;  // by thread
  ProblemLog problems_;
};

template <typename Sink>
void XrayRecording::play(size_t stream, size_t shard, Sink& sink, ProblemLog& problems) const {
  const Stream& chunks = chunks_[stream];
  Progress progress;
  for (size_t i = chunks.shard_starts[shard]; i < chunks.shard_starts[shard + 1]; ++i) {
    const Chunk& chunk = chunks.chunks[i];
    progress.follows_other_file =
        i != chunks.shard_starts[shard] && chunks.chunks[i - 1].file != chunk.file;
    if (progress.follows_other_file) {
      progress.pace = 0;
      progress.latest_tsc = on_clock_of(chunk.file, chunks.chunks[i - 1].file, progress.latest_tsc);
    }
    progress.limit_tsc = limit_of(chunks, i);
    if (same_frequency_ && !files_[chunk.file].adapted()) {
      play_chunk<Files::plain>(chunk, progress, sink, [](uint64_t tsc) { return tsc; }, problems);
    } else {
      ReceiverOf<Sink> receiver(sink);
      play_adapted(chunk, progress, receiver, problems);
    }
  }
  if constexpr (requires { sink.estimated_calls(uint64_t{}); })
    sink.estimated_calls(progress.estimated);
}

template <XrayRecording::Files kFiles, typename Sink, typename Scale>
void XrayRecording::play_chunk(const Chunk& chunk, Progress& progress, Sink& sink, Scale scale,
                               ProblemLog& problems) const {
  const File& file = files_[chunk.file];
  if (file.header.type == xray::LogType::basic) {
    BasicToEvents<Sink, Scale> visitor(sink, scale, progress.latest_tsc);
    xray::walk_basic_records(file.input.bytes(), chunk.begin, chunk.end, file.header, visitor);
    progress.latest_tsc = visitor.latest_tsc();
    return;
  }
  const FdrPlace place{.file = file.input.bytes(),
                       .header = file.header,
                       .file_name = file.input.name(),
                       .end = chunk.end,
                       .limit_tsc = progress.limit_tsc,
                       .follows_other_file = progress.follows_other_file};
  FdrToEvents<Sink, Scale> visitor(sink, scale, place, progress.latest_tsc, problems);
  if (chunk.inside_buffer) visitor.start_at(chunk.start_tsc);
  const auto walk = [&] {
    const Bytes bytes = file.input.bytes();
    if constexpr (kFiles == Files::plain)
      return xray::walk_native_fdr_records(bytes, chunk.begin, chunk.end, file.header, visitor);
    else
      return xray::walk_fdr_records(bytes, chunk.begin, chunk.end, file.header, visitor);
  };
  const xray::WalkEnd end = walk();
  if (end.offset != chunk.end) {
    xray::BufferFrame frame;
    frame.end = chunk.end;
    frame.torn = chunk.torn;
    std::optional<Problem> problem =
        xray::walk_problem(end, file.input.bytes(), file.header, frame, file.input.name());
    if (problem) {
      visitor.lose(problem->lost_bytes, problem->message);
      problems.add(*std::move(problem));
    }
  }
  progress.latest_tsc = visitor.latest_tsc();
}

}  // namespace telltale
