#include "program/load_biases.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace telltale {
namespace {

using Biases = std::vector<uint64_t>;

// A library as linkers make it, and what a loader maps of it.
ElfSegments library() {
  ElfSegments elf;
  elf.segments = {
      {.type = PT_LOAD, .flags = PF_R, .offset = 0, .address = 0, .file_size = 0x600},
      {.type = PT_LOAD,
       .flags = PF_R | PF_X,
       .offset = 0x1000,
       .address = 0x1000,
       .file_size = 0x400},
      {.type = PT_LOAD, .flags = PF_R | PF_W, .offset = 0x1de0, .address = 0x2de0, .file_size = 64},
      {.type = PT_LOAD, .flags = PF_R | PF_W, .offset = 0x3000, .address = 0x9000},  // .bss
      {.type = PT_NOTE, .offset = 0x200, .address = 0x200, .file_size = 36}};
  return elf;
}
std::vector<CoreMapping> loaded_at(uint64_t begin) {
  return {{begin, begin + 0x1000, 0, "/l", ""},
          {begin + 0x1000, begin + 0x2000, 0x1000, "/l", ""},
          {begin + 0x2000, begin + 0x3000, 0x1000, "/l", ""}};
}
CoreMapping for_reading(uint64_t begin) { return {begin, begin + 0x3000, 0, "/l", ""}; }

CoreFile core_with(std::vector<ElfSegment> segments) {
  CoreParts parts;
  parts.memory = std::move(segments);
  return CoreFile::from_parts(std::move(parts), {}, "core");
}

TEST(LoadBiases, AreThoseOfLoadedSegments) {
  const CoreFile core = core_with({});
  EXPECT_EQ(load_biases(library(), loaded_at(0x7000'0000), core), Biases{0x7000'0000});
  EXPECT_EQ(load_biases(library(), {}, core), Biases{});
  // Loaded twice.
  std::vector<CoreMapping> twice = loaded_at(0x7000'0000);
  for (const CoreMapping& mapping : loaded_at(0x7100'0000)) twice.push_back(mapping);
  EXPECT_EQ(load_biases(library(), twice, core), (Biases{0x7000'0000, 0x7100'0000}));
}

TEST(LoadBiases, SegmentsOfAnotherBuildAreNotAllMapped) {
  const std::vector<CoreMapping> mappings = loaded_at(0x7000'0000);
  EXPECT_TRUE(are_segments_mapped(library(), 0x7000'0000, mappings));
  EXPECT_FALSE(are_segments_mapped(library(), 0x7000'1000, mappings));
  ElfSegments other = library();
  other.segments[1].file_size = 0x1001;  // it ends on the next page
  EXPECT_FALSE(are_segments_mapped(other, 0x7000'0000, mappings));
  other = library();
  other.segments[2].offset += 0x1000;
  EXPECT_FALSE(are_segments_mapped(other, 0x7000'0000, mappings));
}

TEST(LoadBiases, AreNotThoseOfMappingsForReading) {
  const CoreFile core = core_with({});
  // Adjacent to the library or not, before and after it.
  for (const uint64_t begin : Biases{0x6000'0000, 0x6fff'd000, 0x7000'3000, 0x8000'0000}) {
    std::vector<CoreMapping> mappings = loaded_at(0x7000'0000);
    mappings.insert(begin < 0x7000'0000 ? mappings.begin() : mappings.end(), for_reading(begin));
    EXPECT_EQ(load_biases(library(), mappings, core), Biases{0x7000'0000}) << begin;
  }
}

TEST(LoadBiases, AreOfExecutableMemoryIfAllSegmentsFit) {
  ElfSegments elf = library();
  elf.segments.resize(2);
  std::vector<CoreMapping> mappings = loaded_at(0x7000'0000);
  mappings.insert(mappings.begin(), for_reading(0x6000'0000));
  const ElfSegment code = {
      .type = PT_LOAD, .flags = PF_R | PF_X, .address = 0x7000'1000, .memory_size = 0x1000};
  EXPECT_EQ(load_biases(elf, mappings, core_with({code})), Biases{0x7000'0000});
  EXPECT_EQ(load_biases(elf, mappings, core_with({})), (Biases{0x6000'0000, 0x7000'0000}));
}

TEST(LoadBiases, OfAFileThatIsMappedInPartComeFromItsFirstMapping) {
  const CoreFile core = core_with({});
  const std::vector<CoreMapping> code = {{0x7000'1000, 0x7000'2000, 0x1000, "/l", ""}};
  EXPECT_EQ(load_biases(library(), code, core), Biases{0x7000'0000});
  const std::vector<CoreMapping> end = {{0x7000'1800, 0x7000'2000, 0x1200, "/l", ""}};
  ElfSegments elf = library();
  elf.segments.resize(2);
  EXPECT_EQ(load_biases(elf, end, core), Biases{0x7000'0600});
}

}  // namespace
}  // namespace telltale
