#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/duration_histogram.h"
#include "analysis/play_calls.h"
#include "model/event_source.h"
#include "model/function_map.h"
#include "model/open_calls.h"

namespace telltale {

// Time by function: the answer of `top`. docs/analysis/profile.md defines every number. Times are
// ticks of the recording's clock. Counts, sums and extremes are exact; quantiles are within
// DurationHistogram's error, or exact on request.
struct FunctionProfile {
  FunctionId function{};
  uint64_t calls = 0;         // that ended within the recording: returned, tail-called or unwound
  uint64_t unwound = 0;       // of these, how many have no exit of their own
  uint64_t unfinished = 0;    // calls open at the end; of the other numbers, only in total and self
  uint64_t orphan_exits = 0;  // exits without an entry; in no other number
  Ticks sum = 0;    // of the calls' durations; a recursive call's time counts at every level
  Ticks total = 0;  // time during which the function was on the stack, open calls included
  Ticks self = 0;   // of that, time in its own code
  Ticks min = 0;    // 0 if there are no calls
  Ticks max = 0;
  Ticks median = 0;
  Ticks p90 = 0;
  Ticks p99 = 0;
};

struct Profile {
  std::vector<FunctionProfile> functions;  // by function id
};

struct ProfileOptions {
  CallFilter filter;
  size_t workers = 0;  // 0: all cores
  bool exact = false;  // keep every duration; memory grows with the number of calls
};

// The numbers of all functions while they are collected: one table per worker, merged in any order.
class ProfileTable {
 public:
  // All numbers of one function. Its address is stable.
  struct alignas(64) Entry {
    // The fields that every call changes, in one cache line. Two fields that are added to are never
    // adjacent: compilers would add to both with one wide instruction in some places and with two
    // in others, and a wide load stalls on two narrow stores.
    uint64_t calls = 0;
    Ticks min = std::numeric_limits<Ticks>::max();
    Ticks sum = 0;
    Ticks max = 0;
    Ticks inner = 0;  // of sum, time in callees
    FunctionId function{};
    // For the stretch being played (ProfileSink): the stack position of its outermost open call, or
    // one of the two numbers below.
    size_t outer = kUnnoted;
    Ticks nested = 0;                      // of sum, calls within calls of the same function
    static constexpr size_t kClosed = 0;   // none is open
    static constexpr size_t kUnnoted = 1;  // no call so far
    [[nodiscard]] bool is_open() const { return outer > kUnnoted; }

    DurationHistogram durations;
    Ticks total = 0;
    Ticks open_self = 0;  // own time of calls that are open at the end
    uint64_t unwound = 0;
    uint64_t unfinished = 0;
    uint64_t orphan_exits = 0;
    std::vector<Ticks> all_durations;  // with ProfileOptions::exact
  };

  // `spread`: collect the distribution of durations; without it, FunctionProfile's extremes and
  // quantiles are 0.
  explicit ProfileTable(bool exact = false, bool spread = true)
      : exact_(exact), keeps_spread_(exact || spread) {}
  [[gnu::always_inline]] Entry& operator[](FunctionId function) {
    Entry*& entry = by_function_[function];
    if (entry == nullptr) [[unlikely]]
      entry = &add(function);
    return *entry;
  }
  // Accounts for a call that has ended, except its share of Entry::total. kSpread: whether the
  // table may have `spread`; otherwise it is not checked.
  template <bool kSpread = true>
  [[gnu::always_inline]] void add_call(Entry& entry, Ticks duration, Ticks child_ticks,
                                       CloseKind how) const {
    ++entry.calls;
    entry.sum += duration;
    entry.inner += child_ticks;
    if (how == CloseKind::unwound) [[unlikely]]
      ++entry.unwound;
    if (!kSpread || !keeps_spread_) return;
    if (duration < entry.min) entry.min = duration;
    if (duration > entry.max) entry.max = duration;
    if (exact_) [[unlikely]] {
      entry.all_durations.push_back(duration);
    } else {
      entry.durations.add(duration);
    }
  }
  void merge(ProfileTable& other);  // empties `other`
  [[nodiscard]] Profile finish();

 private:
  Entry& add(FunctionId function);

  bool exact_;
  bool keeps_spread_;
  FunctionMap<Entry*> by_function_;
  std::deque<Entry> entries_;
};

// An open call, with the time of its callees so far.
struct ProfiledCall {
  FunctionId function{};
  Ticks entered = 0;
  Ticks child_ticks = 0;
};

// The part of a unit's account that depends on the calls that were open before it.
struct ProfileRest {
  // Exits that match no call of the unit divide it into stretches, each on top of fewer earlier
  // calls than the one before.
  struct Stretch {
    Ticks child_ticks = 0;  // of calls whose caller is the innermost earlier call
    // Time of calls that are outermost of their function within the stretch: they are outermost
    // overall only if no earlier call of the function is open.
    std::vector<std::pair<FunctionId, Ticks>> outermost;
    // The exit that ends the stretch; not in the last one.
    Ticks time = 0;
    FunctionId function{};
    LeaveKind how = LeaveKind::normal;
  };
  std::vector<Stretch> stretches;    // at least one
  std::vector<ProfiledCall> opened;  // calls of the unit that are open at its end
  Ticks latest = 0;                  // time of the unit's last event
  // The event after which the unit cannot be followed without the earlier calls: the exit's
  // function has no open call in the unit, but other calls are open.
  std::optional<uint64_t> stopped_at;
};

// Plays one unit into a worker's table without knowing the calls that were open before it. An
// EventSink (fast: no filter), and a CallSink after a filter.
class ProfileSink {
  struct Frame {
    ProfileTable::Entry* entry = nullptr;
    Ticks entered = 0;
    Ticks child_ticks = 0;
  };
  // The stack of open calls: frames[0] represents the calls before the unit. State that changes
  // with every event is here, in a value that a Run keeps in registers.
  struct Position {
    Frame* top = nullptr;
    uint64_t events = 0;  // enter and leave events so far
    Ticks latest = 0;     // time of the last event
    bool stopped = false;
  };

 public:
  explicit ProfileSink(ProfileTable& table) : table_(&table), frames_(kFirstFrames) {
    position_.top = frames_.data();
    rest_.stretches.emplace_back();
  }
  ProfileSink(ProfileSink&&) = default;  // the frames stay where they are
  ProfileSink& operator=(ProfileSink&&) = default;

  // Many consecutive events. The sink must not be used otherwise before end(). kSpread: as for
  // ProfileTable::add_call.
  template <bool kSpread>
  class RunOf {
   public:
    explicit RunOf(ProfileSink& sink)
        : sink_(sink),
          at_(sink.position_),
          bottom_(sink.frames_.data()),
          limit_(bottom_ + sink.frames_.size() - 1) {}
    void end() { sink_.position_ = at_; }

    using Function = ProfileTable::Entry*;
    Function find(FunctionId function) { return &(*sink_.table_)[function]; }

    [[gnu::always_inline]] void enter(Ticks time, Function function) {
      at_.latest = time;  // also when stopped
      if (at_.stopped) [[unlikely]]
        return;
      ++at_.events;
      if (at_.top == limit_) [[unlikely]]
        grow();
      ++at_.top;
      if (function->outer == ProfileTable::Entry::kUnnoted) [[unlikely]]
        sink_.note(*function);
      if (function->outer == ProfileTable::Entry::kClosed)
        function->outer = place(at_.top, bottom_);
      at_.top->entry = function;
      at_.top->entered = time;
      at_.top->child_ticks = 0;
    }
    [[gnu::always_inline]] void leave(Ticks time, Function function, LeaveKind how) {
      leave(time, function->function, how, at_.top->entry == function);
    }
    [[gnu::always_inline]] void leaf(Ticks entered, Ticks left, Function function) {
      at_.latest = left;
      if (at_.stopped) [[unlikely]]
        return;
      at_.events += 2;
      const Ticks duration = left - entered;
      if (function->outer == ProfileTable::Entry::kUnnoted) [[unlikely]]
        sink_.note(*function);
      if (function->outer != ProfileTable::Entry::kClosed) function->nested += duration;
      sink_.table_->add_call<kSpread>(*function, duration, 0, CloseKind::returned);
      at_.top->child_ticks += duration;
    }
    [[gnu::always_inline]] void enter(Ticks time, FunctionId function) {
      enter(time, &(*sink_.table_)[function]);  // find() is not inlined
    }
    [[gnu::always_inline]] void leave(Ticks time, FunctionId function, LeaveKind how) {
      leave(time, function, how, at_.top != bottom_ && at_.top->entry->function == function);
    }

   private:
    [[gnu::always_inline]] void leave(Ticks time, FunctionId function, LeaveKind how,
                                      bool is_innermost) {
      at_.latest = time;
      if (at_.stopped) [[unlikely]]
        return;
      if (!is_innermost) [[unlikely]] {
        at_ = sink_.leave_other(at_, time, function, how);
        return;
      }
      ++at_.events;
      at_.top = sink_.close_top<kSpread>(
          bottom_, at_.top, time,
          how == LeaveKind::exception ? CloseKind::unwound : CloseKind::returned);
    }
    void grow() {
      at_.top = sink_.grow(at_.top);
      bottom_ = sink_.frames_.data();
      limit_ = bottom_ + sink_.frames_.size() - 1;
    }
    ProfileSink& sink_;
    Position at_;
    Frame* bottom_;
    Frame* limit_;  // the last frame with space
  };
  using Run = RunOf<true>;

  void enter(Ticks time, FunctionId function) {
    Run run(*this);
    run.enter(time, function);
    run.end();
  }
  void leave(Ticks time, FunctionId function, LeaveKind how) {
    Run run(*this);
    run.leave(time, function, how);
    run.end();
  }

  void open(Ticks time, FunctionId function) { enter(time, function); }
  void close(Ticks time, FunctionId function, CloseKind how) {
    if (how == CloseKind::unfinished) {
      note_time(time);
      return;  // stays open, and is counted at the end of the stream
    }
    leave(time, function, how == CloseKind::unwound ? LeaveKind::exception : LeaveKind::normal);
  }
  void orphan_exit(Ticks, FunctionId function) { ++(*table_)[function].orphan_exits; }
  void argument(uint64_t) {}
  void instant(const InstantEvent& event) { note_time(event.time); }
  void cpu(Ticks time, uint32_t) { note_time(time); }
  void loss(const LossEvent&) {}

  // Ends the unit; no call is open in the table afterwards.
  void end_unit();
  [[nodiscard]] const ProfileRest& rest() const { return rest_; }  // after end_unit()

 private:
  static constexpr size_t kFirstFrames = 256;

  // As a byte offset from the bottom of the stack, which needs no division.
  static size_t place(const Frame* frame, const Frame* bottom) {
    return static_cast<size_t>(reinterpret_cast<const char*>(frame) -
                               reinterpret_cast<const char*>(bottom));
  }
  // Accounts for the innermost call; returns the frame below it.
  template <bool kSpread = true>
  [[gnu::always_inline]] Frame* close_top(const Frame* bottom, Frame* top, Ticks time,
                                          CloseKind how) {
    ProfileTable::Entry& entry = *top->entry;
    const Ticks duration = time - top->entered;
    table_->add_call<kSpread>(entry, duration, top->child_ticks, how);
    if (entry.outer == place(top, bottom)) {
      entry.outer = ProfileTable::Entry::kClosed;
    } else {
      entry.nested += duration;
    }
    --top;
    top->child_ticks += duration;
    return top;
  }
  void note_time(Ticks time) { position_.latest = std::max(position_.latest, time); }
  Frame* grow(Frame* top);
  void note(ProfileTable::Entry& entry);  // the function's first call of the stretch
  void end_stretch(Frame& bottom);
  // An exit that does not match the innermost call.
  Position leave_other(Position at, Ticks time, FunctionId function, LeaveKind how);

  ProfileTable* table_;
  std::vector<Frame> frames_;
  Position position_;
  // Functions that were called in this stretch, with their previous sums.
  std::vector<std::pair<ProfileTable::Entry*, Ticks>> noted_;
  ProfileRest rest_;
};

// Follows a stream from unit to unit and resolves what the units left open.
class ProfileStream {
 public:
  explicit ProfileStream(ProfileTable& table) : table_(table) {}

  // Resolves `rest`, which must be of the next unit. If the unit was stopped early, the caller then
  // plays its events from rest.stopped_at on to this object (resume).
  void settle(const ProfileRest& rest);
  void enter(Ticks time, FunctionId function) { calls_.enter({function, time, 0}); }
  void leave(Ticks time, FunctionId function, LeaveKind how);
  // Counts open calls as unfinished, up to the last event, and prepares for another stream.
  void end_stream();

 private:
  // Adds the time of an ended call to the calls around it; returns its duration.
  Ticks hand_on(const ProfiledCall& call, Ticks time, size_t depth);

  ProfileTable& table_;
  OpenCalls<ProfiledCall> calls_;
  Ticks latest_ = 0;
};

namespace detail {

// Passes events on from the n-th enter or leave event.
struct ResumeProfile : IgnoreEvents {
  ProfileStream& stream;
  uint64_t skip;

  ResumeProfile(ProfileStream& to, uint64_t first_event) : stream(to), skip(first_event) {}
  void enter(Ticks time, FunctionId function) {
    if (skip != 0) {
      --skip;
    } else {
      stream.enter(time, function);
    }
  }
  void leave(Ticks time, FunctionId function, LeaveKind how) {
    if (skip != 0) {
      --skip;
    } else {
      stream.leave(time, function, how);
    }
  }
};

}  // namespace detail

// The profile of a recording. Adds unreadable input to `problems`. Memory: O(functions + deepest
// stack), unless exact. The result does not depend on the number of workers.
template <EventSource Source>
Profile compute_profile(const Source& source, const ProfileOptions& options, ProblemLog& problems) {
  const size_t workers = worker_count(options.workers);
  std::deque<ProfileTable> tables;
  for (size_t i = 0; i < workers; ++i) tables.emplace_back(options.exact);
  ProfileTable settled(options.exact);
  ProfileStream stream(settled);

  if (options.filter.keeps_every_call()) {
    std::vector<ProblemLog> logs(workers);
    const auto units = list_units(source, options.filter);
    std::vector<ProfileRest> rests(units.size());
    parallel_for(units.size(), workers, [&](size_t item, size_t worker) {
      ProfileSink sink(tables[worker]);
      source.play(units[item].first, units[item].second, sink, logs[worker]);
      sink.end_unit();
      rests[item] = sink.rest();
    });
    for (size_t i = 0; i < units.size(); ++i) {
      stream.settle(rests[i]);
      if (rests[i].stopped_at) {
        detail::ResumeProfile resume(stream, *rests[i].stopped_at);
        ProblemLog unused(1);
        source.play(units[i].first, units[i].second, resume, unused);
      }
      if (i + 1 == units.size() || units[i + 1].first != units[i].first) stream.end_stream();
    }
    for (const ProblemLog& log : logs) problems.merge(log);
  } else {
    const auto make = [&](const UnitContext& context) {
      return ProfileSink(tables[context.worker]);
    };
    const auto finish = [&](const UnitContext& context, ProfileSink& sink) -> Result<void> {
      stream.settle(sink.rest());
      if (context.last_unit) stream.end_stream();
      return {};
    };
    (void)play_calls(source, options.filter, workers, make, finish,
                     problems);  // finish cannot fail
  }
  for (ProfileTable& table : tables) settled.merge(table);
  return settled.finish();
}

}  // namespace telltale
