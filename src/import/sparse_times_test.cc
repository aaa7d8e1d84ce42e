#include "import/sparse_times.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>

namespace telltale {
namespace {

using ::testing::ElementsAre;

// Logs all events it receives.
struct Notes {
  std::vector<std::string> lines;
  void enter(Ticks time, FunctionId id) {
    lines.push_back(fmt::format("{} enter {}", time, to_number(id)));
  }
  void leave(Ticks time, FunctionId id, LeaveKind how) {
    lines.push_back(
        fmt::format("{} {} {}", time, how == LeaveKind::tail ? "tail" : "leave", to_number(id)));
  }
  void argument(uint64_t value) { lines.push_back(fmt::format("argument {}", value)); }
  void instant(const InstantEvent& event) {
    lines.push_back(fmt::format("{} {} {}", event.time, event.category, event.payload.size()));
  }
  void cpu(Ticks time, uint32_t number) { lines.push_back(fmt::format("{} cpu {}", time, number)); }
  void loss(const LossEvent& event) {
    lines.push_back(fmt::format("{} loss {}", event.time, event.bytes));
  }
};
static_assert(EventSink<SparseTimes<Notes>>);

constexpr FunctionId f(uint32_t id) { return FunctionId{id}; }

TEST(SparseTimes, AUsualRowIsSpreadEvenlyAndGivesThePace) {
  Notes notes;
  SparseTimes times(notes, 4);
  times.cpu(100, 3);
  times.enter(100, f(1));  // the reading of the CPU record was made for this event
  times.enter(100, f(2));
  times.argument(77);
  times.leave(100, f(2), LeaveKind::tail);
  times.enter(100, f(4));
  times.leave(142, f(1), LeaveKind::normal);
  times.end_buffer(~uint64_t{0});
  EXPECT_THAT(notes.lines, ElementsAre("100 cpu 3", "100 enter 1", "110 enter 2", "argument 77",
                                       "121 tail 2", "131 enter 4", "142 leave 1"));
  EXPECT_EQ(times.estimated(), 3U);
  EXPECT_EQ(times.pace(), 10U);
}

TEST(SparseTimes, AnEarlyReadingEndsAGapThatIsNotSpreadOverCalls) {
  Notes notes;
  SparseTimes times(notes, 4, /*pace=*/10);
  times.cpu(0, 0);
  times.enter(0, f(1));
  times.enter(0, f(2));
  times.enter(5000, f(3));  // slept
  times.leave(5000, f(3), LeaveKind::normal);
  times.leave(5006, f(2), LeaveKind::normal);  // faster than the pace
  times.end_buffer(~uint64_t{0});
  EXPECT_THAT(notes.lines, ElementsAre("0 cpu 0", "0 enter 1", "10 enter 2", "5000 enter 3",
                                       "5003 leave 3", "5006 leave 2"));
}

TEST(SparseTimes, BehindTheLastReadingThePaceCountsUpToTheNextBuffer) {
  Notes notes;
  SparseTimes times(notes, 16, /*pace=*/10);
  times.cpu(100, 0);
  times.enter(100, f(1));
  for (uint32_t i = 0; i < 3; ++i) times.enter(100, f(2));
  times.end_buffer(125);
  times.end_buffer(125);
  times.enter(100, f(3));
  times.loss({100, 9, "torn"});
  EXPECT_THAT(notes.lines, ElementsAre("100 cpu 0", "100 enter 1", "110 enter 2", "120 enter 2",
                                       "125 enter 2", "100 enter 3", "100 loss 9"));
}

TEST(SparseTimes, EventsAndCpuChangesAreReadings) {
  Notes notes;
  SparseTimes times(notes, 16, /*pace=*/7);
  times.cpu(0, 0);
  times.enter(0, f(1));
  times.instant({0, "custom", 0, {}});
  times.enter(0, f(2));
  times.cpu(20, 1);
  times.enter(20, f(3));
  times.end_buffer(0);
  EXPECT_THAT(notes.lines, ElementsAre("0 cpu 0", "0 enter 1", "0 custom 0", "7 enter 2",
                                       "20 cpu 1", "20 enter 3"));
  EXPECT_EQ(times.estimated(), 1U);
}

TEST(SparseTimes, TimesNeverGoBackAndLargeOnesDoNotOverflow) {
  struct Monotone : IgnoreEvents {
    Ticks last = 0;
    uint64_t count = 0;
    void enter(Ticks time, FunctionId) {
      EXPECT_GE(time, last);
      last = time;
      ++count;
    }
  } sink;
  SparseTimes times(sink, 4);
  times.cpu(1, 0);
  for (size_t i = 0; i < SparseTimes<Monotone>::kMaxHeld + 5; ++i) times.enter(1, f(1));
  for (int i = 0; i < 4; ++i) times.enter(2, f(2));
  times.enter(~uint64_t{0} - 9, f(2));
  for (int i = 0; i < 9; ++i) times.enter(~uint64_t{0} - 9, f(2));
  times.end_buffer(~uint64_t{0});
  EXPECT_EQ(sink.count, SparseTimes<Monotone>::kMaxHeld + 19);
  EXPECT_EQ(sink.last, ~uint64_t{0});
}

}  // namespace
}  // namespace telltale
