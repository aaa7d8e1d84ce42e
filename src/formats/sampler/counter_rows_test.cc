#include "formats/sampler/counter_rows.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace telltale::sampler {
namespace {

TEST(SamplerRows, AreAddedAndDamagedOnesLeaveNoTrace) {
  std::vector<uint64_t> sums;
  RowTally tally = add_counters("0\t0\t0\n1\t2\t3\n12\t0\t99\n", 3, sums);
  EXPECT_EQ(tally.rows, 3U);
  EXPECT_EQ(sums, (std::vector<uint64_t>{0, 0, 0, 1, 2, 3, 12, 0, 99}));
  tally = add_counters("5\t0\t0\n7\t8\n1\t1\t1\t1\n", 3, sums);
  EXPECT_EQ(tally.bad_rows, (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(tally.first_bad, 6U);
  EXPECT_EQ(sums, (std::vector<uint64_t>{5, 0, 0, 1, 2, 3, 12, 0, 99}));
  for (const std::string_view bad :
       {"1\t2\t\n", "\t1\t2\n", "-1\t1\t1\n", "+1\t0\t0\n", " 1\t0\t0\n", "0\t0\t0 \n", "\n",
        "18446744073709551616\t0\t0\n", "99999999999999999999999999\t0\t0\n"}) {
    EXPECT_EQ(add_counters(bad, 3, sums).bad_rows.size(), 1U) << bad;
  }
  EXPECT_EQ(sums[0], 5U);
}

// Eight characters are read at once, where the text has as many left.
TEST(SamplerRows, NumbersOfEveryLengthAreReadAtEveryDistanceFromTheEnd) {
  const std::string digits = "9182736450918273645";
  for (size_t length = 1; length <= digits.size(); ++length) {
    const std::string number = digits.substr(0, length);
    for (size_t after = 0; after <= 9; ++after) {
      const std::string other = after == 0 ? "" : std::string(after - 1, '0') + "7";
      const std::string body = number + (after == 0 ? "" : "\t" + other) + "\n";
      std::vector<uint64_t> sums;
      const size_t arity = after == 0 ? 1 : 2;
      EXPECT_TRUE(add_counters(body, arity, sums).bad_rows.empty()) << body;
      EXPECT_EQ(sums[0], std::stoull(number)) << body;
      EXPECT_TRUE(after == 0 || sums[1] == 7) << body;
    }
  }
}

TEST(SamplerRows, NoOtherCharacterIsADigit) {
  for (int code = 0; code < 256; ++code) {
    const char character = static_cast<char>(code);
    if (character >= '0' && character <= '9') continue;
    for (size_t place = 0; place < 7; ++place) {
      std::string body = "1234567\t12345678\n";
      body[place] = character;
      std::vector<uint64_t> sums;
      const RowTally tally = add_counters(body, 2, sums);
      EXPECT_FALSE(tally.bad_rows.empty()) << code;
      EXPECT_EQ(tally.first_bad, 0U) << code;
    }
  }
}

TEST(SamplerRows, SumsStopAtTheLargestNumber) {
  std::vector<uint64_t> sums;
  add_counters("18446744073709551615\n", 1, sums);
  EXPECT_EQ(sums[0], UINT64_MAX);
  EXPECT_EQ(add_counters("1\n", 1, sums).saturated, 1U);
  EXPECT_EQ(sums[0], UINT64_MAX);
}

// 64 numbers a row according to the first one, and then blank lines.
TEST(SamplerRows, MemoryIsBoundedByTheText) {
  const std::string body = std::string(63, '\t') + "\n" + std::string(1 << 20, '\n');
  std::vector<uint64_t> sums;
  const RowTally tally = add_counters(body, 64, sums);
  EXPECT_EQ(tally.rows, (1U << 20) + 1);
  EXPECT_EQ(tally.unread + tally.bad_rows.size(), tally.rows);
  EXPECT_LE(sums.size(), body.size() + 1024 * 64);
}

TEST(SamplerRows, NoMoreThanTheSitesAreRead) {
  std::vector<uint64_t> sums;
  const RowTally tally = add_counters("1\n2\n3\n", 1, sums, 2);
  EXPECT_EQ(tally.rows, 3U);
  EXPECT_EQ(sums, (std::vector<uint64_t>{1, 2}));
}

TEST(SamplerRows, BoundsMergeToTheWidest) {
  std::vector<Bounds> bounds;
  merge_bounds("5\t9\n2147483647\t-2147483648\n0x10\t0x20\n255\t0\n", bounds);
  EXPECT_TRUE(bounds[0].observed());
  EXPECT_FALSE(bounds[1].observed());
  EXPECT_FALSE(bounds[3].observed());
  merge_bounds("-3\t7\n1\t2\n(nil)\t0x11\n255\t0\n", bounds);
  EXPECT_EQ(to_string(bounds[0].minimum) + " " + to_string(bounds[0].maximum), "-3 9");
  EXPECT_EQ(to_string(bounds[1].minimum) + " " + to_string(bounds[1].maximum), "1 2");
  EXPECT_EQ(to_string(bounds[2].minimum) + " " + to_string(bounds[2].maximum), "(nil) 0x20");
  for (const std::string_view bad : {"1\n", "a\tb\n", "-0\t1\n", "-9223372036854775809\t1\n"})
    EXPECT_EQ(merge_bounds(bad, bounds).bad_rows.size(), 1U) << bad;
}

TEST(SamplerRows, TimestampsKeepTheEarliestFirstAndTheLatestLast) {
  std::vector<uint64_t> first;
  std::vector<uint64_t> last;
  for (const std::string_view body : {"0\n7\n9\n", "5\n0\n11\n"}) {
    merge_timestamps(body, true, first);
    merge_timestamps(body, false, last);
  }
  EXPECT_EQ(first, (std::vector<uint64_t>{5, 7, 9}));
  EXPECT_EQ(last, (std::vector<uint64_t>{5, 7, 11}));
}

}  // namespace
}  // namespace telltale::sampler
