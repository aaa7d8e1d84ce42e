#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/estimated.h"
#include "model/events.h"

namespace telltale {

// An EventSink that forwards to another, for recordings whose writer read the clock only on some
// events (docs/formats/xray-recorder.md, "Sparse clock"; what it means for answers:
// docs/analysis/sparse-clock.md). Calls with the same time as the event before them have no time of
// their own: they are held until the next reading, then emitted in order at estimated times. Of k
// held events between readings A and B, the i-th is emitted at
//   A + (B - A) * i / (k + 1)                      when k is interval - 1, the writer's regular
//   interval A + i * min(pace, (B - A) / (k + 1))           when the clock was read early min(A + i
//   * pace, limit)                       when no reading follows; limit: see end_buffer()
// where pace is (B - A) / (k + 1) of the last regular interval, 0 before the first.
template <typename Sink>
class SparseTimes {
 public:
  // Maximum number of held events; no writer produces more without a reading.
  static constexpr size_t kMaxHeld = size_t{1} << 16;

  // `interval`: at most interval - 1 events lie between two readings. `pace`: of the thread's
  // previous buffer.
  SparseTimes(Sink& sink, uint32_t interval, Ticks pace = 0)
      : sink_(sink), interval_(interval), pace_(pace) {}
  // Starts inside a buffer; `time` is the last reading before the first event.
  void start_inside(Ticks time) {
    last_ = time;
    next_is_timed_ = false;
  }

  void enter(Ticks time, FunctionId function) { take(time, {.kind = Kind::enter, .id = function}); }
  void leave(Ticks time, FunctionId function, LeaveKind how) {
    take(time, {.kind = Kind::leave, .how = how, .id = function});
  }
  void instant(const InstantEvent& event) {
    settle(event.time);  // it has its own reading
    sink_.instant(event);
    last_ = event.time;
    next_is_timed_ = false;
  }
  // Belongs to the entry before it, and is held with it.
  void argument(uint64_t value) {
    if (held_.empty()) {
      sink_.argument(value);
    } else {
      held_.push_back({.kind = Kind::argument, .value = value});
    }
  }
  void cpu(Ticks time, uint32_t number) {
    settle(time);
    sink_.cpu(time, number);
    last_ = time;
    // The writer read the clock for the next event, which caused this record.
    next_is_timed_ = true;
  }
  void loss(const LossEvent& event) {
    end_buffer(last_);
    sink_.loss(event);
  }

  // No reading follows the held events; the thread's next reading is at `limit` or later.
  void end_buffer(Ticks limit) {
    tell_held(last_, [&](uint64_t number) {
      const Ticks room = limit > last_ ? limit - last_ : 0;
      return pace_ != 0 && number > room / pace_ ? room : number * pace_;
    });
  }
  // Calls emitted so far without their own time.
  [[nodiscard]] uint64_t estimated() const { return estimated_; }
  [[nodiscard]] Ticks pace() const { return pace_; }

 private:
  enum class Kind : uint8_t { enter, leave, argument };
  struct Held {
    Kind kind = Kind::enter;
    LeaveKind how = LeaveKind::normal;
    FunctionId id{};
    uint64_t value = 0;
  };

  void take(Ticks time, const Held& event) {
    if (time != last_ || next_is_timed_) {
      settle(time);
      emit(time, event);
      last_ = time;
      next_is_timed_ = false;
      return;
    }
    if (timeless_ == kMaxHeld) end_buffer(last_);
    held_.push_back(event);
    ++timeless_;
    ++estimated_;
  }

  // Emits the held events: the next reading is known.
  void settle(Ticks until) {
    if (held_.empty()) return;
    const Ticks span = until > last_ ? until - last_ : 0;
    const uint64_t parts = timeless_ + 1;
    if (parts == interval_) {
      pace_ = span / parts;
      tell_held(last_, [&](uint64_t number) {
        return span / parts * number + span % parts * number / parts;
      });
    } else {
      const Ticks step = std::min(pace_, span / parts);
      tell_held(last_, [&](uint64_t number) { return step * number; });
    }
  }

  // Emits the held events, the i-th at start + after(i), i counted from 1.
  template <typename After>
  void tell_held(Ticks start, After after) {
    if (held_.empty()) return;
    Ticks time = start;
    uint64_t number = 0;
    emit_estimated(sink_, true);
    for (const Held& event : held_) {
      if (event.kind != Kind::argument) time = start + after(++number);
      emit(time, event);
    }
    emit_estimated(sink_, false);
    held_.clear();
    timeless_ = 0;
  }

  void emit(Ticks time, const Held& event) {
    switch (event.kind) {
      case Kind::enter:
        sink_.enter(time, event.id);
        break;
      case Kind::leave:
        sink_.leave(time, event.id, event.how);
        break;
      case Kind::argument:
        sink_.argument(event.value);
        break;
    }
  }

  Sink& sink_;
  uint32_t interval_;
  std::vector<Held> held_;
  size_t timeless_ = 0;  // events in held_, not counting arguments
  Ticks last_ = 0;       // the last time that was read from the clock
  Ticks pace_ = 0;
  bool next_is_timed_ = true;
  uint64_t estimated_ = 0;
};

}  // namespace telltale
