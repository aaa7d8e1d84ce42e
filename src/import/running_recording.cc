#include "import/running_recording.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "import/estimated_recording.h"
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

std::string running_note(const RunningCalls& calls) {
  return fmt::format("times are those on a processor: less {} in which threads waited",
                     show_duration(calls.clock().to_ns_f(static_cast<double>(calls.waited()))));
}

}  // namespace

Result<std::unique_ptr<const Recording>> without_waiting(std::unique_ptr<const Recording> recorded,
                                                         size_t workers) {
  if (recorded->timed_calls() == nullptr)
    return usage_error(
        fmt::format("--running needs calls with times, and {} has none", recorded->noun()));
  auto running = std::make_unique<EstimatedRecording<RunningCalls>>(std::move(recorded),
                                                                    running_note, workers);
  if (running->calls().waited() == 0) return running->take_recorded();
  return running;
}

}  // namespace telltale
