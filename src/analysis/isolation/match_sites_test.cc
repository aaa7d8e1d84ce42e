#include "analysis/isolation/match_sites.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace telltale::isolation {
namespace {

using Builds = std::vector<std::vector<StatedSite>>;
using Numbers = std::vector<uint32_t>;

// Whatever the order of the builds.
SiteMatches match(Builds builds, uint32_t sites) {
  const SiteMatches matches = match_sites(builds, sites);
  std::ranges::reverse(builds);
  const SiteMatches reversed = match_sites(builds, sites);
  EXPECT_EQ(matches.same_as, reversed.same_as);
  EXPECT_EQ(matches.ambiguous, reversed.ambiguous);
  return matches;
}

Numbers ambiguous_of(const SiteMatches& matches) {
  Numbers numbers;
  for (uint32_t i = 0; i < matches.ambiguous.size(); ++i) {
    if (matches.ambiguous[i]) numbers.push_back(i);
  }
  return numbers;
}

TEST(MatchSites, StatementsWhereverTheyAre) {
  const SiteMatches found = match({{{0, "a"}, {1, "b"}}, {{2, "b"}, {3, "new"}, {4, "a"}}}, 5);
  EXPECT_EQ(found.same_as, (Numbers{0, 1, 1, 3, 0}));
  EXPECT_EQ(ambiguous_of(found), Numbers());
}

TEST(MatchSites, EqualStatementsByTheirOrder) {
  const SiteMatches found =
      match({{{0, "a"}, {1, "b"}, {2, "a"}}, {{3, "a"}, {4, "a"}, {5, "b"}}}, 6);
  EXPECT_EQ(found.same_as, (Numbers{0, 1, 2, 0, 2, 1}));
}

TEST(MatchSites, ADifferentNumberOfEqualStatementsMatchesNone) {
  const SiteMatches found = match({{{0, "a"}, {1, "a"}, {2, "b"}}, {{3, "a"}, {4, "b"}}}, 5);
  EXPECT_EQ(found.same_as, (Numbers{0, 1, 2, 3, 2}));
  EXPECT_EQ(ambiguous_of(found), (Numbers{0, 1, 3}));
}

TEST(MatchSites, OfThreeBuildsThoseWithTheSameNumber) {
  const SiteMatches found =
      match({{{0, "a"}, {1, "a"}}, {{2, "a"}}, {{3, "a"}, {4, "a"}}, {{5, "other"}}}, 6);
  EXPECT_EQ(found.same_as, (Numbers{0, 1, 2, 0, 1, 5}));
  EXPECT_EQ(ambiguous_of(found), Numbers{2});
}

TEST(MatchSites, ASharedUnitIsOneWhateverSurroundsIt) {
  // Site 0 is in both builds; the second has the statement once more.
  const SiteMatches found = match({{{0, "a"}}, {{0, "a"}, {1, "a"}}}, 2);
  EXPECT_EQ(found.same_as, (Numbers{0, 1}));
}

TEST(MatchSites, SitesOfOneBuildAreNeverTheSame) {
  // Sites 0 and 1 are both first of two and alone, in different builds.
  const SiteMatches found = match({{{0, "a"}, {1, "a"}}, {{0, "a"}}, {{1, "a"}}}, 2);
  EXPECT_EQ(found.same_as, (Numbers{0, 1}));
}

TEST(MatchSites, Nothing) {
  EXPECT_TRUE(match_sites({}, 0).same_as.empty());
  EXPECT_EQ(match_sites({}, 2).same_as, (Numbers{0, 1}));
}

}  // namespace
}  // namespace telltale::isolation
