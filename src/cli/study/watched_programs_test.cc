#include "cli/study/watched_programs.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace telltale::cli {
namespace {

namespace fs = std::filesystem;

TEST(WatchedPrograms, ChangeOnceForEachWrittenOrReplacedFile) {
  const std::string path = testing::TempDir() + "watched-program";
  const auto write = [](const std::string& file, const char* text) { std::ofstream(file) << text; };
  write(path, "first");
  WatchedPrograms programs({path, path + "-missing"});
  EXPECT_FALSE(programs.changed());
  write(path, "longer than first");
  EXPECT_TRUE(programs.changed());
  EXPECT_FALSE(programs.changed());
  write(path + "-new", "longer than first");
  fs::rename(path + "-new", path);
  EXPECT_TRUE(programs.changed());
  fs::remove(path);
  EXPECT_FALSE(programs.changed());
  write(path, "back");
  EXPECT_TRUE(programs.changed());
  fs::remove(path);
}

}  // namespace
}  // namespace telltale::cli
