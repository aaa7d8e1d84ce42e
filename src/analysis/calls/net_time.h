#pragma once

#include <cstdint>

#include "model/clock.h"
#include "model/events.h"
#include "model/function_map.h"
#include "model/open_calls.h"
#include "model/recorder_cost.h"

namespace telltale {

// The time of one thread without its recorder's cost: an estimate. docs/analysis/net-time.md
// defines it.
//
// The time between two events belongs to the innermost open call. It is reduced by what the
// recorder did in it, half of RecorderCost::inside_ps after an entry and before an exit, half of
// outside_ps before an entry and after an exit. What is left never is below 0: what could not be
// subtracted is a debt of that function, and the function's next intervals pay it. So the self time
// of a function is its recorded self time, less `inside_ps` for each of its calls and `outside_ps`
// for each call that they made, as long as its intervals are long enough.
//
// A value: a copy continues from where the original is. O(1) per event; memory O(functions + depth
// of the stack).
class NetTime {
 public:
  // `first`: no event is earlier, and times count from it.
  NetTime(const RecorderCost& cost, const Clock& clock, Ticks first);

  // Each takes the recorded time of the thread's next event and returns its net time. Net times
  // never go back.
  Ticks enter(Ticks time, FunctionId function);
  Ticks leave(Ticks time, FunctionId function, LeaveKind how);
  // The net time of an event that neither enters nor leaves; the recorder's work for it is not
  // known and not subtracted.
  Ticks other(Ticks time) { return advance(time, 0); }

  // In thousandths of a tick, within calls: the cost so far, and what of it is still a debt.
  [[nodiscard]] uint64_t cost() const { return cost_; }
  [[nodiscard]] uint64_t debt() const { return debt_; }

 private:
  Ticks advance(Ticks time, uint64_t cost);

  // In thousandths of a tick.
  uint64_t before_enter_;
  uint64_t after_enter_;
  uint64_t before_leave_;
  uint64_t after_leave_;
  uint64_t pending_ = 0;  // of the last event, in the interval that began with it
  uint64_t cost_ = 0;
  uint64_t debt_ = 0;          // sum of debts_
  uint64_t debt_outside_ = 0;  // of the time in no call
  uint64_t net_thousandths_ = 0;
  Ticks net_;
  Ticks latest_;
  bool begun_ = false;
  OpenCalls<> calls_;
  FunctionMap<uint64_t> debts_;
};

}  // namespace telltale
