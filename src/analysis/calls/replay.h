#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/calls/walk_calls.h"
#include "model/call_sink.h"

namespace telltale {

// One thing that a thread did (docs/analysis/replay.md).
struct ReplayStep {
  enum class Kind : uint8_t {
    already_open,  // a call that began before the first shown time; `time` is when it began
    enter,
    leave,
    orphan_exit,
    event,  // that the program recorded
    loss,   // events are missing from here on
  };
  Kind kind = Kind::enter;
  CloseKind ended = CloseKind::returned;  // of leave
  bool estimated = false;                 // `time` is (model/estimated.h)
  uint32_t depth = 0;                     // number of calls around it
  FunctionId function{};                  // not of event and loss
  size_t stream = 0;
  Ticks time = 0;
  Ticks duration = 0;                    // of leave
  uint64_t call = 0;                     // of calls: number in the thread, from 1
  std::vector<uint64_t> arguments = {};  // of enter and already_open
  std::string_view category = {};        // of event: as InstantEvent
  uint32_t type = 0;                     // of event: as InstantEvent
  std::string text = {};                 // of event: its payload; of loss: the reason
};

// A call that was open at the end of the recording.
struct OpenAtEnd {
  FunctionId function{};
  Ticks entered = 0;
  uint64_t call = 0;
};

struct ReplaySelection {
  CallFilter filter;  // its window of time is not used
  Ticks from = 0;     // steps within [from, to)
  Ticks to = ~Ticks{0};
  std::optional<uint64_t> call;  // only this call of each thread, whatever the time
};

// Collects the steps of one thread.
class ReplaySink : public IgnoreCalls {
 public:
  ReplaySink(const ReplaySelection& selection, size_t stream)
      : selection_(selection), stream_(stream) {}

  uint64_t call = 0;

  void open(Ticks time, FunctionId function) {
    see(time);
    if (selection_.call == call) chosen_depth_ = frames_.size();
    frames_.push_back({function, time, call, {}});
    step_ = nullptr;
    if (shows(time)) step_ = &add(ReplayStep::Kind::enter, time, frames_.size() - 1, function);
    if (step_ != nullptr) step_->call = call;
  }
  void argument(uint64_t value) {
    frames_.back().arguments.push_back(value);
    if (step_ != nullptr) step_->arguments.push_back(value);
  }
  void close(Ticks time, FunctionId function, CloseKind how) {
    // Before the call goes: a window that begins here shows it as open.
    if (how != CloseKind::unfinished) see(time);
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    step_ = nullptr;
    if (how == CloseKind::unfinished) {
      at_end_.push_back({frame.function, frame.entered, frame.number});
      return;
    }
    if (shows(time)) {
      ReplayStep& step = add(ReplayStep::Kind::leave, time, frames_.size(), function);
      step.duration = time - frame.entered;
      step.ended = how;
      step.call = frame.number;
    }
    if (chosen_depth_ && frames_.size() == *chosen_depth_) {
      chosen_depth_.reset();
      done_ = true;
    }
  }
  void orphan_exit(Ticks time, FunctionId function) {
    see(time);
    if (shows(time)) add(ReplayStep::Kind::orphan_exit, time, frames_.size(), function);
  }
  void instant(const InstantEvent& event) {
    see(event.time);
    if (!shows(event.time)) return;
    ReplayStep& step = add(ReplayStep::Kind::event, event.time, frames_.size(), {});
    step.category = event.category;
    step.type = event.type;
    step.text.assign(reinterpret_cast<const char*>(event.payload.data()), event.payload.size());
  }
  void loss(const LossEvent& event) {
    see(event.time);
    if (!shows(event.time)) return;
    add(ReplayStep::Kind::loss, event.time, frames_.size(), {}).text = event.reason;
  }
  void estimated(bool now) { estimated_ = now; }

  // Replaces `steps` by those since the last take. Uses its memory for the next ones.
  void take(std::vector<ReplayStep>& steps) {
    step_ = nullptr;
    steps.clear();
    steps_.swap(steps);
  }
  // No later event can be shown.
  [[nodiscard]] bool done() const { return done_; }
  // Time of the thread's last event so far.
  [[nodiscard]] Ticks latest() const { return latest_; }
  // Outermost first. Complete when the walk is.
  [[nodiscard]] std::vector<OpenAtEnd> open_at_end() const {
    return {at_end_.rbegin(), at_end_.rend()};
  }

 private:
  struct Frame {
    FunctionId function{};
    Ticks entered = 0;
    uint64_t number = 0;
    std::vector<uint64_t> arguments;
  };

  // Called before the event at `time` changes anything.
  void see(Ticks time) {
    latest_ = std::max(latest_, time);
    if (selection_.call || time < selection_.from) return;
    if (time >= selection_.to) done_ = true;
    if (std::exchange(begun_, true) || done_) return;
    for (size_t i = 0; i < frames_.size(); ++i) {
      const Frame& frame = frames_[i];
      ReplayStep& step = add(ReplayStep::Kind::already_open, frame.entered, i, frame.function);
      step.call = frame.number;
      step.arguments = frame.arguments;
    }
  }
  [[nodiscard]] bool shows(Ticks time) const {
    if (selection_.call) return chosen_depth_.has_value();
    return time >= selection_.from && time < selection_.to;
  }
  ReplayStep& add(ReplayStep::Kind kind, Ticks time, size_t depth, FunctionId function) {
    const size_t base = chosen_depth_.value_or(0);
    ReplayStep& step = steps_.emplace_back();
    step.kind = kind;
    step.estimated = estimated_;
    step.depth = static_cast<uint32_t>(depth - base);
    step.function = function;
    step.stream = stream_;
    step.time = time;
    return step;
  }

  const ReplaySelection& selection_;
  size_t stream_;
  std::vector<Frame> frames_;
  std::vector<ReplayStep> steps_;
  ReplayStep* step_ = nullptr;          // of the call opened last; null: not shown
  std::vector<OpenAtEnd> at_end_;       // innermost first
  std::optional<size_t> chosen_depth_;  // of the selected call, while it is open
  Ticks latest_ = 0;
  bool begun_ = false;
  bool done_ = false;
  bool estimated_ = false;
};

// The steps of one thread, some at a time.
template <EventSource Source>
class ReplayedThread {
 public:
  // `source` and `selection` outlive it.
  ReplayedThread(const Source& source, const ReplaySelection& selection, size_t of_stream)
      : stream(of_stream),
        sink_(selection, of_stream),
        walk_(source, of_stream, selection.filter, sink_) {}

  // Null: no more.
  const ReplayStep* front(ProblemLog& problems) {
    while (next_ == steps_.size()) {
      if (sink_.done() || !walk_.next(problems)) return nullptr;
      sink_.take(steps_);
      next_ = 0;
    }
    return &steps_[next_];
  }
  void pop() { ++next_; }
  // What is known after front() was null: whether the thread was played to its end, and then the
  // calls open there.
  [[nodiscard]] bool reached_end() const { return !sink_.done(); }
  [[nodiscard]] std::vector<OpenAtEnd> open_at_end() const { return sink_.open_at_end(); }
  [[nodiscard]] Ticks latest() const { return sink_.latest(); }

  const size_t stream;

 private:
  ReplaySink sink_;
  CallWalk<Source, ReplaySink> walk_;
  std::vector<ReplayStep> steps_;
  size_t next_ = 0;
};

// Passes the steps of the threads that the filter keeps to put(step), which returns false to stop:
// thread by thread, or, with `merge`, in order of time. Then calls at_end(thread) for each. Memory:
// the steps of a shard (some 4 MiB of records), with `merge` of one for each thread.
template <EventSource Source, typename Put, typename AtEnd>
void replay(const Source& source, const ReplaySelection& selection, bool merge, Put put,
            AtEnd at_end, ProblemLog& problems) {
  using Thread = ReplayedThread<Source>;
  std::vector<std::unique_ptr<Thread>> threads;
  const auto streams = source.streams();
  for (size_t i = 0; i < streams.size(); ++i) {
    if (selection.filter.keeps_thread(streams[i].thread))
      threads.push_back(std::make_unique<Thread>(source, selection, i));
  }
  bool more = true;
  if (merge) {
    while (more) {
      Thread* first = nullptr;
      for (const auto& thread : threads) {
        const ReplayStep* const step = thread->front(problems);
        if (step != nullptr && (first == nullptr || step->time < first->front(problems)->time))
          first = thread.get();
      }
      if (first == nullptr) break;
      more = put(*first->front(problems));
      first->pop();
    }
  } else {
    for (size_t i = 0; i < threads.size() && more; ++i) {
      while (more) {
        const ReplayStep* const step = threads[i]->front(problems);
        if (step == nullptr) break;
        more = put(*step);
        threads[i]->pop();
      }
    }
  }
  if (!more) return;
  for (const auto& thread : threads) at_end(*thread);
}

}  // namespace telltale
