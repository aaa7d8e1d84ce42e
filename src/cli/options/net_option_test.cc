#include "cli/options/net_option.h"

#include <gtest/gtest.h>

namespace telltale::cli {
namespace {

TEST(NetOption, ReadsACost) {
  EXPECT_EQ(parse_recorder_cost("20ns"), (RecorderCost{10'000, 10'000}));
  EXPECT_EQ(parse_recorder_cost("20"), (RecorderCost{10'000, 10'000}));
  EXPECT_EQ(parse_recorder_cost("9.5ns+10.25"), (RecorderCost{9'500, 10'250}));
  EXPECT_EQ(parse_recorder_cost("0+1us"), (RecorderCost{0, 1'000'000}));
  EXPECT_EQ(parse_recorder_cost("1000us"), (RecorderCost{500'000'000, 500'000'000}));
}

TEST(NetOption, RefusesWhatIsNone) {
  for (const char* const text : {"", "0", "ns", "+", "1+", "+1", "1+2+3", "-1ns", "1ms", "1001us",
                                 "nan", "inf", "1e3", "1 ns", "20nss"})
    EXPECT_EQ(parse_recorder_cost(text), std::nullopt) << text;
}

}  // namespace
}  // namespace telltale::cli
