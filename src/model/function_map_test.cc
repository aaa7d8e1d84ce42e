#include "model/function_map.h"

#include <gtest/gtest.h>

#include <map>

namespace telltale {
namespace {

TEST(FunctionMap, EveryIdHasItsOwnValue) {
  FunctionMap<uint32_t> map;
  constexpr uint32_t kWindow = FunctionMap<uint32_t>::kSecondWindow;
  std::vector<uint32_t> ids = {0,       1,           4095,           4096,
                               70'000,  0xFFFF'FFFF, 1U << 28,       kWindow - 1,
                               kWindow, kWindow + 1, kWindow + 4096, kWindow + 500'000};
  for (uint32_t i = 0; i < 20'000; ++i) {
    ids.push_back(2 + i * 3);
    ids.push_back(kWindow + 2 + i * 5);
  }
  EXPECT_EQ(map.find(FunctionId{kWindow}), nullptr);
  std::map<uint32_t, uint32_t> expected;
  for (const uint32_t id : ids) {
    map[FunctionId{id}] += id + 1;
    expected[id] += id + 1;
  }
  for (const auto& [id, sum] : expected) {
    const uint32_t* const value = map.find(FunctionId{id});
    ASSERT_NE(value, nullptr) << id;
    EXPECT_EQ(*value, sum) << id;
  }
  EXPECT_EQ(map.find(FunctionId{0x7654'3210}), nullptr);
  map.clear();
  EXPECT_EQ(map.find(FunctionId{kWindow}), nullptr);
}

}  // namespace
}  // namespace telltale
