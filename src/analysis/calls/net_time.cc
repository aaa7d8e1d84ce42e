#include "analysis/calls/net_time.h"

#include <algorithm>

#include "model/waiting.h"

namespace telltale {
namespace {

constexpr uint64_t kThousand = 1000;
// Longer intervals pay any debt; their thousandths might not fit 64 bits.
constexpr Ticks kLongInterval = Ticks{1} << 53;
constexpr uint64_t kMostDebt = uint64_t{1} << 62;

uint64_t thousandths_of_ticks(uint64_t picoseconds, const Clock& clock) {
  // An unknown clock's tick is shown as a nanosecond.
  const double ticks_per_second = clock.known() ? static_cast<double>(clock.ticks_per_second) : 1e9;
  const double thousandths = static_cast<double>(picoseconds) * ticks_per_second * 1e-9;
  return static_cast<uint64_t>(std::min(thousandths + 0.5, 1e15));
}

}  // namespace

NetTime::NetTime(const RecorderCost& cost, const Clock& clock, Ticks first)
    : net_(first), latest_(first) {
  const uint64_t inside = thousandths_of_ticks(cost.inside_ps, clock);
  const uint64_t outside = thousandths_of_ticks(cost.outside_ps, clock);
  after_enter_ = inside / 2;
  before_leave_ = inside - after_enter_;
  before_enter_ = outside / 2;
  after_leave_ = outside - before_enter_;
}

Ticks NetTime::enter(Ticks time, FunctionId function) {
  const bool recorded = function != kWaiting;
  const Ticks net = advance(time, recorded ? before_enter_ : 0);
  calls_.enter({function, net});
  if (recorded) pending_ = after_enter_;
  return net;
}

Ticks NetTime::leave(Ticks time, FunctionId function, LeaveKind how) {
  const bool recorded = function != kWaiting;
  const Ticks net = advance(time, recorded ? before_leave_ : 0);
  calls_.leave(function, how, [](const OpenCall&, CloseKind, size_t) {});
  if (recorded) pending_ = after_leave_;
  return net;
}

Ticks NetTime::advance(Ticks time, uint64_t cost) {
  const Ticks interval = time > latest_ ? time - latest_ : 0;
  latest_ = std::max(latest_, time);
  if (!begun_) {
    // Before its first event the thread paid for nothing that is known.
    begun_ = true;
    return net_ += interval;
  }
  const bool in_call = !calls_.frames().empty();
  uint64_t& debt = in_call ? debts_[calls_.frames().back().function] : debt_outside_;
  cost += pending_;
  pending_ = 0;
  const uint64_t owed = std::min(debt + cost, kMostDebt);
  if (in_call) {
    cost_ += cost;
    debt_ -= debt;
  }
  if (interval >= kLongInterval) {
    net_ += interval - std::min<uint64_t>(owed / kThousand, interval);
    debt = 0;
    return net_;
  }
  const uint64_t has = interval * kThousand;
  const uint64_t left = has > owed ? has - owed : 0;
  debt = owed > has ? owed - has : 0;
  if (in_call) debt_ += debt;
  const uint64_t sum = net_thousandths_ + left;
  net_ += sum / kThousand;
  net_thousandths_ = sum % kThousand;
  return net_;
}

}  // namespace telltale
