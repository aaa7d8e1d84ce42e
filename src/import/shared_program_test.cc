#include "import/shared_program.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace telltale {
namespace {

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

TEST(SharedProgram, IsReadOnceUntilItsFileChanges) {
  const std::string path = ::testing::TempDir() + "shared-program";
  write(path, "no program");
  const auto first = shared_program(path, true);
  EXPECT_EQ(shared_program(path, true), first);
  EXPECT_NE(shared_program(path, false), first);
  write(path, "no program, but longer");
  const auto changed = shared_program(path, true);
  EXPECT_NE(changed, first);
  EXPECT_EQ(changed->path(), path);
  EXPECT_EQ(shared_program(path, true), changed);
}

TEST(SharedProgram, TellsEachReaderWhatIsWrong) {
  const std::string path = ::testing::TempDir() + "shared-program-without-map";
  write(path, "no program");
  const auto program = shared_program(path, true);
  for (int reader = 0; reader < 2; ++reader) {
    ProblemLog problems;
    EXPECT_EQ(program->map(problems), nullptr);
    EXPECT_EQ(problems.count(), 1U) << reader;
  }
}

}  // namespace
}  // namespace telltale
