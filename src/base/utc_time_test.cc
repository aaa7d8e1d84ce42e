#include "base/utc_time.h"

#include <gtest/gtest.h>

#include <limits>

namespace telltale {
namespace {

TEST(UtcTime, Dates) {
  EXPECT_EQ(utc_words(0), "1970-01-01 00:00:00 UTC");
  EXPECT_EQ(utc_words(1'795'648'433), "2026-11-25 23:13:53 UTC");
  EXPECT_EQ(utc_iso(1'795'648'433), "2026-11-25T23:13:53Z");
  EXPECT_EQ(utc_iso(-1), "1969-12-31T23:59:59Z");
}

TEST(UtcTime, NumbersWithoutADateAreSeconds) {
  EXPECT_EQ(utc_iso(253'402'300'799), "9999-12-31T23:59:59Z");
  EXPECT_EQ(utc_iso(253'402'300'800), "253402300800 s after 1970");
  EXPECT_EQ(utc_words(-62'167'219'200), "0000-01-01 00:00:00 UTC");
  EXPECT_EQ(utc_words(-62'167'219'201), "-62167219201 s after 1970");
  EXPECT_EQ(utc_words(std::numeric_limits<int64_t>::max()), "9223372036854775807 s after 1970");
}

}  // namespace
}  // namespace telltale
