#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analysis/calls/duration_histogram.h"
#include "analysis/calls/play_calls.h"
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
    Ticks sum = 0;  // of the calls that ended
    Ticks min = std::numeric_limits<Ticks>::max();
    Ticks inner = 0;  // of sum, time in callees
    Ticks max = 0;
    Ticks nested = 0;  // of sum, calls within calls of the same function, in the stretch being
                       // played (ProfileSink)
    // In that stretch, the address of the frame of the outermost open call, or one of the two
    // numbers below, which are greater than every address.
    uintptr_t outer = kUnnoted;
    uint64_t calls = 0;      // that ended; counted only if the spread of durations is not kept
    uint64_t key = kNobody;  // the function's number
    static constexpr uintptr_t kUnnoted = ~uintptr_t{0};  // no call so far
    static constexpr uintptr_t kClosed = kUnnoted - 1;    // none is open
    static constexpr uint64_t kNobody = ~uint64_t{0};     // no function has this number
    [[nodiscard]] bool is_open() const { return outer < kClosed; }
    [[nodiscard]] FunctionId function() const { return FunctionId{static_cast<uint32_t>(key)}; }

    DurationHistogram durations;
    Ticks total = 0;
    Ticks open_self = 0;  // own time of calls that are open at the end
    uint64_t unwound = 0;
    uint64_t unfinished = 0;
    uint64_t orphan_exits = 0;
  };

  // `spread`: collect the distribution of durations; without it, FunctionProfile's extremes and
  // quantiles are 0.
  explicit ProfileTable(bool exact = false, bool spread = true)
      : exact_(exact), keeps_spread_(exact || spread) {}
  Entry& operator[](FunctionId function) {
    Entry*& entry = by_function_[function];
    if (entry == nullptr) [[unlikely]]
      entry = &add(function);
    return *entry;
  }
  // The same, not inlined: for rare cases.
  [[gnu::noinline]] Entry* meet(FunctionId function) { return &(*this)[function]; }
  [[nodiscard]] Entry* nobody() { return &nobody_; }  // of no function
  [[nodiscard]] bool keeps_spread() const { return keeps_spread_; }
  // The entries of the functions with the lowest numbers, by number; null: there is none. Valid
  // until a new entry is made.
  [[nodiscard]] std::span<Entry* const> lowest() const { return by_function_.lowest(); }

  // Accounts for a call that has ended, except its share of Entry::total. REQUIRES: kSpread ==
  // keeps_spread().
  template <bool kSpread>
  [[gnu::always_inline]] static void add_call(Entry& entry, Ticks duration, Ticks child_ticks,
                                              CloseKind how) {
    entry.sum += duration;
    entry.inner += child_ticks;
    if (how == CloseKind::unwound) [[unlikely]]
      ++entry.unwound;
    if constexpr (kSpread) {
      if (duration < entry.min) [[unlikely]]
        entry.min = duration;
      if (duration > entry.max) [[unlikely]]
        entry.max = duration;
      entry.durations.add(duration);
    } else {
      ++entry.calls;
    }
  }
  void add_call(Entry& entry, Ticks duration, Ticks child_ticks, CloseKind how) const {
    keeps_spread_ ? add_call<true>(entry, duration, child_ticks, how)
                  : add_call<false>(entry, duration, child_ticks, how);
  }
  void merge(ProfileTable& other);  // empties `other`
  [[nodiscard]] Profile finish();

 private:
  Entry& add(FunctionId function);
  [[nodiscard]] uint64_t calls(const Entry& entry) const {
    return keeps_spread_ ? entry.durations.count() : entry.calls;
  }

  bool exact_;
  bool keeps_spread_;
  FunctionMap<Entry*> by_function_;
  std::deque<Entry> entries_;
  Entry nobody_;
};

// An open call, with the time of its callees so far.
struct ProfiledCall {
  FunctionId function{};
  Ticks entered = 0;
  Ticks child_ticks = 0;
};

// The part of a shard's account that depends on the calls that were open before it.
struct ProfileCarry {
  // Exits that match no call of the shard divide it into stretches, each on top of fewer earlier
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
  std::vector<ProfiledCall> opened;  // calls of the shard that are open at its end
  Ticks latest = 0;                  // time of the shard's last event
  // The event after which the shard cannot be followed without the earlier calls: the exit's
  // function has no open call in the shard, but other calls are open.
  std::optional<uint64_t> stopped_at;
};

// Plays one shard into a worker's table without knowing the calls that were open before it. An
// EventSink (fast: no filter), and a CallSink after a filter.
class ProfileSink {
  using Entry = ProfileTable::Entry;
  struct Frame {
    Entry* entry = nullptr;
    Ticks entered = 0;
    Ticks child_ticks = 0;
  };

 public:
  explicit ProfileSink(ProfileTable& table) : table_(&table), frames_(kFirstFrames) {
    frames_.front().entry = table.nobody();
    top_ = &frames_.front();
    limit_ = &frames_.back();
    carry_.stretches.emplace_back();
  }
  ProfileSink(ProfileSink&&) = default;  // the frames stay where they are
  ProfileSink& operator=(ProfileSink&&) = default;

  // Many consecutive events; the state that every event changes is in local variables. Two
  // comparisons detect all rare cases. The topmost frame does not match an exit if another call is
  // innermost, if no call is open (the lowest frame belongs to no function) or if the sink has
  // stopped. The topmost frame is the last one if the stack is full or the sink has stopped. The
  // sink must not be used otherwise before end(). REQUIRES: kSpread is the table's keeps_spread().
  template <bool kSpread>
  class RunOf {
   public:
    explicit RunOf(ProfileSink& sink)
        : sink_(sink), top_(sink.top_), limit_(sink.limit_), lowest_(sink.table_->lowest()) {}
    // `events`: number of emitted events (a leaf is two); `latest`: the time of the last of them.
    void end(uint64_t events, Ticks latest) {
      sink_.top_ = top_;
      if (events != 0) sink_.count(events, latest);
    }

    using Function = ProfileTable::Entry*;
    Function find(FunctionId function) { return &(*sink_.table_)[function]; }

    [[gnu::always_inline]] void enter(Ticks time, Function function) {
      if (top_ == limit_) [[unlikely]] {
        if (!make_room(1)) return;
      }
      ++top_;
      if (function->outer > address(top_)) {
        if (function->outer == Entry::kUnnoted) [[unlikely]]
          sink_.note(*function);
        function->outer = address(top_);
      }
      top_->entry = function;
      top_->entered = time;
      top_->child_ticks = 0;
    }
    [[gnu::always_inline]] void leave(Ticks time, Function function, LeaveKind how) {
      leave(time, function->function(), how, top_->entry == function);
    }
    [[gnu::always_inline]] void leaf(Ticks entered, Ticks left, Function function) {
      if (top_ == limit_) [[unlikely]] {
        if (!make_room(2)) return;
      }
      const Ticks duration = left - entered;
      if (function->outer == Entry::kUnnoted) [[unlikely]]
        sink_.note(*function);
      if (function->is_open()) function->nested += duration;
      ProfileTable::add_call<kSpread>(*function, duration, 0, CloseKind::returned);
      top_->child_ticks += duration;
    }
    [[gnu::always_inline]] void enter(Ticks time, FunctionId function) {
      const uint32_t number = to_number(function);
      Entry* entry = number < lowest_.size() ? lowest_[number] : nullptr;
      if (entry == nullptr) [[unlikely]] {
        entry = sink_.table_->meet(function);
        lowest_ = sink_.table_->lowest();
      }
      enter(time, entry);
    }
    [[gnu::always_inline]] void leave(Ticks time, FunctionId function, LeaveKind how) {
      leave(time, function, how, top_->entry->key == to_number(function));
    }

   private:
    [[gnu::always_inline]] void leave(Ticks time, FunctionId function, LeaveKind how,
                                      bool is_innermost) {
      if (!is_innermost) [[unlikely]] {
        top_ = sink_.leave_other(top_, time, function, how);
        limit_ = sink_.limit_;
        return;
      }
      top_ = close_top<kSpread>(
          top_, time, how == LeaveKind::exception ? CloseKind::unwound : CloseKind::returned);
    }
    // False: the sink has stopped and ignores these events.
    bool make_room(uint64_t events) {
      top_ = sink_.make_room(top_, events);
      limit_ = sink_.limit_;
      return top_ != limit_;
    }
    ProfileSink& sink_;
    Frame* top_;
    Frame* limit_;
    std::span<Entry* const> lowest_;
  };
  using Run = RunOf<true>;

  void enter(Ticks time, FunctionId function) {
    emit_one(time, [&](auto& run) { run.enter(time, function); });
  }
  void leave(Ticks time, FunctionId function, LeaveKind how) {
    emit_one(time, [&](auto& run) { run.leave(time, function, how); });
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

  // Ends the shard; no call is open in the table afterwards.
  void end_shard();
  [[nodiscard]] const ProfileCarry& carry() const { return carry_; }  // after end_shard()

 private:
  static constexpr size_t kFirstFrames = 256;

  static uintptr_t address(const Frame* frame) { return reinterpret_cast<uintptr_t>(frame); }
  template <typename Emit>
  void emit_one(Ticks time, Emit emit) {
    const auto with = [&](auto run) {
      emit(run);
      run.end(1, time);
    };
    table_->keeps_spread() ? with(RunOf<true>(*this)) : with(RunOf<false>(*this));
  }
  // Accounts for the innermost call; returns the frame below it.
  template <bool kSpread>
  [[gnu::always_inline]] static Frame* close_top(Frame* top, Ticks time, CloseKind how) {
    Entry& entry = *top->entry;
    const Ticks duration = time - top->entered;
    ProfileTable::add_call<kSpread>(entry, duration, top->child_ticks, how);
    if (entry.outer == address(top)) {
      entry.outer = Entry::kClosed;
    } else {
      entry.nested += duration;
    }
    --top;
    top->child_ticks += duration;
    return top;
  }
  Frame* close_top(Frame* top, Ticks time, CloseKind how) const;
  void count(uint64_t events, Ticks latest) {
    events_ += events;
    latest_ = latest;
  }
  void note_time(Ticks time) { latest_ = std::max(latest_, time); }
  // Makes a full stack larger and returns its top; if the sink has stopped, only counts the events
  // as ignored.
  Frame* make_room(Frame* top, uint64_t events);
  void note(Entry& entry);  // the function's first call of the stretch
  void end_stretch(Frame& bottom);
  // An exit that does not match the innermost call; returns the top of the stack after it.
  Frame* leave_other(Frame* top, Ticks time, FunctionId function, LeaveKind how);

  ProfileTable* table_;
  // The stack of open calls: frames_[0] represents the calls before the shard.
  std::vector<Frame> frames_;
  Frame* top_;
  Frame* limit_;                 // the last frame with space
  Frame* stopped_at_ = nullptr;  // if the sink has stopped, the top of its stack; then top_ and
                                 // limit_ are the first frame
  uint64_t events_ = 0;          // enter and leave events so far
  uint64_t ignored_ = 0;         // of these, after the sink stopped
  Ticks latest_ = 0;             // time of the last event
  // Functions that were called in this stretch, with their previous sums.
  std::vector<std::pair<Entry*, Ticks>> noted_;
  ProfileCarry carry_;
};

// Follows a stream from shard to shard and resolves what the shards left open.
class ProfileStream {
 public:
  explicit ProfileStream(ProfileTable& table) : table_(table) {}

  // Resolves `rest`, which must be of the next shard. If the shard was stopped early, the caller
  // then plays its events from rest.stopped_at on to this object (resume).
  void settle(const ProfileCarry& rest);
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
    const auto shards = list_shards(source.streams(), options.filter);
    std::vector<ProfileCarry> carries(shards.size());
    parallel_for(shards.size(), workers, [&](size_t item, size_t worker) {
      if constexpr (requires { source.read_ahead(size_t{}, size_t{}); }) {
        // The shard that this or another worker plays next.
        if (const size_t next = item + workers; next < shards.size())
          source.read_ahead(shards[next].first, shards[next].second);
      }
      ProfileSink sink(tables[worker]);
      source.play(shards[item].first, shards[item].second, sink, logs[worker]);
      sink.end_shard();
      carries[item] = sink.carry();
    });
    for (size_t i = 0; i < shards.size(); ++i) {
      stream.settle(carries[i]);
      if (carries[i].stopped_at) {
        detail::ResumeProfile resume(stream, *carries[i].stopped_at);
        ProblemLog unused(1);
        source.play(shards[i].first, shards[i].second, resume, unused);
      }
      if (i + 1 == shards.size() || shards[i + 1].first != shards[i].first) stream.end_stream();
    }
    for (const ProblemLog& log : logs) problems.merge(log);
  } else {
    const auto make = [&](const ShardContext& context) {
      return ProfileSink(tables[context.worker]);
    };
    const auto finish = [&](const ShardContext& context, ProfileSink& sink) -> Result<void> {
      stream.settle(sink.carry());
      if (context.last_shard) stream.end_stream();
      return {};
    };
    (void)play_calls(source, options.filter, workers, make, finish,
                     problems);  // finish cannot fail
  }
  for (ProfileTable& table : tables) settled.merge(table);
  return settled.finish();
}

}  // namespace telltale
