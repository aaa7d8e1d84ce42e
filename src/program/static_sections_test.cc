#include "program/static_sections.h"

#include <elf.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <string>
#include <string_view>
#include <vector>

#include "bytes/as_bytes.h"
#include "bytes/byte_writer.h"
#include "program/archive.h"
#include "support/elf_builder.h"

namespace telltale {
namespace {

constexpr std::string_view kName = ".debug_site_info";
constexpr std::string_view kGnuName = ".zdebug_site_info";

std::string text_of(const StaticSection& section) {
  return {reinterpret_cast<const char*>(section.bytes.data()), section.bytes.size()};
}

std::string object(const std::string& content, uint64_t flags = 0, std::string_view name = kName) {
  testing::ElfBuilder elf;
  testing::ElfBuilder::Section section;
  section.name = name;
  section.flags = flags;
  section.bytes = content;
  elf.add(section);
  return elf.build();
}

// SHF_COMPRESSED: Elf64_Chdr, then the compressed bytes.
std::string packed(uint32_t method, uint64_t size, const std::string& bytes) {
  ByteWriter out;
  out.write(method).write(uint32_t{0}).write(size).write(uint64_t{1});
  return out.take() + bytes;
}

std::string deflated(const std::string& text) {
  std::string out(::compressBound(text.size()), '\0');
  uLongf size = out.size();
  ::compress(reinterpret_cast<Bytef*>(out.data()), &size,
             reinterpret_cast<const Bytef*>(text.data()), text.size());
  out.resize(size);
  return out;
}

// As objcopy --compress-debug-sections=zlib-gnu has it.
std::string packed_by_gnu(uint64_t size, const std::string& bytes) {
  std::string header = "ZLIB";
  for (int shift = 56; shift >= 0; shift -= 8) header += static_cast<char>(size >> shift);
  return header + bytes;
}

std::string member(const std::string& name, const std::string& content) {
  std::string header =
      fmt::format("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", name, 0, 0, 0, 644, content.size());
  return header + content + (content.size() % 2 != 0 ? "\n" : "");
}

std::vector<std::string> found(const std::string& file, ProblemLog& problems) {
  std::vector<std::string> texts;
  const auto sections = read_static_sections(as_bytes(file), "f", kName, problems);
  if (!sections) return {"error: " + to_string(sections.error())};
  for (const StaticSection& section : sections->sections)
    texts.push_back(section.member + ":" + text_of(section));
  return texts;
}

TEST(StaticSections, AreReadFromObjectsInOrder) {
  testing::ElfBuilder elf;
  for (const std::string text : {"one", "two"}) {
    testing::ElfBuilder::Section section;
    section.name = kName;
    section.bytes = text;
    elf.add(section);
  }
  ProblemLog problems;
  EXPECT_EQ(found(elf.build(), problems), (std::vector<std::string>{":one", ":two"}));
  EXPECT_EQ(problems.count(), 0U);
}

TEST(StaticSections, AreUnpacked) {
  const std::string text(5000, 'x');
  std::string zstd(::ZSTD_compressBound(text.size()), '\0');
  zstd.resize(::ZSTD_compress(zstd.data(), zstd.size(), text.data(), text.size(), 1));
  ProblemLog problems;
  for (const std::string& content :
       {packed(1, text.size(), deflated(text)), packed(2, text.size(), zstd)}) {
    EXPECT_EQ(found(object(content, SHF_COMPRESSED), problems),
              (std::vector<std::string>{":" + text}));
  }
  EXPECT_EQ(problems.count(), 0U);
}

TEST(StaticSections, AreUnpackedIfGnuToolsHaveRenamedThem) {
  const std::string text(5000, 'x');
  const std::string content = packed_by_gnu(text.size(), deflated(text));
  ProblemLog problems;
  EXPECT_EQ(found(object(content, 0, kGnuName), problems), (std::vector<std::string>{":" + text}));
  EXPECT_TRUE(found(object(content, 0, ".zdebug_site"), problems).empty());
  EXPECT_EQ(problems.count(), 0U);
}

TEST(StaticSections, DamagedOnesOfGnuToolsAreToldAndLeftOut) {
  const std::string text(5000, 'x');
  const std::string bytes = deflated(text);
  for (const std::string& content :
       {packed_by_gnu(text.size() + 1, bytes), packed_by_gnu(text.size() - 1, bytes),
        packed_by_gnu(uint64_t{1} << 62, bytes), packed_by_gnu(~uint64_t{0}, bytes),
        packed_by_gnu(text.size(), bytes.substr(0, 9)), packed_by_gnu(text.size(), ""),
        std::string("ZLIB"), std::string(), "zlib" + packed_by_gnu(text.size(), bytes).substr(4)}) {
    ProblemLog problems;
    EXPECT_TRUE(found(object(content, 0, kGnuName), problems).empty());
    EXPECT_EQ(problems.damage_count(), 1U);
  }
}

TEST(StaticSections, DamagedAndBombsAreToldAndLeftOut) {
  const std::string text(5000, 'x');
  for (const std::string& content :
       {packed(1, text.size() + 1, deflated(text)), packed(1, text.size() - 1, deflated(text)),
        packed(1, uint64_t{1} << 62, deflated(text)), packed(1, ~uint64_t{0}, deflated(text)),
        packed(2, text.size(), "no zstd"), packed(7, text.size(), "?"), std::string("short")}) {
    ProblemLog problems;
    EXPECT_TRUE(found(object(content, SHF_COMPRESSED), problems).empty());
    EXPECT_EQ(problems.damage_count(), 1U);
  }
}

TEST(StaticSections, AreReadFromArchivesOfAllKinds) {
  const std::string names = "a_name_that_is_longer.o/\nanother_long_name.o/\n";
  const std::string file = "!<arch>\n" + member("/", "index") + member("//", names) +
                           member("short.o/", object("s")) + member("/0", object("a")) +
                           member("/25", object("b")) + member("readme/", "text") +
                           member("#1/8", "bsd.o" + std::string(3, '\0') + object("c"));
  ProblemLog problems;
  EXPECT_EQ(found(file, problems),
            (std::vector<std::string>{"short.o:s", "a_name_that_is_longer.o:a",
                                      "another_long_name.o:b", "bsd.o:c"}));
  EXPECT_EQ(problems.count(), 0U);
}

TEST(StaticSections, EveryPrefixOfAnArchiveGivesItsWholeMembers) {
  const std::string file =
      "!<arch>\n" + member("one.o/", object("1")) + member("two.o/", object("22"));
  size_t before = 0;
  for (size_t size = 8; size <= file.size(); ++size) {
    ProblemLog problems;
    const std::vector<std::string> texts = found(file.substr(0, size), problems);
    ASSERT_GE(texts.size(), before) << size;
    before = texts.size();
    for (const Problem& problem : problems.kept()) ASSERT_LE(problem.offset, size);
  }
  EXPECT_EQ(before, 2U);
}

TEST(Archive, EveryPrefixHasOneProblemAtMostAndItsPlace) {
  const std::string file = "!<arch>\n" + member("one.o/", "abc") + member("two.o/", "defg");
  const size_t header = 60;
  const size_t first = 8;
  const size_t second = first + header + 4;  // three bytes and one of padding
  for (size_t size = first; size <= file.size(); ++size) {
    ProblemLog problems;
    const auto members =
        read_archive(as_bytes(std::string_view(file).substr(0, size)), "a", problems);
    ASSERT_TRUE(members) << size;
    const size_t begin = size < second ? first : second;  // of the truncated member
    const size_t content = begin == first ? 3 : 4;
    const bool in_header = size > begin && size < begin + header;
    const bool in_content = size >= begin + header && size < begin + header + content;
    EXPECT_EQ(members->size(), (begin == second ? 1U : 0U) + (size >= begin + header ? 1U : 0U));
    ASSERT_EQ(problems.count(), in_header || in_content ? 1U : 0U) << size;
    if (problems.count() == 0) continue;
    const Problem problem = problems.kept().front();
    EXPECT_EQ(problem.kind, Problem::Kind::torn_tail) << size;
    EXPECT_EQ(problem.offset, in_header ? begin : begin + header) << size;
    EXPECT_EQ(problem.lost_bytes, in_header ? size - begin : 0U) << size;
  }
}

TEST(Archive, EndsAtAHeaderThatIsDamaged) {
  const std::string one = "!<arch>\n" + member("one.o/", "abcd");
  const std::string two = member("two.o/", "efgh");
  for (const size_t at : {48U, 58U, 59U}) {  // the size, and both bytes of the mark
    std::string file = one + two + member("three.o/", "ijkl");
    file[one.size() + at] = 'x';
    ProblemLog problems;
    const auto members = read_archive(as_bytes(file), "a", problems);
    ASSERT_TRUE(members) << at;
    ASSERT_EQ(members->size(), 1U) << at;
    EXPECT_EQ(members->front().name, "one.o");
    ASSERT_EQ(problems.count(), 1U) << at;
    const Problem problem = problems.kept().front();
    EXPECT_EQ(problem.kind, Problem::Kind::corruption);
    EXPECT_EQ(problem.offset, one.size());
    EXPECT_EQ(problem.lost_bytes, file.size() - one.size()) << "all that is left";
  }
}

TEST(StaticSections, OtherFilesAreRefused) {
  ProblemLog problems;
  EXPECT_FALSE(read_static_sections(as_bytes("text"), "f", kName, problems));
  const auto thin = read_static_sections(as_bytes("!<thin>\n"), "f", kName, problems);
  ASSERT_TRUE(thin);
  EXPECT_EQ(thin->objects, 0U);
  EXPECT_TRUE(is_archive(as_bytes("!<arch>\n")));
}

}  // namespace
}  // namespace telltale
