#include "cli/study/mutations.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace telltale::cli {
namespace {

TEST(Mutations, DifferFromTheInputAndFromOneAnother) {
  std::mt19937_64 random(1);
  const std::string input = "set A1 17\nshow A1\n";
  std::set<std::string> made;
  for (int i = 0; i < 1000; ++i) {
    const std::string one = mutate(input, {}, 4096, random);
    EXPECT_NE(one, input);
    made.insert(one);
  }
  EXPECT_GT(made.size(), 500U);
}

TEST(Mutations, AreSmall) {
  std::mt19937_64 random(2);
  const std::string input(1000, 'x');
  for (int i = 0; i < 1000; ++i) {
    const std::string one = mutate(input, {}, 4096, random);
    EXPECT_GT(one.size(), 1000U - 4 * 32 - 1);
    EXPECT_LT(one.size(), 1000U + 4 * 32 + 1);
  }
}

TEST(Mutations, TakePartsOfOtherInputs) {
  std::mt19937_64 random(3);
  const std::vector<std::string> others = {"ZZZZ"};
  bool found = false;
  for (int i = 0; i < 1000; ++i) found |= mutate("aaaaaaaa", others, 64, random).contains("ZZ");
  EXPECT_TRUE(found);
}

TEST(Mutations, OfOneSeedAreTheSame) {
  std::mt19937_64 one(4);
  std::mt19937_64 two(4);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(mutate("abc", {}, 64, one), mutate("abc", {}, 64, two));
}

TEST(Mutations, KeepToTheLimitAndAcceptNothing) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 200; ++i) EXPECT_LE(mutate("abcdef", {}, 6, random).size(), 6U);
  EXPECT_EQ(mutate("", {}, 64, random), "");
}

}  // namespace
}  // namespace telltale::cli
