#include "base/flat_map.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace telltale {
namespace {

TEST(FlatMap, EntriesAreInTheOrderOfTheirKeys) {
  FlatMap<int, std::string> map;
  for (const int key : {3, 9, 1, 5}) EXPECT_TRUE(map.try_emplace(key, std::to_string(key)).second);
  EXPECT_EQ(map, (FlatMap<int, std::string>{{1, "1"}, {3, "3"}, {5, "5"}, {9, "9"}}));
  std::string keys;
  for (const auto& [key, value] : map) keys += std::to_string(key) + value + " ";
  EXPECT_EQ(keys, "11 33 55 99 ");
  EXPECT_EQ(map.size(), 4U);
}

TEST(FlatMap, AKnownKeyKeepsItsValue) {
  FlatMap<int, int> map{{2, 20}, {4, 40}};
  const auto [known, is_new] = map.try_emplace(2, 21);
  EXPECT_FALSE(is_new);
  EXPECT_EQ(*known, std::pair(2, 20));
  map[4] = 41;
  map[3] += 7;
  EXPECT_EQ(map, (FlatMap<int, int>{{2, 20}, {3, 7}, {4, 41}}));
}

TEST(FlatMap, FindsWhatItHas) {
  FlatMap<int, int> map{{2, 20}, {4, 40}};
  const FlatMap<int, int>& same = map;
  EXPECT_EQ(map.find(4)->second, 40);
  EXPECT_EQ(same.find(2)->second, 20);
  for (const int key : {1, 3, 5}) {
    EXPECT_EQ(map.find(key), map.end());
    EXPECT_EQ(same.find(key), same.end());
    EXPECT_FALSE(map.contains(key));
  }
  EXPECT_TRUE((FlatMap<int, int>().empty()));
  EXPECT_FALSE((FlatMap<int, int>().contains(0)));
}

}  // namespace
}  // namespace telltale
