#include "formats/sampler/sampling_wish.h"

#include <gtest/gtest.h>

#include <string_view>

namespace telltale::sampler {
namespace {

WishText text_of(std::string_view text) { return {text.data(), text.data() + text.size()}; }

TEST(SamplingWish, ReadsRates) {
  uint8_t first = 1;
  EXPECT_TRUE(read_rates(text_of("uniform"), first));
  EXPECT_EQ(first, 0);
  EXPECT_TRUE(read_rates(text_of("adaptive"), first));
  EXPECT_EQ(first, kFirstExecutions);
  EXPECT_TRUE(read_rates(text_of("adaptive:255"), first));
  EXPECT_EQ(first, 255);
  EXPECT_TRUE(read_rates(text_of("adaptive:1"), first));
  EXPECT_EQ(first, 1);
  for (const char* const wrong : {"", "Uniform", "uniform ", "uniformly", "adaptive:", "adaptive:0",
                                  "adaptive:256", "adaptive:-1", "adaptive:1x", "adaptiv", "8"})
    EXPECT_FALSE(read_rates(text_of(wrong), first)) << wrong;
  EXPECT_EQ(first, 1);
}

TEST(SamplingWish, ReadsSparsityAndRates) {
  SamplingWish wish;
  ASSERT_TRUE(read_sampling_wish(text_of("1000000000\n"), wish));
  EXPECT_EQ(wish.sparsity, kMostSparsity);
  EXPECT_FALSE(wish.has_rates);
  ASSERT_TRUE(read_sampling_wish(text_of("7\nadaptive:3\n"), wish));
  EXPECT_EQ(wish.sparsity, 7U);
  EXPECT_TRUE(wish.has_rates);
  EXPECT_EQ(wish.first, 3);
  for (const char* const wrong : {"", "\n", "x", "1000000001", "18446744073709551617", "-1", "+1",
                                  "7x", "7 often", "7 uniform 8", "0x10"})
    EXPECT_FALSE(read_sampling_wish(text_of(wrong), wish)) << wrong;
  EXPECT_EQ(wish.sparsity, 7U);
  EXPECT_EQ(wish.first, 3);
}

TEST(SamplingWish, TheFirstRuleThatFitsCounts) {
  const std::string_view rules =
      "# a 1 1\n\nb * 1\na beef 2 uniform\na bee x\na bee 3 adaptive:4\na * 5\na * 6";
  SamplingWish wish;
  const auto found = [&](const char* application, std::string_view build) {
    return find_sampling_rule(text_of(rules), application, text_of(build), wish);
  };
  ASSERT_TRUE(found("a", "beef01"));
  EXPECT_EQ(wish.sparsity, 2U);
  EXPECT_EQ(wish.first, 0);
  ASSERT_TRUE(found("a", "bee"));
  EXPECT_EQ(wish.sparsity, 3U);
  EXPECT_EQ(wish.first, 4);
  ASSERT_TRUE(found("a", ""));
  EXPECT_EQ(wish.sparsity, 5U);
  EXPECT_FALSE(wish.has_rates);
  EXPECT_FALSE(found("ab", "beef01"));
  EXPECT_FALSE(found("", ""));
}

}  // namespace
}  // namespace telltale::sampler
