#include "program/machine_blocks.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bytes/as_bytes.h"

namespace telltale {
namespace {

using Ranges = std::vector<std::pair<uint64_t, uint64_t>>;

constexpr char kRanges = 0x08;
constexpr char kCallEnds = 0x20;

// All numbers of blocks fit in one byte of a LEB128.
std::string address(uint64_t value) {
  std::string bytes;
  for (size_t i = 0; i < 8; ++i) bytes += static_cast<char>(value >> 8 * i);
  return bytes;
}

std::string head(char version, char features) {
  std::string bytes = {version, features};
  if (version >= 5) bytes += '\0';
  return bytes;
}

struct BlocksRead {
  std::vector<MachineBlock> blocks;
  ProblemLog problems;
};

BlocksRead blocks_in(const std::string& section) {
  BlocksRead result;
  result.blocks = read_machine_blocks(as_bytes(section), std::endian::little, "program", 0x400,
                                      result.problems);
  return result;
}

Ranges ranges_of(const std::vector<MachineBlock>& blocks) {
  Ranges ranges;
  for (const MachineBlock& block : blocks) ranges.emplace_back(block.begin, block.end);
  return ranges;
}

// Fields of a block: number, distance from the previous one, size, flags.
TEST(MachineBlocks, AreRelativeToTheOneBefore) {
  for (char version = 2; version <= 5; ++version) {
    const std::string blocks = {2, 0, 0, 0x10, 8, 1, 4, 0x20, 1};
    const BlocksRead found = blocks_in(head(version, 0) + address(0x1000) + blocks);
    EXPECT_EQ(ranges_of(found.blocks), (Ranges{{0x1000, 0x1010}, {0x1014, 0x1034}}));
    EXPECT_TRUE(found.blocks.at(0).falls_through);
    EXPECT_FALSE(found.blocks.at(1).falls_through);
    EXPECT_EQ(found.problems.count(), 0U);
  }
}

// With the ends of calls, a block's size counts from its last call.
TEST(MachineBlocks, HaveEndsOfCalls) {
  const std::string blocks = {2, 0, 0, 2, 5, 6, 1, 0, 1, 0, 0, 3, 0};
  const BlocksRead found = blocks_in(head(5, kCallEnds) + address(0x1000) + blocks);
  EXPECT_EQ(ranges_of(found.blocks), (Ranges{{0x1000, 0x100c}, {0x100c, 0x100f}}));
}

// -fbasic-block-sections splits functions into several ranges; each range has its own address.
TEST(MachineBlocks, OfSeveralRangesAreInOrderOfAddress) {
  const std::string hot = {1, 0, 0, 0x10, 0};
  const std::string cold = {2, 1, 0, 4, 8, 2, 0, 6, 0};
  const std::string function =
      head(5, kRanges) + '\2' + address(0x3000) + hot + address(0x1000) + cold;
  const BlocksRead found = blocks_in(function + head(5, 0) + address(0x2000) + hot);
  EXPECT_EQ(ranges_of(found.blocks),
            (Ranges{{0x1000, 0x1004}, {0x1004, 0x100a}, {0x2000, 0x2010}, {0x3000, 0x3010}}));
  EXPECT_EQ(found.problems.count(), 0U);
}

TEST(MachineBlocks, DamageEndsReadingAndHasItsPlace) {
  const std::string good = head(5, 0) + address(0x1000) + std::string{1, 0, 0, 0x10, 0};
  // A profile; a version that does not exist; numbers of ranges and blocks that cannot be.
  const std::string huge = "\xff\xff\xff\xff\xff\xff\xff\xff\x7f";
  for (const std::string& bad :
       {head(5, 1) + address(0), head(9, 0), head(5, kRanges) + huge + address(0x2000) + '\0',
        head(5, 0) + address(0x2000) + huge, good.substr(0, good.size() - 1)}) {
    const BlocksRead found = blocks_in(good + bad);
    EXPECT_EQ(ranges_of(found.blocks).at(0), Ranges::value_type(0x1000, 0x1010));
    ASSERT_EQ(found.problems.count(), 1U);
    EXPECT_GE(found.problems.kept()[0].offset, 0x400 + good.size());
    EXPECT_LE(found.problems.kept()[0].offset, 0x400 + good.size() + bad.size());
  }
}

}  // namespace
}  // namespace telltale
