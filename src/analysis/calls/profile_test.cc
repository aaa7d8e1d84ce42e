#include "analysis/calls/profile.h"

#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <random>
#include <string>

namespace telltale {
namespace {

class NoNames : public FunctionNames {
 public:
  const FunctionInfo& describe(FunctionId id) const override {
    const std::lock_guard lock(mutex_);
    FunctionInfo& info = known_[to_number(id)];
    if (info.name.empty()) info.name = std::string("f") + std::to_string(to_number(id));
    return info;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::map<uint32_t, FunctionInfo> known_;
};

struct Event {
  char what;  // '(' enter, ')' leave, 't' tail leave
  Ticks time;
  uint32_t function;
};

// Events of one or more threads in memory, in shards of a given number of events, which are emitted
// in rows of a given number; 0: one by one, to the sink itself.
class FakeSource {
 public:
  FakeSource(std::vector<std::vector<Event>> threads, size_t shard_events, size_t row_events = 0)
      : threads_(std::move(threads)), shard_events_(shard_events), row_events_(row_events) {
    for (size_t i = 0; i < threads_.size(); ++i) {
      streams_.push_back({{1, static_cast<int64_t>(i + 1)},
                          {},
                          (threads_[i].size() + shard_events - 1) / shard_events});
    }
  }
  [[nodiscard]] const Clock& clock() const { return clock_; }
  [[nodiscard]] Ticks first_time() const { return 0; }
  [[nodiscard]] std::span<const EventStream> streams() const { return streams_; }
  [[nodiscard]] const FunctionNames& functions() const { return names_; }
  [[nodiscard]] uint64_t shard_bytes(size_t, size_t) const { return uint64_t{3} << 20; }
  template <typename Sink>
  void play(size_t stream, size_t shard, Sink& sink, ProblemLog&) const {
    const std::vector<Event>& events = threads_[stream];
    const size_t end = std::min(events.size(), (shard + 1) * shard_events_);
    size_t at = shard * shard_events_;
    if (row_events_ == 0) {
      for (; at < end; ++at) emit(sink, events[at]);
      return;
    }
    while (at < end) {
      const size_t row_end = std::min(end, at + row_events_);
      EventRun<Sink> run(sink);
      const size_t begin = at;
      while (at < row_end) at = emit_in_row(run, events, at, row_end);
      run.end(at - begin, events[at - 1].time);
    }
  }

 private:
  template <typename To>
  static void emit(To& to, const Event& event) {
    const FunctionId function{event.function};
    if (event.what == '(') to.enter(event.time, function);
    if (event.what == ')') to.leave(event.time, function, LeaveKind::normal);
    if (event.what == 't') to.leave(event.time, function, LeaveKind::tail);
  }
  // Some entries together with the exit after them; returns the number of the next event.
  template <typename Run>
  static size_t emit_in_row(Run& run, const std::vector<Event>& events, size_t at, size_t end) {
    if (at % 3 != 0 && at + 1 < end && events[at].what == '(' && events[at + 1].what == ')' &&
        events[at].function == events[at + 1].function) {
      run.leaf(events[at].time, events[at + 1].time, run.find(FunctionId{events[at].function}));
      return at + 2;
    }
    emit(run, events[at]);
    return at + 1;
  }

  std::vector<std::vector<Event>> threads_;
  size_t shard_events_;
  size_t row_events_;
  std::vector<EventStream> streams_;
  Clock clock_{"ticks", 1'000'000'000};
  NoNames names_;
};
static_assert(EventSource<FakeSource>);

// The definitions of docs/analysis/profile.md, in the slowest, plainest way.
std::map<uint32_t, FunctionProfile> slow_profile(const std::vector<std::vector<Event>>& threads) {
  std::map<uint32_t, FunctionProfile> rows;
  std::map<uint32_t, std::vector<Ticks>> durations;
  for (const auto& events : threads) {
    struct Open {
      uint32_t function;
      Ticks entered;
      Ticks child;
    };
    std::vector<Open> stack;
    const auto close_top = [&](Ticks time, bool unwound) {
      const Open call = stack.back();
      stack.pop_back();
      FunctionProfile& row = rows[call.function];
      const Ticks duration = time - call.entered;
      ++row.calls;
      row.unwound += unwound ? 1 : 0;
      row.sum += duration;
      row.self += duration - call.child;
      bool outermost = true;
      for (const Open& outer : stack) outermost = outermost && outer.function != call.function;
      if (outermost) row.total += duration;
      durations[call.function].push_back(duration);
      if (!stack.empty()) stack.back().child += duration;
    };
    for (const Event& event : events) {
      if (event.what == '(') {
        stack.push_back({event.function, event.time, 0});
        continue;
      }
      bool found = false;
      for (const Open& open : stack) found = found || open.function == event.function;
      if (!found) {
        ++rows[event.function].orphan_exits;
        continue;
      }
      while (stack.back().function != event.function) close_top(event.time, true);
      close_top(event.time, false);
    }
    while (!stack.empty()) {  // still open: their time so far counts, they do not
      const FunctionProfile before = rows[stack.back().function];
      const uint32_t function = stack.back().function;
      close_top(events.back().time, false);
      FunctionProfile& row = rows[function];
      row.calls = before.calls;
      row.sum = before.sum;
      durations[function].pop_back();
      ++row.unfinished;
    }
  }
  for (auto& [function, all] : durations) {
    if (all.empty()) continue;
    std::ranges::sort(all);
    FunctionProfile& row = rows[function];
    row.min = all.front();
    row.max = all.back();
    row.median = all[static_cast<size_t>(static_cast<double>(all.size()) * 0.5)];
    row.p90 = all[static_cast<size_t>(static_cast<double>(all.size()) * 0.9)];
    row.p99 = all[static_cast<size_t>(static_cast<double>(all.size()) * 0.99)];
  }
  return rows;
}

std::vector<Event> random_events(uint32_t seed, size_t count) {
  std::mt19937 engine(seed);
  const auto random = [&] { return static_cast<uint32_t>(engine()); };
  std::vector<Event> events;
  std::vector<uint32_t> stack;
  Ticks time = 1000;
  for (size_t i = 0; i < count; ++i) {
    time += random() % 1000;
    const uint32_t dice = random() % 100;
    if (dice < 48 || (stack.empty() && dice < 95)) {
      const uint32_t function = 1 + random() % 12;
      events.push_back({'(', time, function});
      stack.push_back(function);
    } else if (dice < 92 && !stack.empty()) {
      events.push_back({dice % 7 == 0 ? 't' : ')', time, stack.back()});
      stack.pop_back();
    } else if (dice < 97 && !stack.empty()) {  // an exception through some frames
      const size_t keep = random() % stack.size();
      events.push_back({')', time, stack[keep]});
      // The exit closes the innermost call of that function.
      const uint32_t function = stack[keep];
      while (stack.back() != function) stack.pop_back();
      stack.pop_back();
    } else {  // an exit that may match nothing
      const uint32_t function = 1 + random() % 20;
      events.push_back({')', time, function});
      bool open = false;
      for (const uint32_t f : stack) open = open || f == function;
      while (open && stack.back() != function) stack.pop_back();
      if (open) stack.pop_back();
    }
  }
  return events;
}

void expect_equal(const Profile& profile, const std::map<uint32_t, FunctionProfile>& expected,
                  bool exact) {
  ASSERT_EQ(profile.functions.size(), expected.size());
  for (const FunctionProfile& row : profile.functions) {
    const FunctionProfile& want = expected.at(to_number(row.function));
    SCOPED_TRACE(to_number(row.function));
    EXPECT_EQ(row.calls, want.calls);
    EXPECT_EQ(row.unwound, want.unwound);
    EXPECT_EQ(row.unfinished, want.unfinished);
    EXPECT_EQ(row.orphan_exits, want.orphan_exits);
    EXPECT_EQ(row.sum, want.sum);
    EXPECT_EQ(row.total, want.total);
    EXPECT_EQ(row.self, want.self);
    EXPECT_EQ(row.min, want.min);
    EXPECT_EQ(row.max, want.max);
    const double tolerance = exact ? 0 : 0.01;
    EXPECT_NEAR(static_cast<double>(row.median), static_cast<double>(want.median),
                tolerance * static_cast<double>(want.median));
    EXPECT_NEAR(static_cast<double>(row.p90), static_cast<double>(want.p90),
                tolerance * static_cast<double>(want.p90));
    EXPECT_NEAR(static_cast<double>(row.p99), static_cast<double>(want.p99),
                tolerance * static_cast<double>(want.p99));
  }
}

TEST(Profile, EqualsTheSlowDefinitionForAnyShardsAndWorkers) {
  for (uint32_t seed = 1; seed <= 8; ++seed) {
    const std::vector<std::vector<Event>> threads = {random_events(seed, 3000),
                                                     random_events(seed + 100, 500)};
    const auto expected = slow_profile(threads);
    for (const size_t shard_events : {7U, 100U, 5000U}) {
      const FakeSource source(threads, shard_events);
      for (const size_t workers : {1U, 2U, 8U}) {
        for (const bool exact : {false, true}) {
          SCOPED_TRACE(::testing::Message()
                       << "seed " << seed << " shard " << shard_events << " workers " << workers);
          ProblemLog problems;
          expect_equal(compute_profile(source, {{}, workers, exact}, problems), expected, exact);
          // A filter that keeps everything takes the other route, through play_calls.
          CallFilter everything;
          everything.functions = {"f*"};
          expect_equal(compute_profile(source, {everything, workers, exact}, problems), expected,
                       exact);
        }
      }
    }
  }
}

TEST(Profile, RowsOfEventsSayWhatTheEventsSay) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    const std::vector<std::vector<Event>> threads = {random_events(seed, 2000)};
    const auto expected = slow_profile(threads);
    for (const size_t shard_events : {50U, 700U, 5000U}) {
      for (const size_t row_events : {1U, 7U, 300U}) {
        SCOPED_TRACE(::testing::Message()
                     << "seed " << seed << " shard " << shard_events << " row " << row_events);
        const FakeSource source(threads, shard_events, row_events);
        ProblemLog problems;
        expect_equal(compute_profile(source, {{}, 1, true}, problems), expected, true);
      }
    }
  }
}

// The stack of open calls grows while outermost calls are open on it.
TEST(Profile, StacksOfAnyDepth) {
  for (const uint32_t depth : {254U, 255U, 256U, 257U, 5000U}) {
    std::vector<Event> events;
    Ticks time = 100;
    for (uint32_t level = 0; level < depth; ++level)
      events.push_back({'(', time += level % 7, 1 + level % 5});
    events.push_back({'(', time += 3, 9});
    events.push_back({')', time += 4, 9});
    for (uint32_t level = depth; level-- > 0;)
      events.push_back({')', time += level % 3, 1 + level % 5});
    const auto expected = slow_profile({events});
    for (const size_t shard_events : {300U, 100'000U}) {
      for (const size_t row_events : {0U, 64U, 100'000U}) {
        SCOPED_TRACE(::testing::Message()
                     << depth << " shard " << shard_events << " row " << row_events);
        const FakeSource source({events}, shard_events, row_events);
        ProblemLog problems;
        expect_equal(compute_profile(source, {{}, 1, true}, problems), expected, true);
      }
    }
  }
}

TEST(Profile, FilteredCallsGiveTheirTimeToTheirCaller) {
  const FakeSource source(
      {{{'(', 0, 1}, {'(', 10, 2}, {'(', 20, 3}, {')', 50, 3}, {')', 60, 2}, {')', 100, 1}}}, 2);
  ProblemLog problems;
  CallFilter filter;
  filter.functions = {"f1", "f3"};
  const Profile profile = compute_profile(source, {filter, 1, false}, problems);
  ASSERT_EQ(profile.functions.size(), 2U);
  EXPECT_EQ(profile.functions[0].self, 70U);
  EXPECT_EQ(profile.functions[1].self, 30U);

  CallFilter shallow;
  shallow.max_depth = 1;
  const Profile outermost = compute_profile(source, {shallow, 1, false}, problems);
  ASSERT_EQ(outermost.functions.size(), 1U);
  EXPECT_EQ(outermost.functions[0].self, 100U);

  CallFilter late;
  late.from_ns = 10;
  late.to_ns = 20;
  const Profile window = compute_profile(source, {late, 1, false}, problems);
  ASSERT_EQ(window.functions.size(), 1U);
  EXPECT_EQ(to_number(window.functions[0].function), 2U);
  EXPECT_EQ(window.functions[0].total, 50U);
}

}  // namespace
}  // namespace telltale
