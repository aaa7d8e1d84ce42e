#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analysis/calls/stack_table.h"
#include "analysis/runtime/event_stacks.h"
#include "model/open_calls.h"
#include "model/runtime_events.h"

namespace telltale {

// The positions of events in one shard of a thread, without the calls that were open before it:
// EventStacksStream knows them, and settles the rest. It is what ProfileCarry is to times, and only
// for answers about every call.
struct ShardStacks {
  // Exits that no call of the shard accounts for cut it into stretches, each on top of fewer
  // earlier calls than the one before. Stacks of stretch i stand on StackTable::base(i).
  struct Exit {
    FunctionId function{};
    LeaveKind how = LeaveKind::normal;
  };
  struct Open {
    FunctionId function{};
    StackTable::Id stack = StackTable::Id::empty;  // with it
  };
  EventStacks sums;                  // without calls
  std::vector<uint64_t> calls_made;  // by stack: how often its innermost call was made
  std::vector<Exit> exits;           // each ends a stretch
  std::vector<Open> opened;          // calls of the shard that are open where it was left
  // Event (ResumeStacks) at which the shard cannot be followed without knowing the earlier calls:
  // the exit's function has no open call in the shard, but other calls are open.
  std::optional<uint64_t> stopped_at;
};

// Hears one shard.
class ShardStacksSink {
  // The stack of open calls: frames_[0] represents the calls before the shard. What changes with
  // every event is here, in a value that a Run keeps in registers.
  struct Position {
    ShardStacks::Open* top = nullptr;
    uint64_t events = 0;
    bool stopped = false;
  };

 public:
  explicit ShardStacksSink(const FramesKept& frames_kept = {}) : frames_(kFirstFrames) {
    shard_.sums.frames_kept = frames_kept;
    position_.top = frames_.data();
    begin_stretch();
  }
  ShardStacksSink(ShardStacksSink&&) = default;  // the frames stay where they are
  ShardStacksSink& operator=(ShardStacksSink&&) = default;

  // Many calls in a row. The sink must not be used in another way before end().
  class Run {
   public:
    explicit Run(ShardStacksSink& sink)
        : sink_(sink), at_(sink.position_), limit_(sink.frames_.data() + sink.frames_.size() - 1) {}
    void end() { sink_.position_ = at_; }

    [[gnu::always_inline]] void enter(FunctionId function) {
      if (at_.stopped) [[unlikely]]
        return;
      ++at_.events;
      const StackTable::Id stack = sink_.count_call(at_.top->stack, function);
      if (at_.top == limit_) [[unlikely]]
        grow();
      *++at_.top = {function, stack};
    }
    [[gnu::always_inline]] void leave(FunctionId function, LeaveKind how) {
      if (at_.stopped) [[unlikely]]
        return;
      if (at_.top->function == function) [[likely]] {
        ++at_.events;
        --at_.top;
      } else {
        at_ = sink_.leave_other(at_, function, how);
      }
    }
    // An entry and the exit after it.
    [[gnu::always_inline]] void leaf(FunctionId function) {
      if (at_.stopped) [[unlikely]]
        return;
      at_.events += 2;
      (void)sink_.count_call(at_.top->stack, function);
    }

   private:
    void grow();
    ShardStacksSink& sink_;
    Position at_;
    ShardStacks::Open* limit_;  // the last frame that there is room for
  };

  // An event that EventStacks counts.
  template <typename Event>
  void count(const Event& event) {
    if (position_.stopped) [[unlikely]]
      return;
    ++position_.events;
    shard_.sums.count(event, position_.top->stack);
  }

  ShardStacks take();

 private:
  static constexpr size_t kFirstFrames = 256;

  [[gnu::always_inline]] StackTable::Id count_call(StackTable::Id caller, FunctionId function) {
    const StackTable::Id stack = shard_.sums.stacks.push(caller, function);
    const auto number = static_cast<uint32_t>(stack);
    if (number >= shard_.calls_made.size()) [[unlikely]]
      shard_.calls_made.resize(2 * shard_.sums.stacks.size());
    ++shard_.calls_made[number];
    return stack;
  }
  void begin_stretch();
  // An exit that is not the innermost call's.
  [[gnu::noinline]] Position leave_other(Position at, FunctionId function, LeaveKind how);

  std::vector<ShardStacks::Open> frames_;
  Position position_;
  ShardStacks shard_;
};

// Forwards a shard's events from the n-th one that a ShardStacksSink handles: calls, and what
// EventStacks counts.
class ResumeStacks : public IgnoreEvents {
 public:
  ResumeStacks(EventStacksSink& to, uint64_t first_event) : to_(to), skip_(first_event) {}
  void enter(Ticks time, FunctionId function) {
    if (!skips()) to_.enter(time, function);
  }
  void leave(Ticks time, FunctionId function, LeaveKind how) {
    if (!skips()) to_.leave(time, function, how);
  }
  void on(const AllocationEvent& event) { pass_on(event); }
  void on(const ThrowEvent& event) { pass_on(event); }
  void on(const MonitorEvent& event) {
    if (event.kind == MonitorEvent::Kind::contended) pass_on(event);
  }
  void on(const HandleEvent& event) { pass_on(event); }

 private:
  bool skips() {
    if (skip_ == 0) return false;
    --skip_;
    return true;
  }
  template <typename Event>
  void pass_on(const Event& event) {
    if (!skips()) to_.on(event);
  }
  EventStacksSink& to_;
  uint64_t skip_;
};

// Follows streams from shard to shard and merges the results of shards.
class EventStacksStream {
 public:
  // Settles `shard`, which must be the next one. If it was stopped early, the caller then plays its
  // events from stopped_at on (ResumeStacks) to a sink that assumes open_functions() open, and
  // hands that to resume().
  void settle(const ShardStacks& shard);
  [[nodiscard]] std::vector<FunctionId> open_functions() const;
  void resume(EventStacksSink& rest);
  // Is ready for another stream.
  void end_stream() { open_ = {}; }
  // The stacks of all streams. To be called once.
  EventStacks take();

 private:
  struct Frame {
    FunctionId function{};
    Ticks entered = 0;
    StackTable::Id stack = StackTable::Id::empty;  // with it
  };
  [[nodiscard]] StackTable::Id current() const {
    return open_.frames().empty() ? StackTable::Id::empty : open_.frames().back().stack;
  }
  EventStacks all_;
  std::vector<uint64_t> calls_made_;  // as ShardStacks'
  OpenCalls<Frame> open_;
};

}  // namespace telltale
