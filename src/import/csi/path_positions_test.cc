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

std::vector<MachineBlock> blocks_at(std::initializer_list<uint64_t> begins) {
  std::vector<MachineBlock> blocks;
  for (const uint64_t begin : begins) blocks.push_back({.begin = begin, .end = begin + 10});
  return blocks;
}

// Two functions, [100, 200) and [300, 400). Machine blocks begin at 100, 150, 160, 170 and 300.
PathPositions positions() {
  return PathPositions({at(110, 1), at(120, 2), at(155, 3), at(160, 9, true), at(180, 5, true),
                        at(320, 6), at(320, 7)},
                       blocks_at({100, 150, 160, 170, 300}));
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
  const PathPositions positions({at(120, 1), at(150, 2), at(150, 3)},
                                blocks_at({100, 150, 150, 150, 200}));
  EXPECT_EQ(positions.find(120, 100, 300).position.block, 1U);
  EXPECT_EQ(positions.find(150, 100, 300).place, Place::unknown);
  const PathPositions all({at(150, 2), at(150, 3), at(150, 4)},
                          blocks_at({100, 150, 150, 150, 200}));
  EXPECT_EQ(all.find(150, 100, 300).position.block, 4U);
}

// A function at 100: the check of a sanitizer at the end of 100 to 110 jumps to a report at 140,
// and goes on to 110; 120 is reached from 110 and 130, which have positions of two blocks.
TEST(PathPositions, CodeOfLaterPassesBelongsToTheBlockThatLeadsThere) {
  std::vector<uint8_t> code(50, 0x90);
  const auto jump = [&](size_t at, uint8_t opcode, uint64_t target) {
    code[at - 100] = opcode;
    code[at - 99] = static_cast<uint8_t>(target - (at + 2));
  };
  jump(108, 0x75, 140);  // jne
  jump(118, 0xEB, 120);  // jmp
  jump(133, 0xEB, 120);
  const std::vector<MachineBlock> blocks = {{.begin = 100, .end = 110, .falls_through = true},
                                            {.begin = 110, .end = 120},
                                            {.begin = 120, .end = 130},
                                            {.begin = 130, .end = 135},
                                            {.begin = 140, .end = 150}};
  // The last position is in the next function.
  const std::vector<csi::PathPosition> at_blocks = {at(100, 1), at(130, 2), at(160, 3)};
  const auto code_of = [&](uint64_t begin, uint64_t end) {
    EXPECT_EQ(begin, 100U);
    EXPECT_EQ(end, 150U);
    return code;
  };
  const PathPositions positions(at_blocks, blocks, code_of);
  for (const uint64_t address : {112, 145}) {
    const PathPositions::Found found = positions.find(address, 100, 150);
    EXPECT_EQ(found.place, Place::known) << address;
    EXPECT_EQ(found.position.block, 1U) << address;
  }
  EXPECT_EQ(positions.find(125, 100, 150).place, Place::unknown);
  // The code after the check, up to the position of another block.
  std::vector<csi::PathPosition> later = at_blocks;
  later.push_back(at(116, 4));
  const PathPositions divided(later, blocks, code_of);
  EXPECT_EQ(divided.find(112, 100, 150).position.block, 1U);
  EXPECT_EQ(divided.find(117, 100, 150).position.block, 4U);
  EXPECT_EQ(positions.find(131, 100, 150).position.block, 2U);
  // Without the code, only what falls through is known, and so nothing is.
  EXPECT_EQ(PathPositions(at_blocks, blocks).find(112, 100, 150).place, Place::unknown);
}

}  // namespace
}  // namespace telltale
