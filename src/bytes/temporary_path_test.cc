#include "bytes/temporary_path.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace telltale {
namespace {

namespace fs = std::filesystem;

class TemporaryPathTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(::mkdtemp(place_.data()), nullptr); }
  void TearDown() override { fs::remove_all(place_); }
  [[nodiscard]] std::string file(const std::string& name, const std::string& text = "text") const {
    const fs::path path = fs::path(place_) / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }

  std::string place_ = fs::temp_directory_path() / "telltale-temporary-XXXXXX";
};

TEST_F(TemporaryPathTest, RemovesAFolderWithAllThatIsInIt) {
  const std::string kept = file("kept/in it");
  const std::string removed = place_ + "/removed";
  // More than one read of the folder tells.
  for (int i = 0; i < 300; ++i) static_cast<void>(file("removed/a/b/" + std::to_string(i)));
  fs::create_directory_symlink(fs::path(kept).parent_path(), removed + "/link");
  {
    const TemporaryPath temporary(removed);
  }
  EXPECT_FALSE(fs::exists(removed));
  EXPECT_TRUE(fs::exists(kept)) << "a link was followed";
}

TEST_F(TemporaryPathTest, MovesAndReleases) {
  const std::string first = file("first");
  const std::string second = file("second");
  TemporaryPath temporary(first);
  TemporaryPath moved(std::move(temporary));
  EXPECT_EQ(moved.path(), first);
  moved = TemporaryPath(second);
  EXPECT_FALSE(fs::exists(first));
  moved.release();
  EXPECT_TRUE(moved.empty());
  EXPECT_TRUE(fs::exists(second));
}

// Ends a process by the signal, after a child of it has ended so; returns the signal that ended it.
int ended_by(int signal, const std::string& released, const std::vector<std::string>& owned) {
  const pid_t child = ::fork();
  if (child == 0) {
    remove_temporary_paths_on_signals();
    std::vector<TemporaryPath> temporary;
    temporary.reserve(owned.size());
    for (const std::string& path : owned) temporary.emplace_back(path);
    TemporaryPath other(released);
    other.release();
    const pid_t grandchild = ::fork();
    if (grandchild == 0) ::raise(signal);
    int status = 0;
    ::waitpid(grandchild, &status, 0);
    if (!WIFSIGNALED(status) || !fs::exists(owned.front())) ::_exit(1);
    ::raise(signal);
    ::_exit(2);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

TEST_F(TemporaryPathTest, ASignalRemovesThemAndEndsTheProcess) {
  for (const int signal : {SIGHUP, SIGINT, SIGPIPE, SIGALRM, SIGTERM, SIGUSR1, SIGUSR2}) {
    const std::string released = file("released");
    const std::string owned = file("owned");
    const std::string folder = fs::path(file("folder/a/b")).parent_path().parent_path().string();
    EXPECT_EQ(ended_by(signal, released, {owned, folder}), signal);
    EXPECT_TRUE(fs::exists(released));
    EXPECT_FALSE(fs::exists(owned));
    EXPECT_FALSE(fs::exists(folder));
  }
}

TEST_F(TemporaryPathTest, AnIgnoredSignalStaysIgnored) {
  const std::string owned = file("owned");
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGHUP, SIG_IGN);
    remove_temporary_paths_on_signals();
    const TemporaryPath temporary(owned);
    ::raise(SIGHUP);
    ::_exit(fs::exists(owned) ? 7 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

}  // namespace
}  // namespace telltale
