#include "import/csi/path_positions.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

using Place = PathPositions::Place;

csi::PathPosition at(uint64_t address, uint32_t block, bool after_instruction = false) {
  csi::PathPosition position;
  position.address = address;
  position.block = block;
  position.after_instruction = after_instruction;
  return position;
}

// Two functions, [100, 200) and [300, 400). Machine blocks begin at 100, 150, 160, 170 and 300.
PathPositions positions() {
  return PathPositions({at(110, 1), at(120, 2), at(155, 3), at(160, 9, true), at(180, 5, true),
                        at(320, 6), at(320, 7)},
                       {100, 150, 160, 170, 300});
}

void expect(uint64_t address, uint64_t begin, Place place, uint32_t block = 0) {
  const PathPositions::Found found = positions().find(address, begin, begin + 100);
  EXPECT_EQ(found.place, place) << address;
  if (place == Place::known) {
    EXPECT_EQ(found.position.block, block) << address;
  }
}

TEST(PathPositions, HoldUpToTheNext) {
  expect(110, 100, Place::known, 1);
  expect(119, 100, Place::known, 1);
  expect(120, 100, Place::known, 2);
  expect(149, 100, Place::known, 2);
}

TEST(PathPositions, BeforeTheFirstOfAFunctionItsVariablesAreNotSet) {
  expect(105, 100, Place::before_body);
  expect(310, 300, Place::before_body);
  expect(410, 400, Place::unknown);
}

TEST(PathPositions, TheBeginningOfAMachineBlockBelongsToItsFirstPosition) {
  expect(152, 100, Place::known, 3);
  // The position at 160 is the end of the block before: this one has none, and says nothing.
  expect(165, 100, Place::unknown);
  expect(175, 100, Place::known, 5);
}

TEST(PathPositions, OfSeveralAtOneAddressTheLastHolds) { expect(330, 300, Place::known, 7); }

TEST(PathPositions, AreOfFunctionsOrNot) {
  const PathPositions positions({at(120, 1), at(150, 2)}, {});
  EXPECT_TRUE(positions.has_function(100, 121));
  EXPECT_TRUE(positions.has_function(150, 300));
  EXPECT_FALSE(positions.has_function(100, 120));
  EXPECT_FALSE(positions.has_function(121, 150));
  EXPECT_FALSE(positions.has_function(151, 300));
}

// Three machine blocks begin at 150. The first two have no code, so that as many positions there
// are void; the third block has no position.
TEST(PathPositions, PositionsOfMachineBlocksWithoutCodeAreVoid) {
  const PathPositions positions({at(120, 1), at(150, 2), at(150, 3)}, {100, 150, 150, 150, 200});
  EXPECT_EQ(positions.find(120, 100, 300).position.block, 1U);
  EXPECT_EQ(positions.find(150, 100, 300).place, Place::unknown);
  const PathPositions all({at(150, 2), at(150, 3), at(150, 4)}, {100, 150, 150, 150, 200});
  EXPECT_EQ(all.find(150, 100, 300).position.block, 4U);
}

}  // namespace
}  // namespace telltale
