#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "import/calls/call_answers.h"
#include "import/recording.h"
#include "import/timed_calls.h"
#include "model/event_source.h"
#include "model/record_filter.h"
#include "model/recording_info.h"
#include "model/runtime_events.h"

namespace telltale {

// What an importer's recording provides in addition to EventSource, so that a format can open it.
template <typename S>
concept RecordedEvents =
    EventSource<S> && requires(const S& source, size_t number, const CallFilter& filter) {
      { source.problems() } -> std::same_as<const ProblemLog&>;  // found when it was opened
      { source.info(/*workers=*/number, filter) } -> std::same_as<RecordingInfo>;
      { source.file_count() } -> std::same_as<size_t>;
      { source.input(/*file=*/number) } -> std::same_as<const InputFile&>;
    };

// The answers for one kind of recording, at one virtual call an event.
template <EventSource Source>
class TimedCallsOf : public CallAnswers {
 public:
  // `source` must outlive it.
  explicit TimedCallsOf(const Source& source) : source_(source) {}

  [[nodiscard]] const Clock& clock() const override { return source_.clock(); }
  [[nodiscard]] Ticks first_time() const override { return source_.first_time(); }
  [[nodiscard]] std::span<const EventStream> streams() const override { return source_.streams(); }
  [[nodiscard]] const FunctionNames& functions() const override { return source_.functions(); }
  [[nodiscard]] uint64_t shard_bytes(size_t stream, size_t shard) const override {
    return source_.shard_bytes(stream, shard);
  }
  void read_ahead(size_t stream, size_t shard) const override {
    if constexpr (requires { source_.read_ahead(stream, shard); })
      source_.read_ahead(stream, shard);
  }

 protected:
  [[nodiscard]] const Source& source() const { return source_; }

 private:
  void play_to(size_t stream, size_t shard, EventReceiver& sink,
               ProblemLog& problems) const override {
    source_.play(stream, shard, sink, problems);
  }

  const Source& source_;
};

// The same without a virtual call an event: its play() is compiled for the sink of each answer.
// That takes much of telltale's compile time, so only one source file of each format does it.
template <EventSource Source>
class FusedCallsOf final : public TimedCallsOf<Source> {
 public:
  using TimedCallsOf<Source>::TimedCallsOf;

 private:
  void play_shard(size_t stream, size_t shard, ShardBoundarySink& sink,
                  ProblemLog& problems) const override {
    this->source().play(stream, shard, sink, problems);
  }
  void play_shard(size_t stream, size_t shard, ProfileSink& sink,
                  ProblemLog& problems) const override {
    this->source().play(stream, shard, sink, problems);
  }
  void play_shard(size_t stream, size_t shard, detail::CallPlayer<ProfileSink>& sink,
                  ProblemLog& problems) const override {
    this->source().play(stream, shard, sink, problems);
  }
  void play_shard(size_t stream, size_t shard, detail::CallPlayer<CallTreeSink>& sink,
                  ProblemLog& problems) const override {
    this->source().play(stream, shard, sink, problems);
  }
  void play_shard(size_t stream, size_t shard, detail::CallPlayer<PerfettoSink>& sink,
                  ProblemLog& problems) const override {
    this->source().play(stream, shard, sink, problems);
  }
  void play_shard(size_t stream, size_t shard, detail::CallPlayer<ChromeSink>& sink,
                  ProblemLog& problems) const override {
    this->source().play(stream, shard, sink, problems);
  }
  void play_shard(size_t stream, size_t shard, detail::CallPlayer<RowsSink>& sink,
                  ProblemLog& problems) const override {
    this->source().play(stream, shard, sink, problems);
  }
  void play_shard(size_t stream, size_t shard, MeasuresFound& sink,
                  ProblemLog& problems) const override {
    if constexpr (tells_runtime_events<Source>) {
      this->source().play(stream, shard, sink, problems);
    } else {
      CallAnswers::play_shard(stream, shard, sink, problems);
    }
  }
};

// A recording with timed calls.
template <RecordedEvents Source, typename Calls = FusedCallsOf<Source>>
class EventRecording : public Recording {
 public:
  EventRecording(const FormatDescriptor& format, Source source)
      : Recording(format), source_(std::move(source)) {}

  [[nodiscard]] RecordingInfo info(size_t workers, const CallFilter& filter) const override {
    return source_.info(workers, filter);
  }
  [[nodiscard]] const ProblemLog& problems() const override { return source_.problems(); }
  [[nodiscard]] size_t file_count() const override { return source_.file_count(); }
  [[nodiscard]] const InputFile& input(size_t file) const override { return source_.input(file); }
  [[nodiscard]] std::vector<int64_t> writers() const override {
    std::set<int64_t> pids;
    for (const EventStream& stream : source_.streams()) pids.insert(stream.thread.pid);
    return {pids.begin(), pids.end()};
  }
  [[nodiscard]] uint64_t left_out_events() const override {
    if constexpr (requires { source_.left_out_events(); }) {
      return source_.left_out_events();
    } else {
      return 0;
    }
  }
  [[nodiscard]] std::vector<std::string> function_choices() const override {
    if constexpr (requires { source_.function_choices(); }) {
      return source_.function_choices();
    } else {
      return Recording::function_choices();
    }
  }
  [[nodiscard]] uint32_t process_in(size_t file, int64_t pid) const override {
    if constexpr (requires { source_.process_in(file, pid); }) {
      return source_.process_in(file, pid);
    } else {
      return 0;
    }
  }
  [[nodiscard]] std::function<FunctionId(uint64_t)> functions_in(size_t file) const override {
    if constexpr (requires { source_.function_at(file, uint64_t{}); }) {
      return [this, file](uint64_t at) { return source_.function_at(file, at); };
    } else {
      return {};
    }
  }
  [[nodiscard]] const TimedCalls* timed_calls() const override { return &calls_; }

 protected:
  [[nodiscard]] const Source& source() const { return source_; }
  // See CallAnswers.
  void set_runtime(const RuntimeAnswers& runtime) { calls_.set_runtime(runtime); }

 private:
  Source source_;
  Calls calls_{source_};
};

// The same as the return value of a format's `open`.
template <RecordedEvents Source>
std::unique_ptr<const Recording> make_event_recording(const FormatDescriptor& format,
                                                      Source source) {
  return std::make_unique<EventRecording<Source>>(format, std::move(source));
}

}  // namespace telltale
