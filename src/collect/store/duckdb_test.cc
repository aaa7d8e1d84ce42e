#include "collect/store/duckdb.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>

namespace telltale::collect {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMemory = uint64_t{32} << 20;
// Takes more than that.
constexpr const char* kLarge =
    "CREATE TABLE large AS SELECT range AS number, md5(range::VARCHAR) AS text "
    "FROM range(3000000)";

class DuckdbTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!duckdb::functions()) GTEST_SKIP() << "DuckDB's library is not there";
    ASSERT_NE(::mkdtemp(place_.data()), nullptr);
  }
  ~DuckdbTest() override {
    std::error_code gone;
    fs::remove_all(place_, gone);
  }

  [[nodiscard]] auto folders() const {
    return std::distance(fs::directory_iterator(place_), fs::directory_iterator());
  }
  // Whether DuckDB has written what did not fit into memory.
  [[nodiscard]] bool has_spilled() const {
    return std::ranges::any_of(
        fs::recursive_directory_iterator(place_),
        [](const fs::directory_entry& one) { return one.is_regular_file(); });
  }

  std::string place_ = fs::temp_directory_path() / "telltale-duckdb-XXXXXX";
};

TEST_F(DuckdbTest, WhatItWritesIsRemovedWithTheDatabase) {
  {
    auto opened = Database::open(kMemory, place_);
    ASSERT_TRUE(opened);
    const Database database = *std::move(opened);
    const auto other = Database::open(kMemory, place_);
    EXPECT_EQ(folders(), 2) << "each has its own";
    Connection connection(database);
    EXPECT_TRUE(connection.run(kLarge));
    EXPECT_TRUE(has_spilled());
  }
  EXPECT_EQ(folders(), 0);
}

TEST_F(DuckdbTest, WhatItWritesIsRemovedByASignal) {
  const pid_t child = ::fork();
  if (child == 0) {
    remove_temporary_paths_on_signals();
    const auto database = Database::open(kMemory, place_);
    if (!database) ::_exit(1);
    Connection connection(*database);
    if (!connection.run(kLarge) || !has_spilled()) ::_exit(2);
    ::raise(SIGTERM);
    ::_exit(3);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
  EXPECT_EQ(folders(), 0);
}

TEST_F(DuckdbTest, WithoutAFolderLargeQueriesFail) {
  for (const std::string& nowhere : {std::string(), place_ + "/missing"}) {
    const auto database = Database::open(kMemory, nowhere);
    ASSERT_TRUE(database);
    Connection connection(*database);
    EXPECT_FALSE(connection.run(kLarge)) << nowhere;
  }
  EXPECT_EQ(folders(), 0);
}

}  // namespace
}  // namespace telltale::collect
