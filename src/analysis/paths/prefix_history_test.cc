#include "analysis/paths/prefix_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "model/late_variables.h"
#include "support/simulated_function.h"

namespace telltale {
namespace {

using ::testing::ElementsAre;
using testing::SimulatedFunction;

NumberingOptions random_options(std::mt19937_64& random) {
  NumberingOptions options{.stores_at_exit = false, .numbers_prefixes = true};
  if (random() % 3 == 0) options.cut_above = 4;
  if (random() % 3 == 0) options.most_prefixes = 1 + random() % 4;
  return options;
}

std::vector<uint32_t> blocks_that_ran(const PathHistory& history) {
  std::vector<uint32_t> blocks;
  for (const auto& path : history.completed) {
    for (uint64_t time = 0; time < path.times; ++time)
      blocks.insert(blocks.end(), path.blocks.begin(), path.blocks.end());
  }
  const auto& partial = history.readings.front().partial;
  blocks.insert(blocks.end(), partial.begin(), partial.end());
  return blocks;
}

// Whether the path ended with a number in the ring, rather than with a repetition.
auto is_stored(const PathGraph& graph) {
  return [&](const PathHistory::Path& path) {
    return !graph.numbers.edges()[*path.ended_with].repeats;
  };
}

// What variables hold where they are not set yet does not matter.
TEST(PrefixHistory, Of24000SimulatedCrashesIsWhatRan) {
  std::mt19937_64 random(19);
  size_t complete = 0;
  size_t wrapped = 0;
  size_t unset = 0;
  size_t repeated = 0;
  size_t unrecorded = 0;
  for (size_t crashes = 0; crashes < 24'000;) {
    const auto function = SimulatedFunction::random(random, 16, random_options(random));
    const auto graph = function.graph();
    ASSERT_TRUE(graph);
    const LateVariables late =
        late_variables(static_cast<uint32_t>(graph->blocks.size()), graph->numbers.edges());
    for (size_t i = 0; i < 12; ++i, ++crashes) {
      const size_t slots = 2 + random() % 10;
      auto run = function.run(random, random() % 80, slots);
      const uint32_t block = run.trace.back();
      if (!late.has_ring[block]) {
        ASSERT_EQ(run.stored, 0U);
        run.record.next = random();
      }
      if (!late.has_sum[block]) {
        ++unset;
        run.record.ring.front() = static_cast<int64_t>(random());
      }
      if (!graph->has_record()) {
        ++unrecorded;
        run.record = {};
      }
      const PathHistory history = read_path_history(*graph, run.record, std::span(&block, 1));
      ASSERT_EQ(history.contradiction, "") << crashes;
      ASSERT_EQ(history.readings.size(), 1U) << crashes;
      ASSERT_EQ(std::ranges::count_if(history.completed, is_stored(*graph)),
                std::min(run.stored, slots - 1))
          << crashes;
      const std::vector<uint32_t> ran = blocks_that_ran(history);
      ASSERT_LE(ran.size(), run.trace.size()) << crashes;
      ASSERT_TRUE(std::ranges::equal(std::span(run.trace).last(ran.size()), ran)) << crashes;
      ASSERT_EQ(history.complete, run.stored < slots) << crashes;
      complete += static_cast<size_t>(history.complete);
      wrapped += static_cast<size_t>(run.stored >= slots);
      repeated += static_cast<size_t>(
          std::ranges::any_of(history.completed, [](const auto& path) { return path.times > 1; }));
    }
  }
  // All kinds occur.
  EXPECT_GT(complete, 3'000U);
  EXPECT_GT(wrapped, 3'000U);
  EXPECT_GT(unset, 1'000U);
  EXPECT_GT(repeated, 500U);
  EXPECT_GT(unrecorded, 100U);
}

// If the block is not known, the true reading is among those of all blocks.
TEST(PrefixHistory, AmongAllBlocksHasTheTrueReading) {
  std::mt19937_64 random(23);
  for (size_t crashes = 0; crashes < 2'000; ++crashes) {
    const auto function = SimulatedFunction::random(random, 16, random_options(random));
    const auto graph = function.graph();
    ASSERT_TRUE(graph);
    std::vector<uint32_t> all(graph->blocks.size());
    for (uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    const auto run = function.run(random, random() % 80, 10);
    const PathHistory history = read_path_history(*graph, run.record, all);
    ASSERT_TRUE(std::ranges::any_of(history.readings, [&](const auto& reading) {
      const size_t size = std::min(run.trace.size(), reading.partial.size());
      return std::ranges::equal(std::span(run.trace).last(size), reading.partial);
    }));
  }
}

// 0 -> 2 -> 3 or 4 -> 5 -> back to 2 or exit; 5 is reached in two ways from each start of 2.
PathGraph small_loop() {
  const std::vector<PathEdge> edges = {
      {0, 2, false, 0, 0}, {2, 3, false, 0, 0}, {2, 4, false, 0, 2}, {3, 5, false, 0, 0},
      {4, 5, false, 2, 0}, {5, 2, true, 1, 4},  {5, 1, false, 0, 1}};
  PathGraph graph{.blocks = {}, .numbers = *PathNumbers::from_edges(6, edges)};
  graph.prefixes = *PrefixNumbers::from_edges(6, edges);
  graph.sets_late = true;
  for (uint64_t id = 0; id < 6; ++id)
    graph.blocks.push_back({.id = id, .lines = {}, .stores_path = id == 5});
  return graph;
}

PathHistory read_small(const PathRecord& record, std::vector<uint32_t> candidates) {
  return read_path_history(small_loop(), record, candidates);
}

TEST(PrefixHistory, FollowsTheRingBackward) {
  const PathHistory history = read_small({.ring = {2, 1, 3, 99}, .next = 2, .sum = 77}, {5});
  EXPECT_EQ(history.contradiction, "");
  EXPECT_TRUE(history.complete);
  EXPECT_THAT(blocks_that_ran(history), ElementsAre(0, 2, 4, 5, 2, 3, 5, 2, 4, 5));
  // The numbers of complete paths: 0 and 1 from the entry by way of 3, 2 and 3 by way of 4.
  EXPECT_EQ(history.completed[0].number, 2U);
}

// 0 -> 2 -> 3 -> 2, any number of times; 2 -> 4 -> exit. Node 2 is also reached from 5, after 0.
PathGraph counted_loop() {
  const std::vector<PathEdge> edges = {{0, 2, false, 0, 0},
                                       {0, 5, false, 0, 2},
                                       {5, 2, false, 1, 0},
                                       {2, 3, false, 0, 0},
                                       {2, 4, false, 0, 1},
                                       {4, 1, false, 0, 0},
                                       {3, 2, true, 0, 4, 0, false, true}};
  PathGraph graph{.blocks = {}, .numbers = *PathNumbers::from_edges(6, edges)};
  graph.prefixes = *PrefixNumbers::from_edges(6, edges);
  graph.sets_late = true;
  for (uint64_t id = 0; id < 6; ++id) graph.blocks.push_back({.id = id, .lines = {}});
  return graph;
}

TEST(PrefixHistory, HasRepetitionsAsOneCompletedPath) {
  const auto read = [](uint64_t number, uint64_t times, uint32_t block) {
    const auto sum = static_cast<int64_t>(number + times * kRepetition);
    return read_path_history(counted_loop(), {.ring = {}, .next = 0, .sum = sum},
                             std::span(&block, 1));
  };
  PathHistory history = read(1, 12, 4);
  EXPECT_EQ(history.contradiction, "");
  EXPECT_TRUE(history.complete);
  ASSERT_EQ(history.completed.size(), 2U);
  EXPECT_THAT(history.completed[0].blocks, ElementsAre(0, 5, 2, 3));
  EXPECT_EQ(history.completed[0].times, 1U);
  EXPECT_THAT(history.completed[1].blocks, ElementsAre(2, 3));
  EXPECT_EQ(history.completed[1].times, 11U);
  EXPECT_THAT(history.readings.at(0).partial, ElementsAre(2, 4));
  EXPECT_EQ(times_of(history.completed), 12U);
  history = read(0, 1, 3);
  ASSERT_EQ(history.completed.size(), 1U);
  EXPECT_THAT(blocks_that_ran(history), ElementsAre(0, 2, 3, 2, 3));
  history = read(0, 0, 3);
  EXPECT_TRUE(history.completed.empty());
  EXPECT_THAT(blocks_that_ran(history), ElementsAre(0, 2, 3));
}

// No loop is on the way to node 4 here.
TEST(PrefixHistory, SaysThatRepetitionsNeedALoop) {
  const std::vector<PathEdge> edges = {{0, 4, false, 0, 0},
                                       {0, 2, false, 0, 1},
                                       {2, 3, false, 0, 0},
                                       {3, 1, false, 0, 0},
                                       {4, 5, false, 0, 0},
                                       {5, 1, false, 0, 0},
                                       {3, 2, true, 0, 3, 0, false, true}};
  PathGraph graph = counted_loop();
  graph.numbers = *PathNumbers::from_edges(6, edges);
  graph.prefixes = PrefixNumbers::from_edges(6, edges);
  ASSERT_TRUE(graph.prefixes);
  EXPECT_FALSE(graph.prefixes->repeated({kFromEntry, {0}}));
  EXPECT_TRUE(graph.prefixes->repeated({kFromEntry, {1}}));
}

TEST(PrefixHistory, SaysWhatDoesNotFit) {
  PathHistory history = read_small({.ring = {2, 1, 1}, .next = 3, .sum = 0}, {5});
  EXPECT_EQ(history.contradiction, "the ring's index is 3, but it has 3 slots");
  EXPECT_TRUE(history.readings.empty());
  history = read_small({.ring = {}, .next = 0, .sum = 0}, {5});
  EXPECT_EQ(history.contradiction, "the ring of path numbers is empty");
  history = read_small({.ring = {2, 4, 1}, .next = 1, .sum = 0}, {5});
  EXPECT_EQ(history.contradiction,
            "with path sum 4, the function cannot have stopped where it did");
  history = read_small({.ring = {-7, 1, 1}, .next = 2, .sum = 0}, {5});
  EXPECT_EQ(history.contradiction,
            "no path with the number -7 can have been before the one after it");
  EXPECT_FALSE(history.complete);
  EXPECT_THAT(blocks_that_ran(history), ElementsAre(2, 3, 5, 2, 3, 5));
}

// With both blocks possible, the paths before are the same; with another start, they are not.
TEST(PrefixHistory, OfSeveralBlocksHasTheCompletedPathsThatAllShare) {
  PathHistory history = read_small({.ring = {2, 1, 1}, .next = 2, .sum = 0}, {2, 3, 4, 5});
  EXPECT_EQ(history.readings.size(), 4U);
  EXPECT_EQ(history.completed.size(), 2U);
  EXPECT_TRUE(history.complete);
  history = read_small({.ring = {2, 1, 2}, .next = 2, .sum = 0}, {0, 5});
  EXPECT_EQ(history.readings.size(), 2U);
  EXPECT_TRUE(history.completed.empty());
  EXPECT_TRUE(history.complete);
}

}  // namespace
}  // namespace telltale
