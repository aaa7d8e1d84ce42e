#include "collect/client/report_spool.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

namespace telltale::collect {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

TEST(WaitAfter, DoublesUpToSixHours) {
  constexpr double kAlmostOne = 0.999999999;
  EXPECT_EQ(wait_after(1, seconds(60), {}, kAlmostOne), seconds(60));
  EXPECT_EQ(wait_after(2, seconds(60), {}, kAlmostOne), seconds(120));
  EXPECT_EQ(wait_after(4, seconds(60), {}, kAlmostOne), seconds(480));
  EXPECT_EQ(wait_after(30, seconds(60), {}, kAlmostOne), hours(6));
  EXPECT_EQ(wait_after(4'000'000'000, seconds(21600), {}, kAlmostOne), hours(6));
}

TEST(WaitAfter, IsAtLeastHalfOfThat) {
  EXPECT_EQ(wait_after(2, seconds(60), {}, 0), seconds(60));
  EXPECT_EQ(wait_after(2, seconds(60), {}, 0.5), seconds(90));
}

TEST(WaitAfter, IsNoLessThanTheServerAsksFor) {
  EXPECT_EQ(wait_after(1, seconds(60), seconds(700), 0), seconds(700));
  EXPECT_EQ(wait_after(1, seconds(60), hours(100), 0), hours(6));  // but no server stops it
}

class RetryTest : public ::testing::Test {
 protected:
  RetryTest() : spool_(::testing::TempDir() + "telltale-retry-" + std::to_string(::getpid())) {
    std::filesystem::create_directories(spool_.folder());
  }
  ~RetryTest() override { std::filesystem::remove_all(spool_.folder()); }
  Retry read(const char* url) { return read_retry(spool_, *parse_upload_url(url)); }
  void put(const std::string& text) { std::ofstream(spool_.folder() + "/retry") << text; }

  const std::chrono::system_clock::time_point due_ =
      std::chrono::floor<seconds>(std::chrono::system_clock::now()) + hours(1);
  ReportSpool spool_;
};

TEST_F(RetryTest, BelongsToAServer) {
  ASSERT_TRUE(write_retry(spool_, *parse_upload_url("https://a:443/base/"), {3, due_}));
  EXPECT_EQ(read("https://a/base").attempts, 3U);
  EXPECT_EQ(read("https://a/base").due, due_);
  for (const char* const other : {"https://a", "https://a:8443/base", "http://a:443/base"}) {
    EXPECT_EQ(read(other).attempts, 0U) << other;
    EXPECT_LT(read(other).due, std::chrono::system_clock::now()) << other;
  }
}

TEST_F(RetryTest, FilesOfOlderVersionsAreForEachServer) {
  const std::string due = std::to_string(std::chrono::system_clock::to_time_t(due_));
  put("2 " + due + "\n");
  EXPECT_EQ(read("https://a").attempts, 2U);
  EXPECT_EQ(read("https://a").due, due_);
  for (const std::string& damaged : {"2 " + due, "2\n" + due + "\n", "2 " + due + "\nhttps://a",
                                     "x " + due + "\n", std::string("2 99999999999999999\n")}) {
    put(damaged);
    EXPECT_EQ(read("https://a").attempts, 0U) << damaged;
  }
}

}  // namespace
}  // namespace telltale::collect
