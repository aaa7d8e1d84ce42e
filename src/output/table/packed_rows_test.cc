#include "output/table/packed_rows.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace telltale {
namespace {

std::vector<std::vector<TableCell>> unpacked(const PackedRows& rows, size_t columns) {
  std::vector<std::vector<TableCell>> all;
  rows.for_each(columns,
                [&](std::span<const TableCell> row) { all.emplace_back(row.begin(), row.end()); });
  return all;
}

TEST(PackedRows, GiveBackWhatTheyGot) {
  const std::vector<std::vector<TableCell>> rows = {
      {std::monostate(), int64_t{-1}, std::string("a"), 0.1},
      {uint64_t{0}, std::numeric_limits<int64_t>::min(), std::string(), -0.0},
      {std::numeric_limits<uint64_t>::max(), std::numeric_limits<int64_t>::max(),
       std::string("\0\xff", 2), std::numeric_limits<double>::infinity()},
      {std::string("a"), std::string("a"), std::monostate(), uint64_t{127}}};
  PackedRows packed;
  for (const auto& row : rows) packed.add(row);
  EXPECT_EQ(packed.size(), rows.size());
  EXPECT_EQ(unpacked(packed, 4), rows);
  const PackedRows copy = packed;
  packed = PackedRows();
  EXPECT_EQ(unpacked(copy, 4), rows);
}

TEST(PackedRows, TextsBeyondTheKeptOnesStandInTheirRows) {
  PackedRows packed;
  constexpr size_t kRows = PackedRows::kMostKept + 1000;
  for (size_t i = 0; i < kRows; ++i)
    packed.add(std::vector<TableCell>{std::to_string(i), uint64_t{i}});
  size_t row = 0;
  packed.for_each(2, [&](std::span<const TableCell> cells) {
    ASSERT_EQ(std::get<std::string>(cells[0]), std::to_string(row));
    ASSERT_EQ(std::get<uint64_t>(cells[1]), row);
    ++row;
  });
  EXPECT_EQ(row, kRows);
}

TEST(PackedRows, WithoutColumns) {
  PackedRows packed;
  packed.add({});
  packed.add({});
  EXPECT_EQ(unpacked(packed, 0).size(), 2U);
}

}  // namespace
}  // namespace telltale
