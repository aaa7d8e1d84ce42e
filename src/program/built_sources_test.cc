#include "program/built_sources.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "bytes/as_bytes.h"
#include "support/elf_builder.h"
#include "support/line_table_builder.h"

namespace telltale {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kChanged =
    "changed since the program was built; its lines may not be those that ran";
constexpr std::string_view kNewer = "newer than the program; its lines may not be those that ran";

// What md5sum prints for these texts.
Md5 md5_of(const std::string& text) {
  static const std::map<std::string, Md5> kKnown = {
      {"",
       {0xd4, 0x1d, 0x8c, 0xd9, 0x8f, 0x00, 0xb2, 0x04, 0xe9, 0x80, 0x09, 0x98, 0xec, 0xf8, 0x42,
        0x7e}},
      {"x",
       {0x9d, 0xd4, 0xe4, 0x61, 0x26, 0x8c, 0x80, 0x34, 0xf5, 0xc8, 0x56, 0x4e, 0x15, 0x5c, 0x67,
        0xa6}},
      {"y",
       {0x41, 0x52, 0x90, 0x76, 0x95, 0x94, 0x46, 0x0e, 0x2e, 0x48, 0x59, 0x22, 0x90, 0x4f, 0x34,
        0x5d}},
      {"int main;\n",
       {0x77, 0x26, 0x72, 0x12, 0xb1, 0x8f, 0x22, 0x80, 0xd8, 0xfd, 0x7c, 0x90, 0xfc, 0x58, 0x27,
        0xd9}}};
  return kKnown.at(text);
}

class BuiltSourcesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "telltale-built-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }
  // Modified `seconds` after the same time.
  std::string write(const std::string& name, const std::string& bytes, int seconds = 0) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    fs::last_write_time(path(name), begin_ + std::chrono::seconds(seconds));
    return path(name);
  }
  // A program of one source file in the folder.
  [[nodiscard]] std::string program(const std::string& source, const std::string& text,
                                    bool has_checksums = true) const {
    return program(source, md5_of(text), has_checksums);
  }
  [[nodiscard]] std::string program(const std::string& source, const Md5& md5,
                                    bool has_checksums = true) const {
    testing::LineTableBuilder table;
    table.folders = {folder_};
    table.files = {{source, 0, md5}};
    table.has_checksums = has_checksums;
    std::string strings;
    const std::string lines = table.build(strings);
    testing::ElfBuilder elf;
    elf.type = ET_DYN;
    add(".debug_line", lines, elf);
    add(".debug_line_str", strings, elf);
    return elf.build();
  }
  static void add(std::string_view name, const std::string& bytes, testing::ElfBuilder& elf) {
    testing::ElfBuilder::Section section;
    section.name = name;
    section.bytes = bytes;
    elf.add(section);
  }

  std::string folder_;
  fs::file_time_type begin_ = fs::file_time_type::clock::now() - std::chrono::hours(1);
  ProblemLog problems_;
};

TEST_F(BuiltSourcesTest, AreComparedByChecksumWhateverTheTime) {
  const std::string text = "int main;\n";
  const std::string source = write("a.c", text, 10);
  BuiltSources built;
  EXPECT_EQ(built.complaint(source, as_bytes(text)), "") << "no program is known";
  built.add(write("program", program("a.c", text)), path("program"), problems_);
  EXPECT_EQ(built.complaint(source, as_bytes(text)), "");
  EXPECT_EQ(built.complaint(path("./a.c"), as_bytes(text)), "");
  EXPECT_EQ(built.complaint(source, as_bytes("int main; ")), kChanged);
  write("a.c", text, -10);
  EXPECT_EQ(built.complaint(source, as_bytes("int main; ")), kChanged);
  EXPECT_EQ(problems_.count(), 0U);
}

// As GNU as 2.40 writes it.
TEST_F(BuiltSourcesTest, ChecksumsMayBeginWithTheirLastByte) {
  Md5 reversed = md5_of("x");
  std::ranges::reverse(reversed);
  BuiltSources built;
  built.add(write("program", program("a.c", reversed)), path("program"), problems_);
  EXPECT_EQ(built.complaint(write("a.c", "x", 10), as_bytes("x")), "");
  EXPECT_EQ(built.complaint(path("a.c"), as_bytes("y")), kChanged);
}

TEST_F(BuiltSourcesTest, WithoutChecksumAreComparedByTime) {
  BuiltSources built;
  built.add(write("program", program("a.c", "", false)), path("program"), problems_);
  EXPECT_EQ(built.complaint(write("a.c", "x", 0), as_bytes("x")), "");
  EXPECT_EQ(built.complaint(write("a.c", "x", -1), as_bytes("x")), "");
  EXPECT_EQ(built.complaint(write("a.c", "x", 1), as_bytes("x")), kNewer);
  built.add(write("library", program("b.c", "", false), 2), path("library"), problems_);
  EXPECT_EQ(built.complaint(path("a.c"), as_bytes("x")), "") << "older than the newest program";
}

TEST_F(BuiltSourcesTest, OfACopyInAnotherFolderAreKnownByTheirText) {
  BuiltSources built;
  built.add(write("program", program("a.c", "x")), path("program"), problems_);
  fs::create_directory(path("copy"));
  EXPECT_EQ(built.complaint(write("copy/a.c", "x", 1), as_bytes("x")), "");
  EXPECT_EQ(built.complaint(write("copy/a.c", "y", 1), as_bytes("y")), kNewer);
}

// The source was changed between two compilations.
TEST_F(BuiltSourcesTest, OfSeveralProgramsAreToBeThatOfEach) {
  BuiltSources built;
  built.add(write("one", program("a.c", "x")), path("one"), problems_);
  BuiltSources other;
  other.add(write("two", program("a.c", "y")), path("two"), problems_);
  EXPECT_EQ(built.complaint(path("a.c"), as_bytes("x")), "");
  built.merge(other);
  EXPECT_EQ(built.complaint(path("a.c"), as_bytes("x")), kChanged);
  EXPECT_EQ(built.complaint(path("a.c"), as_bytes("y")), kChanged);
}

TEST_F(BuiltSourcesTest, OfAStrippedProgramAreInItsDebugFile) {
  testing::ElfBuilder stripped;
  stripped.type = ET_DYN;
  BuiltSources built;
  built.add(write("program", stripped.build()), write("program.debug", program("a.c", "x")),
            problems_);
  EXPECT_EQ(built.complaint(write("a.c", "x", 1), as_bytes("x")), "");
  EXPECT_EQ(built.complaint(path("a.c"), as_bytes("y")), kChanged);
}

TEST_F(BuiltSourcesTest, OfOtherFilesAreNotKnown) {
  testing::ElfBuilder object;  // its line tables are not linked
  object.type = ET_REL;
  BuiltSources built;
  built.add(write("a.o", object.build()), path("a.o"), problems_);
  built.add(write("notes.txt", "x"), path("notes.txt"), problems_);
  built.add(path("missing"), path("missing"), problems_);
  EXPECT_EQ(built.complaint(write("a.c", "x", 1), as_bytes("x")), "");
  EXPECT_EQ(problems_.count(), 0U);
}

TEST_F(BuiltSourcesTest, DamageIsAnOddity) {
  testing::ElfBuilder elf;
  elf.type = ET_DYN;
  add(".debug_line", std::string("\x40\0\0\0\5", 5), elf);
  BuiltSources built;
  built.add(write("program", elf.build()), path("program"), problems_);
  EXPECT_EQ(problems_.count(), 1U);
  EXPECT_FALSE(problems_.damaged());
}

}  // namespace
}  // namespace telltale
