#include "base/sort_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace telltale {
namespace {

using ::testing::ElementsAre;

struct Row {
  uint32_t key = 0;
  uint32_t number = 0;
  bool operator==(const Row&) const = default;
};

// Every size around those of small sorts, with many equal keys.
TEST(SortRows, OrdersAsTheStandardsStableSort) {
  std::mt19937 random(16);
  for (uint32_t size = 0; size < 300; size += 1 + size / 20) {
    for (const uint32_t keys : {1U, 3U, 1000U}) {
      std::vector<Row> rows(size);
      for (uint32_t i = 0; i < size; ++i) rows[i] = {static_cast<uint32_t>(random()) % keys, i};
      std::vector<Row> expected = rows;
      std::ranges::stable_sort(expected, {}, &Row::key);
      std::vector<Row> falling = rows;
      std::vector<Row> expected_falling = rows;
      std::ranges::stable_sort(expected_falling, std::greater(), &Row::key);
      sort_rows(rows, {}, &Row::key);
      sort_rows(falling, std::greater(), &Row::key);
      EXPECT_EQ(rows, expected) << size;
      EXPECT_EQ(falling, expected_falling) << size;
    }
  }
}

// Numbers that differ in some bytes only, in few and in many rows.
TEST(SortRows, OrdersNumbersOfAnyWidth) {
  struct Wide {
    uint64_t key = 0;
    size_t number = 0;
    bool operator==(const Wide&) const = default;
  };
  std::mt19937_64 random(17);
  for (const size_t size : {2U, 200U, 255U, 256U, 257U, 5000U}) {
    for (const uint64_t bits : {uint64_t{0}, uint64_t{1}, uint64_t{0x80}, uint64_t{1} << 63,
                                uint64_t{0xF00F'0000'00F0}, ~uint64_t{0}}) {
      std::vector<Wide> rows(size);
      for (size_t i = 0; i < size; ++i) rows[i] = {0x7F00'1234 ^ (random() & bits), i};
      std::vector<Wide> expected = rows;
      std::ranges::stable_sort(expected, {}, &Wide::key);
      sort_rows(rows, {}, &Wide::key);
      EXPECT_EQ(rows, expected) << size << ' ' << bits;
    }
  }
}

TEST(SortRows, MovesElementsThatCannotBeCopied) {
  std::vector<std::unique_ptr<std::string>> rows;
  for (const char* text : {"d", "a", "c", "b"}) rows.push_back(std::make_unique<std::string>(text));
  sort_rows(rows, {}, [](const auto& row) -> const std::string& { return *row; });
  std::string all;
  for (const auto& row : rows) all += *row;
  EXPECT_EQ(all, "abcd");
}

TEST(SortRows, SortsAPartAndTakesAComparison) {
  std::array<int, 6> rows = {9, 1, 3, 2, 4, 0};
  sort_rows(std::span(rows).subspan(1, 4), [](int a, int b) { return a > b; });
  EXPECT_THAT(rows, ElementsAre(9, 4, 3, 2, 1, 0));
}

}  // namespace
}  // namespace telltale
