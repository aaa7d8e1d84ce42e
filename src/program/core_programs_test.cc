#include "program/core_programs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>

#include <string>
#include <utility>

#include "bytes/as_bytes.h"
#include "program/minidump.h"
#include "program/recorded_program.h"
#include "support/core_builder.h"
#include "support/minidump_builder.h"

namespace telltale {
namespace {

using testing::CoreBuilder;
using ::testing::HasSubstr;
using ::testing::Not;

// What is said if the test itself is given as a program of the first bytes of a core file.
std::string said_of(const std::string& bytes, size_t size) {
  ProblemLog problems;
  const Result<CoreFile> core =
      CoreFile::read(as_bytes(std::string_view(bytes).substr(0, size)), "core", problems);
  if (!core) return to_string(core.error());
  const auto found = find_core_programs(*core, "core", {.paths = {"/proc/self/exe"}}, problems);
  return found ? "" : to_string(found.error());
}

std::string said_of(const std::string& bytes) { return said_of(bytes, bytes.size()); }

TEST(CorePrograms, ACoreFileThatIsCutBeforeItsNotesCannotSayWhatItIsOf) {
  const std::string bytes =
      CoreBuilder()
          .process(100, "./parser")
          .mappings({{0x555000000000, 0x555000002000, 0, "/home/user/parser"}})
          .memory(0x7ffe1000, "0123456789abcdef")
          .build();
  const std::string whole = said_of(bytes, bytes.size());
  EXPECT_THAT(whole, HasSubstr("/proc/self/exe: is not a program of core: its build-id is "));
  const size_t notes = bytes.find("CORE");
  ASSERT_NE(notes, std::string::npos);
  for (const size_t size : {notes - 12, notes, notes + 30}) {
    const std::string said = said_of(bytes, size);
    EXPECT_THAT(said, HasSubstr("core: the file is cut before, or inside, what names its programs, "
                                "so that nothing says whether /proc/self/exe is one of them"));
    EXPECT_THAT(said, Not(HasSubstr("is not a program of")));
  }
  EXPECT_EQ(said_of(bytes, bytes.size() - 1), whole) << "the notes are there";
}

TEST(CorePrograms, WithoutBuildIdAProgramNeedsItsNameOrItsPlaces) {
  // The file is mapped as a whole, as minidumps tell it.
  const auto said = [](const std::string& path) {
    return said_of(CoreBuilder()
                       .program_headers(0x555000000040)
                       .mappings({{0x555000000000, 0x555000002000, 0, path}})
                       .build());
  };
  EXPECT_THAT(said("/nowhere/parser"), HasSubstr("is not a program of core"));
  EXPECT_EQ(said("/nowhere/exe"), "");
  // One of its segments is elsewhere.
  EXPECT_THAT(said_of(CoreBuilder()
                          .program_headers(0x555000000040)
                          .mappings({{0x555000000000, 0x555000001000, 0, "/nowhere/parser"},
                                     {0x555000001000, 0x555000002000, 7, "/nowhere/parser"}})
                          .build()),
              HasSubstr("/nowhere/parser with build-id unknown, whose segments have other places"));
}

TEST(CorePrograms, WhatCannotBeVerifiedIsALoss) {
  const std::string bytes = CoreBuilder()
                                .program_headers(0x555000000040)
                                .mappings({{0x555000000000, 0x555000002000, 0, "/nowhere/exe"}})
                                .build();
  ProblemLog problems;
  const Result<CoreFile> core = CoreFile::read(as_bytes(bytes), "core", problems);
  ASSERT_TRUE(core);
  const auto found = find_core_programs(*core, "core", {.paths = {"/proc/self/exe"}}, problems);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->programs.size(), 1U);
  EXPECT_EQ(found->programs[0].path, "/proc/self/exe");
  ASSERT_EQ(problems.kept().size(), 1U);
  EXPECT_EQ(problems.kept()[0].kind, Problem::Kind::loss);
  EXPECT_EQ(problems.kept()[0].message,
            "the core file does not have that of /proc/self/exe: answers are right only if it is "
            "the file that ran");
}

// The path of this process's C library.
std::string c_library() {
  std::string path;
  const auto look = [](dl_phdr_info* object, size_t, void* found) {
    const std::string name = object->dlpi_name;
    if (name.ends_with("/libc.so.6")) *static_cast<std::string*>(found) = name;
    return 0;
  };
  ::dl_iterate_phdr(look, &path);
  return path;
}

TEST(CorePrograms, ALibraryOfWhichOnlyTheNameIsKnownIsFoundByItsBuildId) {
  const std::string path = c_library();
  const Result<std::string> build_id = read_build_id(path);
  ASSERT_TRUE(build_id && !build_id->empty()) << path;
  const auto found = [](std::string digits) {
    std::string code_view = "LEpB";
    for (; !digits.empty(); digits.erase(0, 2))
      code_view += static_cast<char>(std::stoi(digits.substr(0, 2), nullptr, 16));
    const std::string bytes = testing::MinidumpBuilder()
                                  .system(9)
                                  .module(0x7f0000000000, 0x200000, u"libc.so.6", code_view)
                                  .build();
    ProblemLog problems;
    Result<Minidump> dump = read_minidump(as_bytes(bytes), "dump", problems);
    EXPECT_TRUE(dump);
    const CoreFile core = CoreFile::from_parts(std::move(dump->parts), as_bytes(bytes), "dump");
    const auto programs = find_core_programs(core, "dump", {}, problems);
    EXPECT_TRUE(programs);
    return programs->programs;
  };
  const auto programs = found(*build_id);
  ASSERT_EQ(programs.size(), 1U);
  EXPECT_EQ(read_build_id(programs[0].path).value_or(""), *build_id);
  EXPECT_TRUE(found("00" + build_id->substr(2)).empty());
}

}  // namespace
}  // namespace telltale
