#include "analysis/paths/path_history.h"

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

// The published example. Ids are those of the text: 2 is the entry, 3 the exit, 4 to 9 follow.
PathGraph loop() {
  const std::vector<PathEdge> edges = {
      {0, 2, false, 0, 0}, {2, 3, false, 0, 0}, {2, 4, false, 2, 2},
      {3, 5, false, 0, 0}, {3, 6, false, 1, 1}, {4, 1, false, 0, 0},
      {5, 7, false, 0, 0}, {6, 7, false, 0, 0}, {7, 2, true, 3, 3}};
  PathGraph graph{.blocks = {}, .numbers = *PathNumbers::from_edges(8, edges)};
  for (uint64_t id = 2; id < 10; ++id)
    graph.blocks.push_back({.id = id, .lines = {}, .stores_path = id == 6 || id == 9});
  return graph;
}
constexpr uint32_t kBlock6 = 4;
constexpr uint32_t kBlock9 = 7;

PathHistory read(const PathRecord& record, std::vector<uint32_t> candidates) {
  return read_path_history(loop(), record, candidates);
}

// The sequence of blocks of the first reading.
std::vector<uint64_t> ids(const PathHistory& history) {
  std::vector<uint64_t> ids;
  const PathHistory::Reading& reading = history.readings.front();
  for (size_t i = 0; i < reading.completed; ++i)
    for (const uint32_t block : history.completed[i].blocks) ids.push_back(block + 2);
  for (const uint32_t block : reading.partial) ids.push_back(block + 2);
  return ids;
}

TEST(PathHistory, OfThePublishedExampleStoppedInTheLoop) {
  const PathHistory history =
      read({.ring = {1, 3, 6, 3, 2, 4, 8, 9, 2, -1}, .next = 2, .sum = 4}, {kBlock9});
  ASSERT_EQ(history.readings.size(), 1U);
  EXPECT_EQ(history.contradiction, "");
  EXPECT_TRUE(history.complete);
  ASSERT_EQ(history.completed.size(), 2U);
  EXPECT_EQ(history.completed[0].number, 1U);
  EXPECT_EQ(history.completed[1].number, 3U);
  EXPECT_THAT(ids(history), ElementsAre(2, 4, 5, 8, 9, 4, 5, 7, 9, 4, 5, 8, 9));
}

TEST(PathHistory, OfThePublishedExampleStoppedBehindTheLoop) {
  const PathHistory history =
      read({.ring = {4, 5, 4, 4, 4, 4, 3, 4, 4, 4}, .next = 2, .sum = 0}, {kBlock6});
  ASSERT_EQ(history.readings.size(), 1U);
  EXPECT_EQ(history.contradiction, "");
  EXPECT_FALSE(history.complete);
  EXPECT_EQ(history.readings[0].completed, 9U);
  EXPECT_THAT(history.readings[0].partial, ElementsAre(2, kBlock6));
  EXPECT_THAT(ids(history), ElementsAre(4, 5, 8, 9, 4, 5, 8, 9, 4, 5, 8, 9, 4, 5, 8, 9, 4, 5, 7, 9,
                                        4, 5, 8, 9, 4, 5, 8, 9, 4, 5, 8, 9, 4, 5, 8, 9, 4, 6));
}

TEST(PathHistory, BlocksThatCannotHaveBeenReachedAreNoReadings) {
  const PathHistory history = read({.ring = {1, 3, 6, 3, 2, 4, 8, 9, 2, -1}, .next = 2, .sum = 4},
                                   {0, 1, 2, 3, 4, 5, 6, 7});
  // Path sum 4 is reached only after the edge to block 8.
  ASSERT_EQ(history.readings.size(), 2U);
  EXPECT_EQ(history.readings[0].block(), 6U);
  EXPECT_EQ(history.readings[1].block(), kBlock9);
}

TEST(PathHistory, OfARingThatIsJustFullIsComplete) {
  const PathHistory history = read({.ring = {1, 3, 4}, .next = 0, .sum = 4}, {kBlock9});
  EXPECT_TRUE(history.complete);
  EXPECT_EQ(history.completed.size(), 3U);
}

TEST(PathHistory, SaysWhatDoesNotFit) {
  PathHistory history = read({.ring = {1, 3, -1}, .next = 3, .sum = 4}, {kBlock9});
  EXPECT_EQ(history.contradiction, "the ring's index is 3, but it has 3 slots");
  EXPECT_TRUE(history.readings.empty());
  history = read({.ring = {1, 9, 3, -1}, .next = 3, .sum = 4}, {kBlock9});
  EXPECT_EQ(history.contradiction, "there is no path 9");
  EXPECT_FALSE(history.complete);
  ASSERT_EQ(history.completed.size(), 1U);
  EXPECT_EQ(history.completed[0].number, 3U);
  EXPECT_EQ(history.readings.size(), 1U);
  history = read({.ring = {1, 1, -1}, .next = 2, .sum = 4}, {kBlock9});
  EXPECT_EQ(history.contradiction, "path 1 cannot follow the one before it");
  history = read({.ring = {3, -1}, .next = 1, .sum = 4}, {kBlock9});
  EXPECT_EQ(history.contradiction, "the oldest path does not begin at the function's entry");
  history = read({.ring = {1, 3, -1}, .next = 2, .sum = 77}, {kBlock9});
  EXPECT_TRUE(history.readings.empty());
  EXPECT_NE(history.contradiction.find("77"), std::string::npos);
  history = read({.ring = {1, 3, -1}, .next = 2, .sum = -4}, {kBlock9});
  EXPECT_TRUE(history.readings.empty());
  history = read({.ring = {}, .next = 0, .sum = 0}, {kBlock9});
  EXPECT_EQ(history.contradiction, "the ring of path numbers is empty");
}

// A branch with a join: no path number is stored.
TEST(PathHistory, OfAFunctionWithoutARingIsItsPathSum) {
  const std::vector<PathEdge> edges = {{0, 2, false, 0, 0},
                                       {0, 3, false, 1, 1},
                                       {2, 4, false, 0, 0},
                                       {3, 4, false, 0, 0},
                                       {4, 1, false, 0, 0}};
  PathGraph graph{.blocks = {}, .numbers = *PathNumbers::from_edges(5, edges)};
  graph.blocks.resize(5);
  EXPECT_FALSE(graph.has_ring());
  constexpr uint32_t kJoin = 4;
  const PathHistory history =
      read_path_history(graph, {.ring = {}, .next = 0, .sum = 1}, std::span(&kJoin, 1));
  EXPECT_TRUE(history.complete);
  EXPECT_EQ(history.contradiction, "");
  EXPECT_TRUE(history.completed.empty());
  ASSERT_EQ(history.readings.size(), 1U);
  EXPECT_THAT(history.readings[0].partial, ElementsAre(kEntryNode, 3U, kJoin));
}

TEST(PathHistory, IsKnownAtTheEntryBeforeTheRecordIsSet) {
  const PathHistory history = read({.ring = {77, 78, 79}, .next = 12345, .sum = -9}, {kEntryNode});
  ASSERT_EQ(history.readings.size(), 1U);
  EXPECT_TRUE(history.complete);
  EXPECT_EQ(history.contradiction, "");
  EXPECT_THAT(history.readings[0].partial, ElementsAre(kEntryNode));
}

TEST(PathHistory, ARecordThatIsSetContradictsTheEntry) {
  const PathHistory history =
      read({.ring = {77, 78, 79}, .next = 12345, .sum = -9, .is_set = true}, {kEntryNode});
  EXPECT_TRUE(history.readings.empty());
  EXPECT_NE(history.contradiction, "");
}

TEST(PathHistory, BetweenTheStoresOfAnUpdateIsRead) {
  // Block 9 completes path 4, the third. The number is in the ring and the index not moved on; it
  // has moved on; the path sum is 0. Then it is 3, which is also that of the next path by way of
  // block 7: two readings are indistinguishable; the regular one is returned.
  const PathRecord in_ring{.ring = {1, 3, 4, 7, -1}, .next = 2, .sum = 4};
  const PathRecord moved_on{.ring = {1, 3, 4, 7, -1}, .next = 3, .sum = 0};
  for (const PathRecord& record : {in_ring, moved_on}) {
    const PathHistory history = read(record, {kBlock9});
    ASSERT_EQ(history.readings.size(), 1U) << record.next;
    EXPECT_EQ(history.readings[0].completed, 2U);
    EXPECT_THAT(history.readings[0].partial, ElementsAre(2, 3, 6, kBlock9));
  }
  EXPECT_TRUE(read(moved_on, {kBlock9}).readings[0].between_updates);
}

TEST(PathHistory, Of24000SimulatedCrashesIsWhatRan) {
  std::mt19937_64 random(11);
  size_t complete = 0;
  size_t wrapped = 0;
  for (size_t crashes = 0; crashes < 24'000;) {
    const SimulatedFunction function = SimulatedFunction::random(random, 16);
    const auto graph = function.graph();
    ASSERT_TRUE(graph);
    for (size_t i = 0; i < 12; ++i, ++crashes) {
      const size_t ring_size = 1 + random() % 10;
      const auto run = function.run(random, random() % 80, ring_size);
      const PathHistory history =
          read_path_history(*graph, run.record, std::vector{run.trace.back()});
      ASSERT_EQ(history.contradiction, "") << crashes;
      ASSERT_EQ(history.readings.size(), 1U) << crashes;
      ASSERT_FALSE(history.readings[0].between_updates) << crashes;
      ASSERT_EQ(history.completed.size(), std::min(run.stored, ring_size)) << crashes;
      std::vector<uint32_t> told;
      for (size_t path = 0; path < history.readings[0].completed; ++path) {
        const auto& blocks = history.completed[path].blocks;
        told.insert(told.end(), blocks.begin(), blocks.end());
      }
      const auto& partial = history.readings[0].partial;
      told.insert(told.end(), partial.begin(), partial.end());
      ASSERT_LE(told.size(), run.trace.size()) << crashes;
      ASSERT_TRUE(std::ranges::equal(std::span(run.trace).last(told.size()), told)) << crashes;
      ASSERT_EQ(history.complete, told.size() == run.trace.size()) << crashes;
      complete += static_cast<size_t>(history.complete);
      wrapped += static_cast<size_t>(run.stored > ring_size);
    }
  }
  // Both kinds occur.
  EXPECT_GT(complete, 3'000U);
  EXPECT_GT(wrapped, 3'000U);
}

// What variables hold where they are not set yet does not matter.
TEST(PathHistory, OfVariablesThatAreSetLateIsWhatRan) {
  std::mt19937_64 random(17);
  size_t without_sum = 0;
  size_t without_ring = 0;
  size_t stored = 0;
  for (size_t crashes = 0; crashes < 24'000;) {
    const auto function = SimulatedFunction::random(
        random, 16, {.cut_above = random() % 2 == 0 ? 4U : kMostPaths, .stores_at_exit = false});
    auto graph = function.graph();
    ASSERT_TRUE(graph);
    graph->sets_late = true;
    const LateVariables late =
        late_variables(static_cast<uint32_t>(graph->blocks.size()), graph->numbers.edges());
    for (size_t i = 0; i < 12; ++i, ++crashes) {
      auto run = function.run(random, random() % 80, 10);
      const uint32_t block = run.trace.back();
      if (!late.has_sum[block]) {
        ++without_sum;
        run.record.sum = static_cast<int64_t>(random());
      }
      if (!late.has_ring[block]) {
        ++without_ring;
        ASSERT_EQ(run.stored, 0U);
        run.record.next = random();
        for (int64_t& slot : run.record.ring) slot = static_cast<int64_t>(random());
      } else {
        ++stored;
        ASSERT_TRUE(late.has_sum[block]);
      }
      const PathHistory history = read_path_history(*graph, run.record, std::span(&block, 1));
      ASSERT_EQ(history.contradiction, "") << crashes;
      ASSERT_EQ(history.readings.size(), 1U) << crashes;
      std::vector<uint32_t> told;
      for (const auto& path : history.completed)
        told.insert(told.end(), path.blocks.begin(), path.blocks.end());
      const auto& partial = history.readings[0].partial;
      told.insert(told.end(), partial.begin(), partial.end());
      ASSERT_LE(told.size(), run.trace.size()) << crashes;
      ASSERT_TRUE(std::ranges::equal(std::span(run.trace).last(told.size()), told)) << crashes;
      ASSERT_EQ(history.complete, told.size() == run.trace.size()) << crashes;
    }
  }
  EXPECT_GT(without_sum, 3'000U);
  EXPECT_GT(without_ring, without_sum);
  EXPECT_GT(stored, 3'000U);
}

// If the block is not known, the true reading is among those of all blocks.
TEST(PathHistory, AmongAllBlocksHasTheTrueReading) {
  std::mt19937_64 random(13);
  for (size_t crashes = 0; crashes < 2'000; ++crashes) {
    const SimulatedFunction function = SimulatedFunction::random(random, 16);
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

}  // namespace
}  // namespace telltale
