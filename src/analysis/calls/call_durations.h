#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/calls/duration_histogram.h"
#include "analysis/calls/walk_calls.h"
#include "base/sort_rows.h"
#include "model/call_filter.h"
#include "model/call_sink.h"
#include "model/function_map.h"

namespace telltale {

// One call of a recording.
struct RecordedCall {
  FunctionId function{};
  size_t stream = 0;
  uint64_t call = 0;  // number in the thread, from 1
  Ticks entered = 0;
  Ticks duration = 0;
  CloseKind ended = CloseKind::returned;
};

// How long the calls of a function took.
struct FunctionDurations {
  FunctionId function{};
  uint64_t ended = 0;  // 0: the durations below mean nothing
  uint64_t open = 0;   // at the end of the recording
  Ticks min = 0;
  Ticks max = 0;
  Ticks median = 0;  // these three as DurationHistogram defines and estimates them
  Ticks p90 = 0;
  Ticks p99 = 0;
};

// Collects them call by call. Memory depends on the number of functions and the range of their
// durations, not on the number of calls.
class DurationCollector {
 public:
  void add(const RecordedCall& call);
  // The durations, ordered by function. Nothing may be called afterwards.
  std::vector<FunctionDurations> finish();

 private:
  struct Calls {
    FunctionDurations sums;
    DurationHistogram histogram;
  };
  FunctionMap<Calls> functions_;
  std::vector<FunctionId> found_;
};

// The longest of the calls that ended; of equally long ones those that were added first.
class LongestCalls {
 public:
  // Keeps at most `limit`; 0: all.
  explicit LongestCalls(size_t limit) : limit_(limit) {}

  void add(const RecordedCall& call) {
    if (call.ended == CloseKind::unfinished || call.duration < least_) return;
    calls_.push_back(call);
    if (limit_ != 0 && calls_.size() >= kSpare + 2 * limit_) cut();
  }
  // The longest first. The last call of this.
  std::vector<RecordedCall> finish();

 private:
  static constexpr size_t kSpare = 1024;  // so that few calls are cut seldom
  void cut();

  size_t limit_;
  Ticks least_ = 0;  // shorter calls are not among the longest
  std::vector<RecordedCall> calls_;
};

// The filter without what only selects the inside of a call: its functions and its depth.
CallFilter without_inside(CallFilter filter);

// Passes the calls of some functions to use(const RecordedCall&), thread by thread, in the order in
// which they ended; the `duration` of calls that are open at the end (unfinished) is up to there.
// wanted(FunctionId) is asked once for each function and thread. The filter selects threads, and by
// its window calls that begin in it. `max_depth`: of the calls, 1 is a thread's outermost.
template <EventSource Source, typename Wanted, typename Use>
void for_each_call(const Source& source, const CallFilter& filter, size_t max_depth, Wanted wanted,
                   Use use, ProblemLog& problems) {
  struct Sink : IgnoreCalls {
    struct Frame {
      Ticks entered = 0;
      uint64_t number = 0;
    };
    void open(Ticks time, FunctionId) { frames.push_back({time, call}); }
    void close(Ticks time, FunctionId function, CloseKind how) {
      const Frame frame = frames.back();
      const size_t depth = frames.size();
      frames.pop_back();
      if (depth > max_depth) return;
      int8_t& known = matches[function];
      if (known == 0) known = wanted(function) ? 1 : -1;
      if (known < 0 || !window.holds(frame.entered)) return;
      use(RecordedCall{function, stream, frame.number, frame.entered, time - frame.entered, how});
    }
    Sink(Wanted& which, PlayedWindow kept, size_t deepest, Use& to, size_t of)
        : wanted(which), window(kept), max_depth(deepest), use(to), stream(of) {}
    uint64_t call = 0;
    Wanted& wanted;
    PlayedWindow window;
    size_t max_depth;
    Use& use;
    size_t stream;
    std::vector<Frame> frames;
    FunctionMap<int8_t> matches;  // 0: not asked yet
  };
  const CallFilter every_call = without_inside(filter);
  const auto streams = source.streams();
  for (size_t i = 0; i < streams.size(); ++i) {
    if (!filter.keeps_thread(streams[i].thread)) continue;
    Sink sink(wanted, window_of(source, filter), max_depth, use, i);
    CallWalk walk(source, i, every_call, sink);
    while (walk.next(problems)) {
    }
  }
}

// What happened in one call.
struct CallDetails {
  struct Callee {
    uint64_t calls = 0;
    Ticks total = 0;
  };
  struct Event {
    Ticks time = 0;
    std::string_view category;
    uint32_t type = 0;
    std::string payload;
  };
  struct OtherThread {
    size_t stream = 0;
    std::map<FunctionId, Ticks> self;  // time in the functions' own code meanwhile
    Ticks outside = 0;                 // meanwhile, in no call
  };
  static constexpr size_t kMostEvents = 100;

  RecordedCall which;
  std::vector<uint64_t> arguments;
  std::map<FunctionId, Callee> callees;  // called directly
  std::vector<Event> events;             // the first kMostEvents, of the call and its callees
  uint64_t event_count = 0;
  std::vector<OtherThread> meanwhile;  // threads that had any event until then
};

namespace detail {

class DetailsSink : public IgnoreCalls {
 public:
  // `all` and `functions` must outlive the sink. The sink adds the calls inside to the details of
  // its own thread's calls, and what its thread did meanwhile to the details of other threads'
  // calls. Calls of other functions, and calls with `max_depth` or more around them, are not seen:
  // their time is that of the nearest call around them that is.
  DetailsSink(std::vector<CallDetails>& all, size_t stream, FunctionFilter& functions,
              size_t max_depth)
      : stream_(stream), functions_(functions), max_depth_(max_depth) {
    for (CallDetails& one : all) (one.which.stream == stream ? own_ : others_).push_back(&one);
    sort_rows(others_, {}, [](const CallDetails* one) { return one->which.entered; });
    for (const CallDetails* one : others_)
      last_other_ = std::max(last_other_, one->which.entered + one->which.duration);
    shares_.resize(others_.size());
  }

  uint64_t call = 0;

  void open(Ticks time, FunctionId function) {
    pass(time);
    Frame frame{.function = function, .entered = time};
    if (!frames_.empty()) {
      const Frame& caller = frames_.back();
      frame.above = caller.is_seen || caller.details != nullptr ? frames_.size() - 1 : caller.above;
      frame.seen_above = caller.is_seen ? frames_.size() - 1 : caller.seen_above;
    }
    frame.is_seen = frames_.size() < max_depth_ && functions_.keeps(function);
    const auto chosen =
        std::ranges::find(own_, call, [](const CallDetails* one) { return one->which.call; });
    if (chosen != own_.end()) {
      frame.details = *chosen;
      ++chosen_open_;
    }
    frames_.push_back(frame);
  }
  void argument(uint64_t value) {
    if (CallDetails* details = frames_.back().details) details->arguments.push_back(value);
  }
  void close(Ticks time, FunctionId function, CloseKind) {
    pass(time);
    const Frame frame = frames_.back();
    frames_.pop_back();
    if (frame.details != nullptr) --chosen_open_;
    if (!frame.is_seen) return;
    // It was called directly by the nearest call that is seen, and by chosen ones inside that one.
    for (size_t i = frame.above; i != kNone; i = frames_[i].is_seen ? kNone : frames_[i].above) {
      if (frames_[i].details == nullptr) continue;
      CallDetails::Callee& callee = frames_[i].details->callees[function];
      ++callee.calls;
      callee.total += time - frame.entered;
    }
  }
  void instant(const InstantEvent& event) {
    pass(event.time);
    if (chosen_open_ == 0) return;
    for (const Frame& frame : frames_) {
      if (frame.details == nullptr) continue;
      if (++frame.details->event_count > CallDetails::kMostEvents) continue;
      frame.details->events.push_back(
          {event.time, event.category, event.type,
           std::string(reinterpret_cast<const char*>(event.payload.data()), event.payload.size())});
    }
  }
  // After the last event.
  void finish() {
    for (size_t i = 0; i < others_.size(); ++i) {
      CallDetails::OtherThread& share = shares_[i];
      if (share.self.empty() && share.outside == 0) continue;
      share.stream = stream_;
      others_[i]->meanwhile.push_back(std::move(share));
    }
  }

 private:
  static constexpr size_t kNone = std::numeric_limits<size_t>::max();
  struct Frame {
    FunctionId function{};
    Ticks entered = 0;
    CallDetails* details = nullptr;
    bool is_seen = true;
    size_t above = kNone;       // the nearest frame that is seen or chosen
    size_t seen_above = kNone;  // the nearest frame that is seen
  };

  // The innermost frame that is seen; null: none is.
  [[nodiscard]] const Frame* innermost() const {
    if (frames_.empty() || frames_.back().is_seen)
      return frames_.empty() ? nullptr : &frames_.back();
    const size_t above = frames_.back().seen_above;
    return above == kNone ? nullptr : &frames_[above];
  }

  // From the event before up to `time` the innermost call was running.
  void pass(Ticks time) {
    const Ticks from = std::exchange(now_, time);
    if (!std::exchange(any_, true) || from >= last_other_) return;
    const Frame* const inner = innermost();
    for (size_t i = 0; i < others_.size(); ++i) {
      const RecordedCall& other = others_[i]->which;
      if (other.entered >= time) break;
      const Ticks begin = std::max(from, other.entered);
      const Ticks end = std::min(time, other.entered + other.duration);
      if (begin >= end) continue;
      (inner == nullptr ? shares_[i].outside : shares_[i].self[inner->function]) += end - begin;
    }
  }

  size_t stream_;
  FunctionFilter& functions_;
  size_t max_depth_;
  std::vector<CallDetails*> own_;
  std::vector<CallDetails*> others_;  // by time
  std::vector<CallDetails::OtherThread> shares_;
  std::vector<Frame> frames_;
  size_t chosen_open_ = 0;
  Ticks last_other_ = 0;
  Ticks now_ = 0;
  bool any_ = false;
};

}  // namespace detail

// Details of the given calls, in their order. The filter's functions and depth select what is seen
// inside a call and in other threads; all threads count for what happened meanwhile.
template <EventSource Source>
std::vector<CallDetails> collect_details(const Source& source, const CallFilter& filter,
                                         const std::vector<RecordedCall>& calls,
                                         ProblemLog& problems) {
  std::vector<CallDetails> details;
  for (const RecordedCall& call : calls) details.emplace_back().which = call;
  const CallFilter everything;
  FunctionFilter functions(filter, source.functions());
  for (size_t i = 0; i < source.streams().size(); ++i) {
    detail::DetailsSink sink(details, i, functions, filter.max_depth);
    CallWalk walk(source, i, everything, sink);
    while (walk.next(problems)) {
    }
    sink.finish();
  }
  return details;
}

// Of the ended calls of each function, the one whose duration is nearest to the function's median;
// of several, the first of the recording.
class TypicalCalls {
 public:
  explicit TypicalCalls(const std::vector<FunctionDurations>& functions);
  // Calls of other functions are ignored.
  void add(const RecordedCall& call);
  [[nodiscard]] std::vector<RecordedCall> finish() const;

 private:
  struct Nearest {
    Ticks median = 0;
    RecordedCall call;
    bool is_known = false;
  };
  std::map<FunctionId, Nearest> functions_;
};

// Counts of durations between powers of two.
struct DurationBucket {
  uint64_t from_ns = 0;
  uint64_t to_ns = 0;  // exclusive
  uint64_t calls = 0;
  uint64_t total_ns = 0;
};
class DurationBuckets {
 public:
  explicit DurationBuckets(const Clock& clock) : clock_(clock) {}
  void add(Ticks duration);
  // From the shortest duration's bucket to the longest's, without gaps: 0..1, 1..2, 2..4 ...
  [[nodiscard]] std::vector<DurationBucket> all() const;

 private:
  struct Sums {
    uint64_t calls = 0;
    Ticks total = 0;
  };
  const Clock& clock_;
  std::array<Sums, 65> by_width_{};  // by the number of significant bits of the nanoseconds
};

}  // namespace telltale
