#include "analysis/calls/shard_stacks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <span>
#include <vector>

namespace telltale {
namespace {

// An event of a thread, as far as stacks go.
struct Step {
  enum class Kind : uint8_t { enter, leave, leaf, allocation, recorded, lock, handle } kind{};
  uint32_t function = 0;
};

constexpr std::array<FunctionId, 2> kRecorded = {FunctionId{1}, FunctionId{77}};

template <typename Sink>
void emit_step(Sink& sink, const Step& step) {
  using Kind = Step::Kind;
  const FunctionId function{step.function};
  switch (step.kind) {
    case Kind::enter:
      return sink.enter(0, function);
    case Kind::leave:
      return sink.leave(0, function, LeaveKind::normal);
    case Kind::leaf:
      sink.enter(0, function);
      return sink.leave(0, function, LeaveKind::normal);
    case Kind::allocation:
      return sink.on(AllocationEvent{0, TypeId{step.function}, {}, 8, {}});
    case Kind::recorded:
      return sink.on(ThrowEvent{0, {}, {true, kRecorded}});
    case Kind::lock:
      return sink.on(MonitorEvent{0, MonitorEvent::Kind::contended, ObjectId{9}, {}});
    case Kind::handle:
      return sink.on(HandleEvent{0, step.function % 2 == 0, HandleEvent::Kind{}, 1, {}, {}});
  }
}

// A shard's sink as emit_step() wants it.
struct ShardSink {
  ShardStacksSink sink;
  void enter(Ticks, FunctionId function) {
    ShardStacksSink::Run run(sink);
    run.enter(function);
    run.end();
  }
  void leave(Ticks, FunctionId function, LeaveKind how) {
    ShardStacksSink::Run run(sink);
    run.leave(function, how);
    run.end();
  }
  void emit(const Step& step) {
    if (step.kind != Step::Kind::leaf) return emit_step(*this, step);
    ShardStacksSink::Run run(sink);
    run.leaf(FunctionId{step.function});
    run.end();
  }
  void on(const auto& event) { sink.count(event); }
};

using Sums = std::map<uint64_t, std::map<std::vector<FunctionId>, std::pair<uint64_t, uint64_t>>>;

Sums sums_of(const EventStacks& all, const StackSums& sums) {
  Sums found;
  for (const auto& [owner, by_stack] : sums.by_owner()) {
    for (const auto& [stack, sum] : by_stack) {
      auto& [count, value] = found[owner][all.stacks.functions(static_cast<StackTable::Id>(stack))];
      count += sum.count;
      value += sum.value;
    }
  }
  return found;
}

void expect_equal(const EventStacks& a, const EventStacks& b) {
  EXPECT_EQ(sums_of(a, a.calls), sums_of(b, b.calls));
  EXPECT_EQ(sums_of(a, a.allocations), sums_of(b, b.allocations));
  EXPECT_EQ(sums_of(a, a.throws), sums_of(b, b.throws));
  EXPECT_EQ(sums_of(a, a.contentions), sums_of(b, b.contentions));
  for (size_t kind = 0; kind < EventStacks::kHandleKinds; ++kind) {
    EXPECT_EQ(sums_of(a, a.handles_created[kind]), sums_of(b, b.handles_created[kind]));
    EXPECT_EQ(sums_of(a, a.handles_destroyed[kind]), sums_of(b, b.handles_destroyed[kind]));
  }
  EXPECT_EQ(a.recorded, b.recorded);
}

const FunctionNames& no_names() {
  static const struct NamesNothing : FunctionNames {
    [[nodiscard]] const FunctionInfo& describe(FunctionId) const override {
      static const FunctionInfo kNothing;
      return kNothing;
    }
  } kNoNames;
  return kNoNames;
}

EventStacks at_once(const std::vector<std::vector<Step>>& threads) {
  const EventStacksOptions options;
  EventStacks all;
  for (const std::vector<Step>& thread : threads) {
    EventStacksSink sink(options, no_names(), /*kept=*/true);
    for (const Step& step : thread) emit_step(sink, step);
    (void)all.append(sink.take());
  }
  return all;
}

// The same in shards of `steps` steps; counts those that had to be resumed.
EventStacks in_shards(const std::vector<std::vector<Step>>& threads, size_t steps,
                      size_t& resumed) {
  const EventStacksOptions options;
  EventStacksStream stream;
  for (const std::vector<Step>& thread : threads) {
    for (size_t at = 0; at < thread.size(); at += steps) {
      const auto shard = std::span(thread).subspan(at, std::min(steps, thread.size() - at));
      ShardSink sink;
      for (const Step& step : shard) sink.emit(step);
      const ShardStacks stacks = sink.sink.take();
      stream.settle(stacks);
      if (!stacks.stopped_at) continue;
      ++resumed;
      EventStacksSink rest(options, no_names(), /*kept=*/true);
      rest.assume_open(stream.open_functions());
      ResumeStacks resume(rest, *stacks.stopped_at);
      for (const Step& step : shard) emit_step(resume, step);
      stream.resume(rest);
    }
    stream.end_stream();
  }
  return stream.take();
}

TEST(ShardStacks, ShardsTellWhatWholeThreadsTell) {
  std::mt19937 generator(3);
  const auto random = [&] { return static_cast<uint32_t>(generator()); };
  size_t resumed = 0;
  for (int round = 0; round < 60; ++round) {
    std::vector<std::vector<Step>> threads(2);
    const uint32_t functions = 1 + random() % 12;
    const uint32_t wrong = random() % 4;  // of 40 exits, how many are of any function
    for (std::vector<Step>& thread : threads) {
      std::vector<uint32_t> open;
      for (int i = 0; i < 400; ++i) {
        const auto kind = static_cast<Step::Kind>(random() % 7);
        uint32_t function = random() % functions;
        if (kind == Step::Kind::enter) open.push_back(function);
        if (kind == Step::Kind::leave && random() % 40 >= wrong) {
          if (open.empty()) continue;
          function = open.back();
          open.pop_back();
        }
        thread.push_back({kind, function});
      }
    }
    const EventStacks whole = at_once(threads);
    for (const size_t steps : {1, 7, 50, 399, 1000}) {
      SCOPED_TRACE(steps);
      expect_equal(in_shards(threads, steps, resumed), whole);
    }
  }
  EXPECT_GT(resumed, 20U);
}

TEST(ShardStacks, DeeperThanTheFirstFrames) {
  std::vector<Step> thread;
  for (uint32_t i = 0; i < 1000; ++i) thread.push_back({Step::Kind::enter, i});
  for (uint32_t i = 1000; i-- > 0;) {
    thread.push_back({Step::Kind::allocation, i});
    thread.push_back({Step::Kind::leave, i});
  }
  size_t resumed = 0;
  for (const size_t steps : {10, 1500, 5000})
    expect_equal(in_shards({thread}, steps, resumed), at_once({thread}));
  EXPECT_EQ(resumed, 0U);
}

}  // namespace
}  // namespace telltale
