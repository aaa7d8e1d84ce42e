#include "output/table/text_pool.h"

#include <gtest/gtest.h>

#include <string>

namespace telltale {
namespace {

TEST(TextPool, KeepsEachTextOnceInTheOrderInWhichTheyCame) {
  TextPool pool;
  EXPECT_EQ(pool.find("a"), TextPool::kNone);
  EXPECT_EQ(pool.add("a"), 0U);
  EXPECT_EQ(pool.add(""), 1U);
  EXPECT_EQ(pool.add(std::string("\0a", 2)), 2U);
  EXPECT_EQ(pool.add("a"), 0U);
  EXPECT_EQ(pool.find(""), 1U);
  EXPECT_EQ(pool.find(std::string("\0", 1)), TextPool::kNone);
  EXPECT_EQ(pool.size(), 3U);
  EXPECT_EQ(pool[0], "a");
  EXPECT_EQ(pool[1], "");
  EXPECT_EQ(pool[2], std::string("\0a", 2));
}

TEST(TextPool, FindsAllOfManyTexts) {
  TextPool pool;
  constexpr uint32_t kTexts = 10'000;
  for (uint32_t i = 0; i < kTexts; ++i) ASSERT_EQ(pool.add(std::to_string(i)), i);
  const TextPool copy = pool;
  for (uint32_t i = 0; i < kTexts; ++i) {
    ASSERT_EQ(copy.find(std::to_string(i)), i);
    ASSERT_EQ(copy[i], std::to_string(i));
  }
  EXPECT_EQ(copy.find(std::to_string(kTexts)), TextPool::kNone);
}

}  // namespace
}  // namespace telltale
