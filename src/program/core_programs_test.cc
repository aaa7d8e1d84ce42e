#include "program/core_programs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "bytes/as_bytes.h"
#include "support/core_builder.h"

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
    EXPECT_THAT(said, HasSubstr("core: the core file is cut before, or inside, the notes that name "
                                "its programs, so that nothing says whether /proc/self/exe is one "
                                "of them"));
    EXPECT_THAT(said, Not(HasSubstr("is not a program of")));
  }
  EXPECT_EQ(said_of(bytes, bytes.size() - 1), whole) << "the notes are there";
}

}  // namespace
}  // namespace telltale
