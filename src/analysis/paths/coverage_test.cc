#include "analysis/paths/coverage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <utility>

namespace telltale {
namespace {

using Flag = std::optional<bool>;
constexpr auto kNoFlag = std::nullopt;

FlaggedGraph diamond(Flag left, Flag right, Flag join) {
  return {.blocks = {{{1, 2}, kNoFlag}, {{3}, left}, {{3}, right}, {{}, join}},
          .flags_follow_calls = false};
}

using Answers = std::vector<Ran>;

TEST(Coverage, AFlagThatIsSetSaysThatItsDominatorsRan) {
  EXPECT_EQ(blocks_that_ran(diamond(true, false, kNoFlag)),
            (Answers{Ran::yes, Ran::yes, Ran::no, Ran::maybe}));
}

TEST(Coverage, WithoutAnyFlagNothingIsCertain) {
  EXPECT_EQ(blocks_that_ran(diamond(kNoFlag, kNoFlag, kNoFlag)), Answers(4, Ran::maybe));
}

TEST(Coverage, WhatOnlyBlocksThatDidNotRunLeadToDidNotRun) {
  EXPECT_EQ(blocks_that_ran(diamond(false, false, kNoFlag)),
            (Answers{Ran::maybe, Ran::no, Ran::no, Ran::no}));
}

TEST(Coverage, TheOnlyWayThatIsLeftRan) {
  // The join was reached, and not from the right.
  EXPECT_EQ(blocks_that_ran(diamond(kNoFlag, false, true)),
            (Answers{Ran::yes, Ran::yes, Ran::no, Ran::yes}));
}

TEST(Coverage, ACallThatDidNotReturnMayHaveBeenMade) {
  FlaggedGraph graph{.blocks = {{{1}, kNoFlag}, {{2}, false}, {{}, kNoFlag}},
                     .flags_follow_calls = true};
  EXPECT_EQ(blocks_that_ran(graph), (Answers{Ran::maybe, Ran::maybe, Ran::no}));
  EXPECT_EQ(blocks_that_ended(graph, blocks_that_ran(graph)),
            (Answers{Ran::maybe, Ran::no, Ran::no}));
  graph.blocks[1].flag = true;
  EXPECT_EQ(blocks_that_ran(graph), (Answers{Ran::yes, Ran::yes, Ran::maybe}));
}

// An exception: the call did not return, but went on at the second successor.
TEST(Coverage, ACallThatWentOnElsewhereLeftItsBlock) {
  FlaggedGraph graph{.blocks = {{{1, 2}, false, true}, {{}, kNoFlag}, {{3}, kNoFlag}, {{}, true}},
                     .flags_follow_calls = true};
  EXPECT_EQ(blocks_that_ran(graph), (Answers{Ran::yes, Ran::no, Ran::yes, Ran::yes}));
  graph.blocks[0].may_resume = false;
  EXPECT_EQ(blocks_that_ran(graph)[2], Ran::no);
}

// Certain answers hold in all sets of activations that set the same flags.
TEST(Coverage, AnswersHoldForRandomRuns) {
  std::mt19937 engine(3);
  const auto random = [&](size_t below) { return static_cast<uint32_t>(engine() % below); };
  size_t certain = 0;
  for (int i = 0; i < 3000; ++i) {
    const uint32_t count = 2 + random(7);
    FlaggedGraph graph{.blocks = {}, .flags_follow_calls = random(2) == 0};
    graph.blocks.resize(count);
    for (uint32_t block = 1; block < count; ++block)
      graph.blocks[random(block)].successors.push_back(block);
    for (uint32_t extra = random(count); extra-- > 0;)
      graph.blocks[random(count)].successors.push_back(random(count - 1) + 1);
    for (auto& block : graph.blocks)
      if (random(2) == 0) block.flag = false;
    for (auto& block : graph.blocks)
      block.may_resume = graph.flags_follow_calls && random(3) == 0 && block.successors.size() > 1;
    std::vector<bool> truth(count, false);
    for (uint32_t runs = random(3); runs-- > 0;) {
      uint32_t at = 0;
      for (;;) {
        truth[at] = true;
        FlaggedGraph::Block& block = graph.blocks[at];
        const auto next = static_cast<uint32_t>(block.successors.size());
        const bool resumes = block.may_resume && random(2) == 0;
        if (graph.flags_follow_calls && !resumes && random(8) == 0) break;  // in the call
        if (block.flag && !resumes) block.flag = true;
        if (next == 0 || random(8) == 0) break;
        at = block.successors[!block.may_resume ? random(next)
                              : resumes         ? 1 + random(next - 1)
                                                : 0];
      }
    }
    const Answers answers = blocks_that_ran(graph);
    for (uint32_t block = 0; block < count; ++block) {
      if (answers[block] == Ran::maybe) continue;
      EXPECT_EQ(answers[block] == Ran::yes, truth[block]) << i << ' ' << block;
      ++certain;
    }
  }
  EXPECT_GT(certain, 8000U);
}

}  // namespace
}  // namespace telltale
