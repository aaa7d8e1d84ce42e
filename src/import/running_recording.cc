#include "import/running_recording.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "import/event_recording.h"
#include "model/estimated.h"
#include "model/waiting.h"
#include "output/table/show_units.h"

namespace telltale {
namespace {

// How long a thread has waited until one of its events.
struct Waited {
  Ticks before = 0;
  Ticks since = 0;  // when the wait that is not over began
  bool now = false;
};

// Passes on events other than waits, as if the thread had not waited.
template <typename Sink>
class RunningSink {
 public:
  RunningSink(const Waited& waited, Sink& sink) : waited_(waited), sink_(sink) {}

  void enter(Ticks time, FunctionId function) {
    if (function != kWaiting) return sink_.enter(running(time), function);
    waited_.since = time;
    waited_.now = true;
  }
  void argument(uint64_t value) { sink_.argument(value); }
  void leave(Ticks time, FunctionId function, LeaveKind how) {
    if (function != kWaiting) return sink_.leave(running(time), function, how);
    if (std::exchange(waited_.now, false)) waited_.before += time - waited_.since;
  }
  void instant(const InstantEvent& event) {
    InstantEvent shifted = event;
    shifted.time = running(event.time);
    sink_.instant(shifted);
  }
  void cpu(Ticks time, uint32_t number) { sink_.cpu(running(time), number); }
  void loss(const LossEvent& event) {
    LossEvent shifted = event;
    shifted.time = running(event.time);
    sink_.loss(shifted);
  }
  void estimated(bool now) { emit_estimated(sink_, now); }
  [[nodiscard]] const Waited& waited() const { return waited_; }

 private:
  // During a wait: the time at which it began.
  [[nodiscard]] Ticks running(Ticks time) const {
    return (waited_.now ? waited_.since : time) - waited_.before;
  }

  Waited waited_;
  Sink& sink_;
};

// Calls without waits: an EventSource. The waits before each shard are counted when this is made.
class RunningCalls {
 public:
  // `recorded` must outlive it.
  RunningCalls(const TimedCalls& recorded, size_t workers)
      : recorded_(recorded), begins_(recorded.streams().size()) {
    std::vector<Ticks> sums(begins_.size());
    parallel_for(begins_.size(), worker_count(workers), [&](size_t stream, size_t) {
      Waited waited;
      ProblemLog unused(1);
      for (size_t shard = 0; shard < recorded.streams()[stream].shards; ++shard) {
        begins_[stream].push_back(waited);
        IgnoreEvents nothing;
        RunningSink sink(waited, nothing);
        recorded.play(stream, shard, sink, unused);
        waited = sink.waited();
      }
      sums[stream] = waited.before;
    });
    for (const Ticks sum : sums) waited_ += sum;
  }

  [[nodiscard]] const Clock& clock() const { return recorded_.clock(); }
  [[nodiscard]] Ticks first_time() const { return recorded_.first_time(); }
  [[nodiscard]] std::span<const EventStream> streams() const { return recorded_.streams(); }
  [[nodiscard]] const FunctionNames& functions() const { return recorded_.functions(); }
  [[nodiscard]] uint64_t shard_bytes(size_t stream, size_t shard) const {
    return recorded_.shard_bytes(stream, shard);
  }
  template <typename Sink>
  void play(size_t stream, size_t shard, Sink& sink, ProblemLog& problems) const {
    RunningSink<Sink> running(begins_[stream][shard], sink);
    recorded_.play(stream, shard, running, problems);
  }

  // In all threads together.
  [[nodiscard]] Ticks waited() const { return waited_; }

 private:
  const TimedCalls& recorded_;
  std::vector<std::vector<Waited>> begins_;  // by stream and shard
  Ticks waited_ = 0;
};
static_assert(EventSource<RunningCalls>);

class RunningRecording final : public Recording {
 public:
  RunningRecording(std::unique_ptr<const Recording> recorded, size_t workers)
      : Recording(recorded->format()),
        recorded_(std::move(recorded)),
        calls_(*recorded_->timed_calls(), workers),
        answers_(calls_),
        problems_(recorded_->problems()),
        note_({Problem::Kind::estimate, 0, "", "",
               fmt::format(
                   "times are those on a processor: less {} in which threads waited",
                   show_duration(calls_.clock().to_ns_f(static_cast<double>(calls_.waited())))),
               0}) {
    problems_.add(note_);
  }

  [[nodiscard]] Ticks waited() const { return calls_.waited(); }
  [[nodiscard]] std::unique_ptr<const Recording> give_back() { return std::move(recorded_); }

  [[nodiscard]] std::string_view noun() const override { return recorded_->noun(); }
  [[nodiscard]] RecordingInfo info(size_t workers, const CallFilter& filter) const override {
    RecordingInfo info = recorded_->info(workers, filter);
    info.problems.add(note_);
    return info;
  }
  [[nodiscard]] const ProblemLog& problems() const override { return problems_; }
  [[nodiscard]] size_t file_count() const override { return recorded_->file_count(); }
  [[nodiscard]] const InputFile& input(size_t file) const override {
    return recorded_->input(file);
  }
  [[nodiscard]] std::vector<int64_t> writers() const override { return recorded_->writers(); }
  void name_addresses(RecordFilter& filter, size_t file) const override {
    recorded_->name_addresses(filter, file);
  }
  [[nodiscard]] const TimedCalls* timed_calls() const override { return &answers_; }

 private:
  std::unique_ptr<const Recording> recorded_;
  RunningCalls calls_;
  TimedCallsOf<RunningCalls> answers_;
  ProblemLog problems_;
  Problem note_;
};

}  // namespace

Result<std::unique_ptr<const Recording>> without_waiting(std::unique_ptr<const Recording> recorded,
                                                         size_t workers) {
  if (recorded->timed_calls() == nullptr)
    return usage_error(
        fmt::format("--running needs calls with times, and {} has none", recorded->noun()));
  auto running = std::make_unique<RunningRecording>(std::move(recorded), workers);
  if (running->waited() == 0) return running->give_back();
  return running;
}

}  // namespace telltale
