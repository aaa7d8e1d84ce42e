#include "collect/client/report_spool.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace telltale::collect
