#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "analysis/calls/call_tree.h"
#include "analysis/calls/profile.h"
#include "import/recording.h"
#include "import/timed_calls.h"
#include "model/event_source.h"
#include "model/record_filter.h"
#include "model/recording_info.h"
#include "output/timeline/export_calls.h"
#include "output/tree/measure_paths.h"

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

// Implements the answers for one kind of recording. The instantiations here take most of telltale's
// compile time, so only one source file of each format includes this.
template <EventSource Source>
class TimedCallsOf final : public TimedCalls {
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
  [[nodiscard]] Profile profile(const ProfileOptions& options,
                                ProblemLog& problems) const override {
    return compute_profile(source_, options, problems);
  }
  [[nodiscard]] Result<CallTreePartial> call_tree(const CallFilter& filter, size_t workers,
                                                  const CallTreeOptions& options,
                                                  ProblemLog& problems) const override {
    return collect_call_tree(source_, filter, workers, options, problems);
  }
  [[nodiscard]] Result<MeasuredTree> measured_tree(Measure measure, const CallFilter& filter,
                                                   size_t workers, size_t max_depth,
                                                   ProblemLog& problems) const override {
    return measure_paths(source_, measure, filter, workers, max_depth, problems);
  }
  [[nodiscard]] std::vector<Measure> measures_with_data(size_t workers) const override {
    return telltale::measures_with_data(source_, workers);
  }
  Result<ExportRemarks> export_calls(const ExportOptions& options, ExportFormat format,
                                     OutputFile& out, ProblemLog& problems) const override {
    return telltale::export_calls(source_, options, format, out, problems);
  }

 private:
  void play_to(size_t stream, size_t shard, EventReceiver& sink,
               ProblemLog& problems) const override {
    source_.play(stream, shard, sink, problems);
  }

  const Source& source_;
};

// A recording with timed calls.
template <RecordedEvents Source>
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
  void name_addresses(RecordFilter& filter, size_t file) const override {
    if constexpr (requires { source_.function_at(file, uint64_t{}); })
      filter.function_at = [this, file](uint64_t at) { return source_.function_at(file, at); };
  }
  [[nodiscard]] const TimedCalls* timed_calls() const override { return &calls_; }

 protected:
  [[nodiscard]] const Source& source() const { return source_; }

 private:
  Source source_;
  TimedCallsOf<Source> calls_{source_};
};

// The same as the return value of a format's `open`.
template <RecordedEvents Source>
std::unique_ptr<const Recording> make_event_recording(const FormatDescriptor& format,
                                                      Source source) {
  return std::make_unique<EventRecording<Source>>(format, std::move(source));
}

}  // namespace telltale
