#include "base/join_maps.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <string>

namespace telltale {
namespace {

using boost::container::flat_map;

TEST(JoinMaps, JoinsEntriesOfOneKeyAndAddsOthers) {
  flat_map<uint32_t, std::string> map{{2, "a"}, {4, "b"}};
  join_maps(map, {{1, "c"}, {4, "d"}, {6, "e"}},
            [](auto& entry, const std::string& more) { entry.second += more; });
  EXPECT_EQ(map, (flat_map<uint32_t, std::string>{{1, "c"}, {2, "a"}, {4, "bd"}, {6, "e"}}));
}

TEST(JoinMaps, AgreesWithAdditionOneByOne) {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    std::map<uint32_t, uint32_t> expected;
    flat_map<uint32_t, uint32_t> map;
    flat_map<uint32_t, uint32_t> more;
    for (uint32_t i = 0; i < static_cast<uint32_t>(round) % 30; ++i) {
      map.emplace(static_cast<uint32_t>(random() % 40), i);
      more.emplace(static_cast<uint32_t>(random() % 40), i);
    }
    expected.insert(map.begin(), map.end());
    for (const auto& [key, value] : more) expected[key] += value;
    join_maps(map, more, [](auto& entry, uint32_t value) { entry.second += value; });
    ASSERT_EQ((std::map<uint32_t, uint32_t>(map.begin(), map.end())), expected) << round;
  }
}

}  // namespace
}  // namespace telltale
