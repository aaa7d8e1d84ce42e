#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/input_file.h"
#include "formats/mono/frames.h"
#include "formats/mono/reader.h"
#include "import/mono/mono_events.h"
#include "import/mono/mono_methods.h"
#include "import/mono/mono_types.h"
#include "model/call_filter.h"
#include "model/clock.h"
#include "model/event_sizes.h"
#include "model/event_source.h"
#include "model/recording_info.h"
#include "model/runtime_events.h"

namespace telltale {

// Which thread names are read on opening. Most threads are named in their first buffer; finding
// later names requires reading all events but calls.
enum class MonoThreadNames : uint8_t { first, all };

// One or several Mono log-profiler recordings (.mlpd) as one: an EventSource that also emits the
// events of runtime_events.h. A stream is a thread, a shard a run of its buffers. Immutable after
// opening; results do not depend on the number of workers.
class MonoRecording {
 public:
  static constexpr bool kTellsRuntimeEvents = true;  // those of runtime_events.h

  // `inputs` must have .mlpd headers. Errors: truncated or unknown header of any file.
  static Result<MonoRecording> open(std::vector<InputFile> inputs,
                                    MonoThreadNames thread_names = MonoThreadNames::all);

  [[nodiscard]] const Clock& clock() const { return clock_; }
  [[nodiscard]] Ticks first_time() const { return first_time_; }
  [[nodiscard]] std::span<const EventStream> streams() const { return streams_; }
  [[nodiscard]] const FunctionNames& functions() const { return *names_; }
  // The meaning of TypeIds. The first call reads the whole recording; sinks that handle LoadEvent
  // do not need it.
  [[nodiscard]] const TypeNames& types() const;
  // Size of a shard's events in the files in bytes: an estimate of its cost.
  [[nodiscard]] uint64_t shard_bytes(size_t stream, size_t shard) const;
  // Problems found while indexing the files; play() reports the others.
  [[nodiscard]] const ProblemLog& problems() const { return problems_; }
  void add_problems(const ProblemLog& problems) { problems_.merge(problems); }

  // Header of each file, in the given order.
  [[nodiscard]] const mono::FileHeader& header(size_t file = 0) const {
    return files_[file]->header;
  }
  // Time base of the first buffer of the first file: the origin of mprof-report's times.
  [[nodiscard]] Ticks first_buffer_time() const;

  // The address that an id of a type or object denotes. With several files, ids have the file's
  // number in the bits above the address.
  [[nodiscard]] uint64_t address_of(uint64_t id) const { return address_in(id, address_bits()); }
  // The ids of an address: one per file.
  [[nodiscard]] std::vector<uint64_t> ids_of(uint64_t address) const {
    std::vector<uint64_t> ids;
    for (const auto& file : files_) ids.push_back(address ^ file->address_tag);
    return ids;
  }

  // The number of the file that an id is from: an EventStream::process.
  [[nodiscard]] size_t process_of(uint64_t id) const {
    return files_.size() < 2 ? 0 : static_cast<size_t>(id >> kAddressBits);
  }

  // Emits the events of all threads in file order. play() reports damage.
  template <typename Sink>
  void play_in_file_order(Sink& sink) const {
    for (const auto& file : files_) {
      for (const mono::BufferFrame& frame : file->frames.buffers) {
        MonoToEvents<Sink> visitor(sink, *file->methods, file->layout, file->header.address_mask(),
                                   file->address_tag, first_time_, first_time_);
        (void)file->decode(frame, visitor);
      }
    }
  }

  template <typename Sink>
  void play(size_t stream, size_t shard, Sink& sink, ProblemLog& problems) const;

  // Reads every event once, on `workers` threads. Threads, records and span cover only events that
  // the filter selects.
  [[nodiscard]] RecordingInfo info(size_t workers, const CallFilter& filter = {}) const;

  // The same for the bytes of each kind of event, over all threads and times. Adds damage to
  // `problems`.
  [[nodiscard]] EventSizes event_sizes(size_t workers, ProblemLog& problems) const;

  // The files, for work record by record.
  [[nodiscard]] size_t file_count() const { return files_.size(); }
  [[nodiscard]] const InputFile& input(size_t file) const { return files_[file]->input; }
  // The id of the method at an address in a file.
  // As Recording: a file is of one process.
  [[nodiscard]] uint32_t process_in(size_t file, int64_t /*pid*/) const {
    const auto of_file = std::ranges::find(streams_, file, &EventStream::process);
    return of_file == streams_.end() ? 0 : of_file->thread.process;
  }
  [[nodiscard]] FunctionId function_at(size_t file, uint64_t method) const {
    return files_[file]->methods->id(method);
  }

 private:
  static constexpr unsigned kAddressBits = 48;  // of a program's memory, beside other programs
  [[nodiscard]] unsigned address_bits() const { return files_.size() < 2 ? 64 : kAddressBits; }
  struct File {
    InputFile input;
    mono::FileHeader header;
    mono::Layout layout;
    mono::BufferFrames frames;
    uint64_t address_tag = 0;  // distinguishes addresses of several processes
    std::unique_ptr<MonoMethods> methods;

    template <typename Visitor>
    mono::DecodeEnd decode(const mono::BufferFrame& frame, Visitor& visitor) const {
      return mono::decode_buffer(frame.events(input.bytes()),
                                 frame.header.bases(header.address_mask()), frame.begin, layout,
                                 visitor);
    }
  };
  // A thread's buffers in order; shard u is buffers[shard_starts[u]] up to
  // buffers[shard_starts[u + 1]].
  struct Stream {
    struct Place {
      uint32_t file = 0;
      uint32_t buffer = 0;
    };
    std::vector<Place> buffers;
    std::vector<size_t> shard_starts;
  };
  // Whether the file has lost input between two buffers of a thread.
  [[nodiscard]] bool lost_between(Stream::Place before, Stream::Place after) const;
  static void add_went_back(const File& file, const mono::BufferFrame& frame, ProblemLog& problems);
  class Builder;
  friend class Builder;
  struct LazyTypes;

  // All methods of a file, in file order. Reads the file on all cores.
  static std::vector<MonoMethods::Found> find_all_methods(const File& file);
  void add_properties(RecordingInfo& info) const;
  struct EventCount;
  [[nodiscard]] EventCount count_events(size_t workers, ProblemLog& problems) const;
  [[nodiscard]] EventCount count_chosen(size_t workers, const CallFilter& filter) const;

  std::vector<std::unique_ptr<File>> files_;  // shards refer to them
  std::shared_ptr<MonoFunctionNames> names_;
  std::shared_ptr<LazyTypes> types_;
  Clock clock_{.name = "ns", .ticks_per_second = 1'000'000'000};
  Ticks first_time_ = 0;
  std::vector<Stream> buffers_;       // parallel to streams_
  std::vector<EventStream> streams_;  // by thread
  ProblemLog problems_;
};

template <typename Sink>
void MonoRecording::play(size_t stream, size_t shard, Sink& sink, ProblemLog& problems) const {
  const Stream& own = buffers_[stream];
  Ticks floor = first_time_;
  for (size_t i = own.shard_starts[shard]; i < own.shard_starts[shard + 1];) {
    const File& file = *files_[own.buffers[i].file];
    MonoToEvents<Sink> visitor(sink, *file.methods, file.layout, file.header.address_mask(),
                               file.address_tag, first_time_, floor);
    for (; i < own.shard_starts[shard + 1] && files_[own.buffers[i].file].get() == &file; ++i) {
      const mono::BufferFrame& frame = file.frames.buffers[own.buffers[i].buffer];
      // Positions of successive files; no file approaches 2^44 bytes.
      const uint64_t offset = (uint64_t{own.buffers[i].file} << 44) + frame.offset;
      emit(sink,
           PieceEvent{.time = frame.header.time_base,
                      .offset = offset,
                      .stream = stream,
                      .thread = streams_[stream].thread.tid,
                      .address_bits = address_bits(),
                      .process = own.buffers[i].file,
                      .after_loss = i != 0 && lost_between(own.buffers[i - 1], own.buffers[i])});
      const mono::DecodeEnd end = file.decode(frame, visitor);
      if (visitor.take_went_back()) add_went_back(file, frame, problems);
      if (!end.error) continue;
      Problem problem = mono::decode_problem(end, frame, file.input.name());
      visitor.lose(problem.lost_bytes, problem.message);
      problems.add(std::move(problem));
    }
    floor = visitor.floor();
  }
}

}  // namespace telltale
