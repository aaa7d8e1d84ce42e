#include "base/sorted_map.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace telltale {
namespace {

using Map = SortedMap<uint32_t, std::string>;

std::vector<std::pair<uint32_t, std::string>> entries(const auto& map) {
  return {map.begin(), map.end()};
}

TEST(SortedMap, KeepsTheFirstValueOfAKeyAndTheOrderOfKeys) {
  Map map{{7, "seven"}, {3, "three"}, {7, "other"}};
  EXPECT_FALSE(map.try_emplace(3, "again").second);
  EXPECT_TRUE(map.try_emplace(5, "five").second);
  map[9] += "nine";
  const std::vector<std::pair<uint32_t, std::string>> expected{
      {3, "three"}, {5, "five"}, {7, "seven"}, {9, "nine"}};
  EXPECT_EQ(entries(map), expected);
  EXPECT_EQ(map.find(4), map.end());
  EXPECT_EQ(map.find(10), map.end());
  EXPECT_EQ(map.at(5), "five");
}

TEST(SortedMap, JoinsEntriesOfOneKeyAndAddsOthers) {
  Map map{{2, "a"}, {4, "b"}};
  map.join({{1, "c"}, {4, "d"}, {6, "e"}},
           [](auto& entry, const std::string& more) { entry.second += more; });
  EXPECT_EQ(map, (Map{{1, "c"}, {2, "a"}, {4, "bd"}, {6, "e"}}));
}

TEST(SortedMap, AgreesWithAMapOfNodes) {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    SortedMap<uint32_t, uint32_t> map;
    std::map<uint32_t, uint32_t> expected;
    SortedMap<uint32_t, uint32_t> more;
    for (uint32_t i = 0; i < 30; ++i) {
      const auto key = static_cast<uint32_t>(random() % 40);
      EXPECT_EQ(map.try_emplace(key, i).second, expected.try_emplace(key, i).second);
      more[static_cast<uint32_t>(random() % 40)] = i;
    }
    map.join(more, [](auto& entry, uint32_t value) { entry.second += value; });
    for (const auto& [key, value] : more) {
      const auto [known, is_new] = expected.try_emplace(key, value);
      if (!is_new) known->second += value;
    }
    ASSERT_EQ((std::map<uint32_t, uint32_t>(map.begin(), map.end())), expected) << round;
    for (uint32_t key = 0; key < 40; ++key) ASSERT_EQ(map.contains(key), expected.contains(key));
  }
}

}  // namespace
}  // namespace telltale
