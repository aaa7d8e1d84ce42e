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

// What a core file reads of the memory: at most `size` bytes from `address` on.
std::string read(const std::string& file, std::vector<ElfSegment> memory, uint64_t address,
                 uint64_t size) {
  CoreParts parts;
  parts.memory = std::move(memory);
  const std::vector<std::byte> copy = join_memory(as_bytes(file), parts);
  const CoreFile core =
      CoreFile::from_parts(std::move(parts), copy.empty() ? as_bytes(file) : Bytes(copy), "core");
  const Bytes bytes = core.memory(address, size);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(JoinedMemory, AdjacentRangesAreReadAsOne) {
  EXPECT_EQ(read("abcdefgh", {range(10, 0, 4), range(14, 4, 4)}, 12, 4), "cdef");
  // In another order in the file.
  const std::vector<ElfSegment> memory = {range(14, 0, 4), range(20, 8, 2), range(10, 4, 4)};
  EXPECT_EQ(read("abcdefghij", memory, 10, 100), "efghabcd");
  EXPECT_EQ(read("abcdefghij", memory, 20, 100), "ij");
  EXPECT_EQ(read("abcdefghij", memory, 18, 1), "");
  // Ranges that share bytes of the file, of which a copy would be larger.
  EXPECT_EQ(read("abcdefgh", {range(14, 0, 4), range(20, 4, 2), range(10, 4, 4)}, 10, 100), "efgh");
}

TEST(JoinedMemory, OtherRangesStay) {
  EXPECT_EQ(read("abcdefgh", {range(20, 0, 4), range(10, 4, 4)}, 10, 100), "efgh");
  EXPECT_EQ(read("abcdefgh", {range(20, 0, 4), range(10, 4, 4)}, 20, 100), "abcd");
}

TEST(JoinedMemory, RangesMayOverlap) {
  const std::vector<ElfSegment> memory = {range(10, 2, 4), range(10, 2, 4), range(14, 0, 2)};
  EXPECT_EQ(read("abcdefgh", memory, 10, 100), "cdefab");
}

TEST(JoinedMemory, WhatTheFileLacksIsLeftOut) {
  const std::vector<ElfSegment> memory = {range(14, 0, 4), range(10, 4, 9), range(23, 100, 4)};
  EXPECT_EQ(read("abcdefgh", memory, 10, 100), "efghabcd");
  EXPECT_EQ(read("abcdefgh", memory, 23, 1), "");
  EXPECT_EQ(
      read("abcd", {range(UINT64_MAX - 3, 2, 2), range(UINT64_MAX - 1, 0, 2)}, UINT64_MAX - 3, 4),
      "cda");
}

}  // namespace
}  // namespace telltale
