#include "import/net_recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analysis/calls/net_time.h"
#include "base/parallel.h"
#include "import/estimated_recording.h"
#include "model/estimated.h"
#include "output/table/show_units.h"

namespace telltale {
namespace {

// Passes events on at their net time. Net times are estimates; that of single events is not marked.
template <typename Sink>
class NetSink {
 public:
  NetSink(NetTime begin, Sink& sink) : time_(std::move(begin)), sink_(sink) {}

  void enter(Ticks time, FunctionId function) {
    sink_.enter(time_.enter(time, function), function);
  }
  void argument(uint64_t value) { sink_.argument(value); }
  void leave(Ticks time, FunctionId function, LeaveKind how) {
    sink_.leave(time_.leave(time, function, how), function, how);
  }
  void instant(const InstantEvent& event) {
    InstantEvent net = event;
    net.time = time_.other(event.time);
    sink_.instant(net);
  }
  void cpu(Ticks time, uint32_t number) { sink_.cpu(time_.other(time), number); }
  void loss(const LossEvent& event) {
    LossEvent net = event;
    net.time = time_.other(event.time);
    sink_.loss(net);
  }
  [[nodiscard]] NetTime take() { return std::move(time_); }

 private:
  NetTime time_;
  Sink& sink_;
};

// Calls at their net times: an EventSource. A thread's net time depends on all its events before,
// so each thread is played once when this is made, and the state at the start of each shard is
// kept.
class NetCalls {
 public:
  // `recorded` must outlive it. `costs`: one a stream.
  NetCalls(const TimedCalls& recorded, const std::vector<RecorderCost>& costs, size_t workers)
      : recorded_(recorded), begins_(costs.size()) {
    std::vector<Sums> sums(costs.size());
    parallel_for(costs.size(), worker_count(workers), [&](size_t stream, size_t) {
      NetTime time(costs[stream], recorded.clock(), recorded.first_time());
      ProblemLog unused(1);
      for (size_t shard = 0; shard < recorded.streams()[stream].shards; ++shard) {
        begins_[stream].push_back(time);
        IgnoreEvents nothing;
        NetSink sink(std::move(time), nothing);
        recorded.play(stream, shard, sink, unused);
        time = sink.take();
      }
      sums[stream] = {time.cost(), time.debt()};
    });
    for (const Sums& each : sums) {
      sums_.cost += each.cost;
      sums_.debt += each.debt;
    }
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
    NetSink<Sink> net(begins_[stream][shard], sink);
    emit_estimated(sink, true);
    recorded_.play(stream, shard, net, problems);
  }

  // In nanoseconds: the recorder's cost within calls, and what of it could not be subtracted.
  [[nodiscard]] double cost_ns() const {
    return clock().to_ns_f(static_cast<double>(sums_.cost) / 1e3);
  }
  [[nodiscard]] double clipped_ns() const {
    return clock().to_ns_f(static_cast<double>(sums_.debt) / 1e3);
  }

 private:
  struct Sums {  // in thousandths of a tick
    uint64_t cost = 0;
    uint64_t debt = 0;
  };

  const TimedCalls& recorded_;
  std::vector<std::vector<NetTime>> begins_;  // by stream and shard
  Sums sums_;
};
static_assert(EventSource<NetCalls>);

std::string show_ps(uint64_t picoseconds) {
  return fmt::format("{:.1f} ns", static_cast<double>(picoseconds) / 1000);
}

// "9.2 ns inside and 10.1 ns outside of each call"; of several costs, the range.
std::string describe_costs(const std::vector<RecorderCost>& costs) {
  const auto range = [&](uint64_t RecorderCost::* part) {
    const auto [least, most] = std::ranges::minmax(costs, {}, part);
    return least.*part == most.*part
               ? show_ps(most.*part)
               : fmt::format("{} to {}", show_ps(least.*part), show_ps(most.*part));
  };
  return fmt::format("{} inside and {} outside of each call", range(&RecorderCost::inside_ps),
                     range(&RecorderCost::outside_ps));
}

std::string estimate_note(const NetCalls& calls, const std::vector<RecorderCost>& costs) {
  std::string note = fmt::format("times are estimates: less the recorder's {}, {} in all",
                                 describe_costs(costs), show_duration(calls.cost_ns()));
  if (calls.clipped_ns() >= 0.5) {
    note += fmt::format("; {} of that could not be subtracted, because calls took less",
                        show_duration(calls.clipped_ns()));
  }
  return note;
}

std::string thread_words(const EventStream& stream) {
  return stream.process_name.empty()
             ? fmt::format("process {}", stream.thread.pid)
             : fmt::format("process {} ({})", stream.thread.pid, stream.process_name);
}

}  // namespace

Result<std::unique_ptr<const Recording>> without_recorder_cost(
    std::unique_ptr<const Recording> recorded, const std::optional<RecorderCost>& given,
    size_t workers) {
  const TimedCalls* const calls = recorded->timed_calls();
  if (calls == nullptr)
    return usage_error(
        fmt::format("--net needs calls with times, and {} has none", recorded->noun()));
  if (calls->streams().empty()) return recorded;
  std::vector<RecorderCost> costs;
  for (const EventStream& stream : calls->streams()) {
    costs.push_back(given.value_or(stream.cost));
    if (costs.back().known()) continue;
    const bool all_unknown = std::ranges::none_of(
        calls->streams(), [](const EventStream& other) { return other.cost.known(); });
    return usage_error(
        fmt::format("{} does not say what recording a call cost; give it, such as --net=20ns",
                    all_unknown ? "the recording" : "the recording of " + thread_words(stream)));
  }
  return std::make_unique<EstimatedRecording<NetCalls>>(
      std::move(recorded), [&](const NetCalls& net) { return estimate_note(net, costs); }, costs,
      workers);
}

}  // namespace telltale
