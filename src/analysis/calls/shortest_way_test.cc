#include "analysis/calls/shortest_way.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace telltale {
namespace {

ShortestWay way_of(const std::string& a, const std::string& b, size_t most, size_t in_pieces) {
  return find_shortest_way(
      a.size(), b.size(), [&](size_t i, size_t j) { return a.at(i) == b.at(j); }, most, in_pieces);
}

size_t longest_common(const std::string& a, const std::string& b) {
  std::vector<std::vector<size_t>> common(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 1; i <= a.size(); ++i)
    for (size_t j = 1; j <= b.size(); ++j)
      common[i][j] = a[i - 1] == b[j - 1] ? common[i - 1][j - 1] + 1
                                          : std::max(common[i - 1][j], common[i][j - 1]);
  return common.back().back();
}

TEST(ShortestWay, RandomSequencesInOneAndInSeveralPieces) {
  std::mt19937 random(5);
  size_t given_up = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string texts[2];
    for (std::string& text : texts) {
      const size_t length = random() % 40;
      for (size_t i = 0; i < length; ++i) text += static_cast<char>('a' + random() % 4);
    }
    const size_t most = round % 2 == 0 ? 100 : random() % 12;
    const ShortestWay way = way_of(texts[0], texts[1], most, 1 + random() % 5);
    for (size_t at = 0; at < way.pairs.size(); ++at) {
      const auto [i, j] = way.pairs[at];
      ASSERT_EQ(texts[0].at(i), texts[1].at(j));
      if (at == 0) continue;
      ASSERT_LT(way.pairs[at - 1].first, i);
      ASSERT_LT(way.pairs[at - 1].second, j);
    }
    const size_t longest = longest_common(texts[0], texts[1]);
    if (way.shortest) {
      EXPECT_EQ(way.pairs.size(), longest) << texts[0] << " " << texts[1];
    } else {
      EXPECT_LE(way.pairs.size(), longest);
      ++given_up;
    }
    if (most == 100) {
      EXPECT_TRUE(way.shortest);
    }
  }
  EXPECT_GT(given_up, 500U);
}

TEST(ShortestWay, TheRestIsSearchedFromWhereTheWayGotFurthest) {
  // Three differences, two allowed: what comes after them is still found.
  const ShortestWay way = way_of("1aaaa2bbbb3cccc", "aaaabbbbcccc", 2, 2);
  EXPECT_FALSE(way.shortest);
  EXPECT_EQ(way.pairs.size(), 12U);
}

}  // namespace
}  // namespace telltale
