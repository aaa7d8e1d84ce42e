#include "base/closest_word.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace telltale {
namespace {

TEST(EditDistance, CountsLetters) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("flame", "flme"), 1U);
  EXPECT_EQ(edit_distance("flame", "falme"), 1U) << "neighbours swapped";
  EXPECT_EQ(edit_distance("Flame", "flame"), 0U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(ClosestWord, IsNearEnough) {
  const std::vector<std::string> verbs = {"info", "top", "report", "replay", "flame", "stacks"};
  EXPECT_EQ(closest_word("flmae", verbs), "flame");
  EXPECT_EQ(closest_word("reprot", verbs), "report");
  EXPECT_EQ(closest_word("stack", verbs), "stacks");
  EXPECT_EQ(closest_word("fla", verbs), "flame") << "the beginning of a word";
  EXPECT_EQ(closest_word("stacksandmore", std::vector<std::string>{"stackandmore", "stacksndmre"}),
            "stackandmore")
      << "the closest of several, not the last";
  EXPECT_EQ(closest_word("xyz", verbs), std::nullopt);
  EXPECT_EQ(closest_word("t", verbs), std::nullopt);
  EXPECT_EQ(closest_word("", verbs), std::nullopt);
}

}  // namespace
}  // namespace telltale
