#include "analysis/calls/replay.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "support/scripted_source.h"

namespace telltale {
namespace {

using testing::ScriptedSource;

// A line a step: thread, time, depth as indentation, kind and function.
std::string shown(const ScriptedSource& source, const ReplaySelection& selection = {},
                  bool merge = false) {
  static constexpr std::string_view kKinds[] = {"open",   "enter", "leave",
                                                "orphan", "event", "loss"};
  std::string text;
  ProblemLog problems;
  replay(
      source, selection, merge,
      [&](const ReplayStep& step) {
        text += fmt::format("{} {:>3} {}{} {}", source.streams()[step.stream].thread.tid, step.time,
                            std::string(2 * step.depth, ' '),
                            kKinds[static_cast<size_t>(step.kind)], to_number(step.function));
        if (step.call != 0) text += fmt::format(" call {}", step.call);
        if (step.kind == ReplayStep::Kind::leave) text += fmt::format(" took {}", step.duration);
        for (const uint64_t value : step.arguments) text += fmt::format(" ({})", value);
        if (!step.text.empty()) text += " " + step.text;
        text += "\n";
        return true;
      },
      [&](const auto& thread) {
        if (!thread.reached_end()) return;
        for (const OpenAtEnd& call : thread.open_at_end())
          text += fmt::format("{} still open: {} since {}\n",
                              source.streams()[thread.stream].thread.tid, to_number(call.function),
                              call.entered);
      },
      problems);
  return text;
}

ScriptedSource two_threads() {
  ScriptedSource source;
  source.thread({1, 7}, "main")
      .enter(0, 1)
      .argument(42)
      .enter(10, 2)
      .shard()
      .leave(15, 2)
      .enter(20, 2)
      .shard()
      .leave(40, 1)
      .enter(50, 3);
  source.thread({1, 8}).enter(12, 4).leave(18, 4);
  return source;
}

TEST(Replay, ShowsEveryThreadInItsOrder) {
  EXPECT_EQ(shown(two_threads()),
            "7   0 enter 1 call 1 (42)\n"
            "7  10   enter 2 call 2\n"
            "7  15   leave 2 call 2 took 5\n"
            "7  20   enter 2 call 3\n"
            "7  40   leave 2 call 3 took 20\n"
            "7  40 leave 1 call 1 took 40\n"
            "7  50 enter 3 call 4\n"
            "8  12 enter 4 call 1\n"
            "8  18 leave 4 call 1 took 6\n"
            "7 still open: 3 since 50\n");
}

TEST(Replay, MergesThreadsByTime) {
  const std::string merged = shown(two_threads(), {}, true);
  EXPECT_NE(merged.find("7  10   enter 2 call 2\n8  12 enter 4 call 1\n7  15"), std::string::npos)
      << merged;
  EXPECT_NE(merged.find("8  18 leave 4 call 1 took 6\n7  20"), std::string::npos) << merged;
}

TEST(Replay, AWindowBeginsWithWhatIsOpen) {
  EXPECT_EQ(shown(two_threads(), {.filter = {}, .from = 14, .to = 21, .call = {}}),
            "7   0 open 1 call 1 (42)\n"
            "7  10   open 2 call 2\n"
            "7  15   leave 2 call 2 took 5\n"
            "7  20   enter 2 call 3\n"
            "8  12 open 4 call 1\n"
            "8  18 leave 4 call 1 took 6\n");
}

TEST(Replay, OneCallWithWhatIsInside) {
  EXPECT_EQ(shown(two_threads(), {.filter = {}, .from = 0, .to = ~Ticks{0}, .call = 3}),
            "7  20 enter 2 call 3\n"
            "7  40 leave 2 call 3 took 20\n");
  EXPECT_EQ(shown(two_threads(), {.filter = {}, .from = 0, .to = ~Ticks{0}, .call = 9}),
            "7 still open: 3 since 50\n")
      << "no thread has so many";
}

TEST(Replay, FiltersKeepTheNumbersOfCalls) {
  ReplaySelection selection;
  selection.filter.max_depth = 1;
  selection.filter.threads = {{1, 7}};
  EXPECT_EQ(shown(two_threads(), selection),
            "7   0 enter 1 call 1 (42)\n"
            "7  40 leave 1 call 1 took 40\n"
            "7  50 enter 3 call 4\n"
            "7 still open: 3 since 50\n");
}

}  // namespace
}  // namespace telltale
