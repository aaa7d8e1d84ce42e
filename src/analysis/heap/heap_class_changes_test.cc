#include "analysis/heap/heap_class_changes.h"

#include <gtest/gtest.h>

#include <tuple>

namespace telltale {
namespace {

using TypeSums = std::vector<HeapShots::TypeSum>;

auto rows_of(const TypeSums& sums) {
  std::vector<std::tuple<uint64_t, uint64_t, uint64_t>> rows;
  for (const auto& [type, sum] : sums) rows.emplace_back(type, sum.objects, sum.bytes);
  return rows;
}

TEST(HeapClassChanges, IdsOfOneClassAreSummedUp) {
  const auto class_of = [](uint64_t id) { return id >= 100 ? id - 100 : id; };
  EXPECT_EQ(
      rows_of(sum_by_class({{3, {1, 10}}, {7, {2, 20}}, {101, {3, 30}}, {103, {4, 40}}}, class_of)),
      rows_of({{1, {3, 30}}, {3, {5, 50}}, {7, {2, 20}}}));
  EXPECT_TRUE(sum_by_class({}, class_of).empty());
}

// Type, objects now, objects before (-1: new).
using Rows = std::vector<std::tuple<uint64_t, uint64_t, int64_t>>;
Rows shown(const std::vector<HeapClassChange>& changes) {
  Rows rows;
  for (const auto& [now, before] : changes)
    rows.emplace_back(now.type, now.sum.objects,
                      before ? static_cast<int64_t>(before->objects) : -1);
  return rows;
}

TEST(HeapClassChanges, ClassesThatAreNewKnownAndGone) {
  const TypeSums before = {{1, {1, 8}}, {2, {2, 16}}, {4, {4, 32}}, {9, {9, 72}}};
  const TypeSums now = {{2, {3, 24}}, {3, {5, 40}}, {4, {4, 32}}};
  const HeapClassChanges changes = heap_class_changes(before, now);
  EXPECT_EQ(shown(changes.alive), (Rows{{2, 3, 2}, {3, 5, -1}, {4, 4, 4}}));
  EXPECT_EQ(shown(changes.gone), (Rows{{1, 0, 1}, {9, 0, 9}}));
  EXPECT_EQ(shown(heap_class_changes({}, now).alive), (Rows{{2, 3, -1}, {3, 5, -1}, {4, 4, -1}}));
  EXPECT_TRUE(heap_class_changes({}, now).gone.empty());
  EXPECT_TRUE(heap_class_changes(before, {}).alive.empty());
  EXPECT_EQ(shown(heap_class_changes(before, {}).gone),
            (Rows{{1, 0, 1}, {2, 0, 2}, {4, 0, 4}, {9, 0, 9}}));
}

}  // namespace
}  // namespace telltale
