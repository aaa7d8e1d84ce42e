#include "program/stored_cores.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace telltale {
namespace {

namespace fs = std::filesystem;

class StoredCores : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "telltale-cores-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(folder_); }
  void add(const std::string& name) { std::ofstream(fs::path(folder_) / name) << "x"; }
  [[nodiscard]] std::string find(std::string_view which) const {
    const auto core = find_stored_core(folder_, which);
    return core ? fs::path(core->path).filename().string() : "";
  }

  std::string folder_;
};

constexpr const char* kBoot = "0123456789abcdef0123456789abcdef";

TEST_F(StoredCores, AreChosenByTimeProcessAndCommand) {
  const std::string boot = kBoot;
  const std::string first = "core.parser.1000." + boot + ".4711.1700000000000000.zst";
  const std::string reused = "core.web\\x20server.0." + boot + ".4711.1700000005000000.lz4";
  const std::string last = "core.a\\x2eout.1000." + boot + ".12.1700000009000000.xz";
  const std::string plain = "core.parser.1000." + boot + ".9.1690000000000000";
  const std::string longest = "core.a-very-long-com.1000." + boot + ".10.1680000000000000";
  for (const std::string& name : {plain, last, first, reused, longest}) add(name);
  for (const char* name : {"core", "core.x.1.2.3.4", "notes.txt", "core.x.1000.short.4711.1.zst"})
    add(name);
  add("core.x.1000." + boot + ".4711.1900000000000000.tmp");
  EXPECT_EQ(find("last"), last);
  EXPECT_EQ(find("4711"), reused);
  EXPECT_EQ(find("parser"), first);
  EXPECT_EQ(find("a.out"), last);
  EXPECT_EQ(find("web server"), reused);
  EXPECT_EQ(find("a-very-long-command"), longest);
  EXPECT_EQ(find("9"), plain);
  EXPECT_EQ(find("10"), longest);
  EXPECT_EQ(find("web"), "");
  EXPECT_EQ(find("471"), "");
  const auto cores = list_stored_cores(folder_);
  ASSERT_TRUE(cores);
  ASSERT_EQ(cores->size(), 5U);
  EXPECT_EQ((*cores)[1].uid, 0U);
  EXPECT_EQ((*cores)[1].boot, boot);
  EXPECT_EQ((*cores)[1].microseconds, 1700000005000000U);
}

TEST_F(StoredCores, SayWhereElseToLook) {
  const auto none = find_stored_core(folder_, "4711");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().cause, Error::Cause::usage);
  EXPECT_NE(none.error().detail.find("no core file of process 4711"), std::string::npos);
  EXPECT_NE(none.error().detail.find("coredumpctl dump 4711"), std::string::npos);
  const auto missing = find_stored_core(folder_ + "/missing", "last");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().cause, Error::Cause::io);
}

}  // namespace
}  // namespace telltale
