#include "program/joined_memory.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "bytes/as_bytes.h"

namespace telltale {
namespace {

ElfSegment range(uint64_t address, uint64_t offset, uint64_t size) {
  return {.type = PT_LOAD, .offset = offset, .address = address, .file_size = size};
}

// All ranges as "ADDRESS:bytes ".
std::string joined(const std::string& file, std::vector<ElfSegment> memory) {
  CoreParts parts;
  parts.memory = std::move(memory);
  const std::vector<std::byte> copy = join_memory(as_bytes(file), parts);
  std::string text;
  for (const ElfSegment& each : parts.memory) {
    const char* const from =
        copy.empty() ? file.data() : reinterpret_cast<const char*>(copy.data());
    text += std::to_string(each.address) + ":" + std::string(from + each.offset, each.file_size);
    text += ' ';
  }
  return text;
}

TEST(JoinedMemory, RangesThatAdjoinAreOne) {
  EXPECT_EQ(joined("abcdefgh", {range(10, 0, 4), range(14, 4, 4)}), "10:abcdefgh ");
  // In another order in the file.
  EXPECT_EQ(joined("abcdefgh", {range(14, 0, 4), range(20, 4, 2), range(10, 4, 4)}),
            "14:abcd 20:ef 10:efgh ")
      << "8 bytes of the file are no 10 bytes of memory";
  EXPECT_EQ(joined("abcdefghij", {range(14, 0, 4), range(20, 8, 2), range(10, 4, 4)}),
            "10:efghabcd 20:ij ");
}

TEST(JoinedMemory, RangesThatDoNotAdjoinStay) {
  EXPECT_EQ(joined("abcdefgh", {range(20, 0, 4), range(10, 4, 4)}), "20:abcd 10:efgh ");
}

TEST(JoinedMemory, WhatSeveralRangesHaveIsThereOnce) {
  EXPECT_EQ(joined("abcdefgh", {range(10, 0, 4), range(10, 0, 4), range(12, 2, 6)}),
            "10:abcdefgh ");
  EXPECT_EQ(joined("abcdefgh", {range(10, 0, 8), range(12, 2, 2), range(18, 7, 0)}),
            "10:abcdefgh 12:cd 18: ");
}

TEST(JoinedMemory, WhatTheFileLacksIsLeftOut) {
  EXPECT_EQ(joined("abcdefgh", {range(10, 0, 4), range(14, 4, 9), range(23, 100, 4)}),
            "10:abcdefgh ");
  EXPECT_EQ(joined("abcd", {range(UINT64_MAX - 3, 0, 2), range(UINT64_MAX - 1, 2, 2)}),
            std::to_string(UINT64_MAX - 3) + ":abc ");
}

}  // namespace
}  // namespace telltale
