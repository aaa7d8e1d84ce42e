#include "program/line_table_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "bytes/as_bytes.h"
#include "support/line_table_builder.h"

namespace telltale {
namespace {

using testing::LineTableBuilder;
using Found = std::vector<std::pair<std::string, Md5>>;

constexpr uint64_t kTablesOffset = 0x400;
constexpr Md5 kOne = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
constexpr Md5 kTwo = {0xff};

struct FilesRead {
  Found files;
  std::vector<Problem> problems;
};

FilesRead files_in(const std::string& lines, const std::string& strings,
                   std::endian order = std::endian::little) {
  FilesRead result;
  ProblemLog problems;
  read_line_table_files(
      {.lines = as_bytes(lines),
       .line_strings = as_bytes(strings),
       .strings = {},
       .order = order,
       .file = "program",
       .offset = kTablesOffset},
      [&](std::string_view path, const Md5& checksum) {
        result.files.emplace_back(path, checksum);
      },
      problems);
  result.problems = problems.kept();
  return result;
}

LineTableBuilder sample_table() {
  LineTableBuilder table;
  table.folders = {"/src/part", "include", "/usr/include"};
  table.files = {{"a.c", 0, kOne}, {"./b.h", 1, kTwo}, {"stdio.h", 2, kOne}, {"/x/y.h", 1, kTwo}};
  return table;
}

const Found kSampleFiles = {{"/src/part/a.c", kOne},
                            {"/src/part/include/b.h", kTwo},
                            {"/usr/include/stdio.h", kOne},
                            {"/x/y.h", kTwo}};

TEST(LineTableFiles, HaveNamesAndChecksums) {
  for (const bool is_wide : {false, true}) {
    for (const bool is_inline : {false, true}) {
      for (const std::endian order : {std::endian::little, std::endian::big}) {
        LineTableBuilder table = sample_table();
        table.is_wide = is_wide;
        table.is_inline = is_inline;
        table.order = order;
        std::string strings;
        const std::string lines = table.build(strings);
        const FilesRead found = files_in(lines, strings, order);
        EXPECT_EQ(found.files, kSampleFiles);
        EXPECT_EQ(found.problems.size(), 0U);
      }
    }
  }
}

TEST(LineTableFiles, OfOtherTablesAreSkipped) {
  std::string strings;
  std::string lines;
  LineTableBuilder table = sample_table();
  table.has_checksums = false;  // as g++ writes it
  lines += table.build(strings);
  table.has_checksums = true;
  for (const uint16_t version : {uint16_t{2}, uint16_t{4}, uint16_t{6}}) {
    table.version = version;
    lines += table.build(strings);
  }
  lines += std::string(4, '\0');  // padding of a linker
  const FilesRead none = files_in(lines, strings);
  EXPECT_EQ(none.files.size(), 0U);
  EXPECT_EQ(none.problems.size(), 0U);
  lines += sample_table().build(strings);
  EXPECT_EQ(files_in(lines, strings).files, kSampleFiles);
}

// What is before the damage is used, and so are the tables after it.
TEST(LineTableFiles, OfDamagedTablesAreThoseBeforeTheDamage) {
  LineTableBuilder table = sample_table();
  table.files[1].name = "beyond";
  std::string strings;
  const std::string damaged = table.build(strings);
  strings.resize(strings.find("beyond"));
  LineTableBuilder sound = sample_table();
  sound.is_inline = true;
  const FilesRead found = files_in(damaged + sound.build(strings), strings);
  Found expected = {kSampleFiles[0]};
  expected.insert(expected.end(), kSampleFiles.begin(), kSampleFiles.end());
  EXPECT_EQ(found.files, expected);
  ASSERT_EQ(found.problems.size(), 1U);
  EXPECT_EQ(found.problems[0].kind, Problem::Kind::oddity);
  EXPECT_EQ(found.problems[0].record, ".debug_line");
  EXPECT_THAT(found.problems[0].message, ::testing::StartsWith("no string is at 0x"));
  EXPECT_GT(found.problems[0].offset, kTablesOffset);
  EXPECT_LT(found.problems[0].offset, kTablesOffset + damaged.size());
}

TEST(LineTableFiles, EveryPrefixIsRead) {
  for (const bool is_inline : {false, true}) {
    LineTableBuilder table = sample_table();
    table.is_inline = is_inline;
    std::string strings;
    const std::string lines = table.build(strings) + table.build(strings);
    for (size_t size = 0; size < lines.size(); ++size) {
      const std::string prefix = lines.substr(0, size);
      const FilesRead found = files_in(prefix, strings);
      EXPECT_LE(found.files.size(), 2 * kSampleFiles.size());
      for (const Problem& problem : found.problems)
        EXPECT_LE(problem.offset, kTablesOffset + prefix.size());
      EXPECT_EQ(found.problems.empty(), size == 0 || size == lines.size() / 2) << size;
    }
  }
}

TEST(LineTableFiles, EveryChangedByteIsRead) {
  std::string strings;
  const std::string lines = sample_table().build(strings);
  for (size_t at = 0; at < lines.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string changed = lines;
      changed[at] = static_cast<char>(value);
      EXPECT_LE(files_in(changed, strings).files.size(), 256U);
    }
  }
}

// The number of entries is not trusted: an entry of no fields has no size.
TEST(LineTableFiles, OfNoFieldsAreAnError) {
  ByteWriter head;
  for (const int byte : {1, 1, 1, 0xfb, 14, 1, 0}) head.write(static_cast<uint8_t>(byte));
  for (int i = 0; i < 9; ++i) head.write(uint8_t{0xff});
  head.write(uint8_t{0x01});
  ByteWriter table;
  table.write(static_cast<uint32_t>(head.size() + 8)).write(uint16_t{5}).write(uint8_t{8});
  table.write(uint8_t{0}).write(static_cast<uint32_t>(head.size()));
  const FilesRead found = files_in(table.take() + head.take(), "");
  EXPECT_EQ(found.files.size(), 0U);
  ASSERT_EQ(found.problems.size(), 1U);
  EXPECT_EQ(found.problems[0].message, "directories_count 18446744073709551615 of no fields");
}

TEST(LineTableFiles, OfNamesThatAreTooLongAreSkipped) {
  LineTableBuilder table = sample_table();
  table.files[0].name = std::string(5000, 'x');
  std::string strings;
  const std::string lines = table.build(strings);
  EXPECT_EQ(files_in(lines, strings).files, Found(kSampleFiles.begin() + 1, kSampleFiles.end()));
}

// Entries that share a long name do not make work out of proportion to the size of the section.
TEST(LineTableFiles, WhoseNamesAreMuchLongerThanTheTableEndReading) {
  LineTableBuilder table = sample_table();
  table.folders = std::vector<std::string>(200, std::string(4000, 'x'));
  std::string strings;
  const std::string lines = table.build(strings);
  const FilesRead found = files_in(lines + lines, strings);
  EXPECT_EQ(found.files.size(), 0U);
  ASSERT_EQ(found.problems.size(), 1U);
  EXPECT_EQ(found.problems[0].message, "its names are much longer than itself");
}

}  // namespace
}  // namespace telltale
