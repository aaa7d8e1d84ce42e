#include "analysis/calls/net_time.h"

#include <gtest/gtest.h>

#include "model/waiting.h"

namespace telltale {
namespace {

const Clock kNanoseconds{.name = "test", .ticks_per_second = 1'000'000'000};
constexpr FunctionId kOuter{1};
constexpr FunctionId kInner{2};
constexpr FunctionId kOther{3};
constexpr auto kNormal = LeaveKind::normal;

NetTime net_time(uint64_t inside_ns, uint64_t outside_ns) {
  return {{inside_ns * 1000, outside_ns * 1000}, kNanoseconds, 100};
}

TEST(NetTime, SubtractsFromTheCallAndFromItsCaller) {
  NetTime time = net_time(10, 6);
  EXPECT_EQ(time.enter(150, kOuter), 150);
  // 5 ns after the entry, 3 ns before the next.
  EXPECT_EQ(time.enter(250, kInner), 242);
  // All 10 ns of the inner call.
  EXPECT_EQ(time.leave(300, kInner, kNormal), 282);
  // 3 ns after the exit, 5 ns before the next.
  EXPECT_EQ(time.leave(400, kOuter, kNormal), 374);
  EXPECT_EQ(time.debt(), 0);
  EXPECT_EQ(time.cost(), 26'000);
}

TEST(NetTime, TheTimeBetweenCallsIsReducedToo) {
  NetTime time = net_time(0, 10);
  time.enter(150, kOuter);
  EXPECT_EQ(time.leave(150, kOuter, kNormal), 150);
  EXPECT_EQ(time.enter(250, kOuter), 240);
  EXPECT_EQ(time.cost(), 0);
}

TEST(NetTime, CountsFractionsOfATick) {
  NetTime time({.inside_ps = 1'500, .outside_ps = 0}, kNanoseconds, 0);
  Ticks now = 0;
  Ticks inside = 0;
  for (int i = 0; i < 100; ++i) {
    const Ticks entered = time.enter(now += 10, kOuter);
    inside += time.leave(now += 10, kOuter, kNormal) - entered;
  }
  EXPECT_EQ(inside, 100 * 10 - 150);
}

TEST(NetTime, AShortCallLeavesADebtToItsFunctionOnly) {
  NetTime time = net_time(10, 0);
  time.enter(200, kOuter);
  const Ticks entered = time.enter(300, kInner);
  EXPECT_EQ(time.leave(304, kInner, kNormal), entered);  // 6 ns are missing
  EXPECT_EQ(time.debt(), 6'000);
  // The caller does not pay.
  EXPECT_EQ(time.enter(400, kOther), entered + 96);
  EXPECT_EQ(time.leave(440, kOther, kNormal), entered + 126);
  // The function's next call does.
  EXPECT_EQ(time.enter(500, kInner), entered + 186);
  EXPECT_EQ(time.leave(530, kInner, kNormal), entered + 186 + 30 - 10 - 6);
  EXPECT_EQ(time.debt(), 0);
}

TEST(NetTime, NeverGoesBack) {
  NetTime time = net_time(1000, 1000);
  Ticks last = 0;
  for (Ticks now = 100; now < 200; now += 2) {
    const Ticks entered = time.enter(now, kOuter);
    EXPECT_GE(entered, last);
    last = time.leave(now + 1, kOuter, kNormal);
    EXPECT_GE(last, entered);
  }
  // Each call paid the nanosecond that it took.
  EXPECT_EQ(time.debt(), time.cost() - uint64_t{50} * 1000);
  // The recorded clock may go back.
  EXPECT_EQ(time.other(50), last);
}

TEST(NetTime, WaitingCostsNothing) {
  NetTime time = net_time(10, 10);
  time.enter(200, kOuter);
  const Ticks began = time.enter(300, kWaiting);
  EXPECT_EQ(began, 295);
  EXPECT_EQ(time.leave(400, kWaiting, kNormal), 395);
  EXPECT_EQ(time.leave(450, kOuter, kNormal), 440);
}

TEST(NetTime, OtherEventsKeepTheCostForTheNextCall) {
  NetTime time = net_time(10, 0);
  time.enter(200, kOuter);
  EXPECT_EQ(time.other(202), 200);  // 2 of the 5 ns after the entry
  EXPECT_EQ(time.leave(220, kOuter, kNormal), 210);
}

TEST(NetTime, AVeryLongIntervalPaysAnyDebt) {
  NetTime time = net_time(1000, 0);
  time.enter(100, kOuter);
  const Ticks end = Ticks{1} << 60;
  EXPECT_EQ(time.leave(end, kOuter, kNormal), end - 1000);
  EXPECT_EQ(time.debt(), 0);
}

TEST(NetTime, ACopyContinues) {
  NetTime time = net_time(10, 10);
  time.enter(200, kOuter);
  time.enter(202, kInner);
  NetTime copy = time;
  EXPECT_EQ(copy.leave(250, kInner, kNormal), time.leave(250, kInner, kNormal));
  EXPECT_EQ(copy.leave(300, kOuter, kNormal), time.leave(300, kOuter, kNormal));
}

}  // namespace
}  // namespace telltale
