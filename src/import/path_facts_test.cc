#include "import/path_facts.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>

namespace telltale {
namespace {

using Kind = PathFacts::Kind;
using Said = PathFacts::Said;

const PathFacts::Function kMain = {"main", "a.c"};

PathFacts::Deed path(std::initializer_list<uint32_t> lines) {
  PathFacts::Deed deed{kMain, {}};
  for (const uint32_t line : lines) deed.places.emplace_back("a.c", line);
  return deed;
}

// main ran "1 2 3" once, and then "1 2 4" when the run ended.
PathFacts two_paths() {
  PathFacts facts;
  facts.decoded.insert(kMain);
  facts.add(Kind::took_path, path({1, 2, 3}), Said::yes);
  facts.add(Kind::followed_path, path({1, 2, 4}), Said::yes);
  return facts;
}

TEST(PathFacts, BeginningsOfPathsAreFollowed) {
  const PathFacts facts = two_paths();
  for (const auto& followed : {path({1}), path({1, 2}), path({1, 2, 3}), path({1, 2, 4})})
    EXPECT_EQ(facts.find(Kind::followed_path, followed), Said::yes);
  for (const auto& other : {path({2}), path({1, 3}), path({1, 2, 4, 5}), path({})})
    EXPECT_EQ(facts.find(Kind::followed_path, other), Said::no);
  EXPECT_EQ(facts.find(Kind::took_path, path({1, 2, 3})), Said::yes);
  EXPECT_EQ(facts.find(Kind::took_path, path({1, 2})), Said::no);
  EXPECT_EQ(facts.find(Kind::took_path, path({1, 2, 4})), Said::no);
}

TEST(PathFacts, ACrashPreventsWhatWasAhead) {
  PathFacts facts = two_paths();
  facts.ahead[kMain] = {{"a.c", 5}, {"a.c", 6}};
  for (const Kind kind : {Kind::took_path, Kind::followed_path}) {
    EXPECT_EQ(facts.find(kind, path({1, 2, 4, 5})), Said::not_yet);
    EXPECT_EQ(facts.find(kind, path({1, 2, 4, 6, 5})), Said::not_yet);
    EXPECT_EQ(facts.find(kind, path({5, 6})), Said::not_yet);
    // It had gone another way.
    EXPECT_EQ(facts.find(kind, path({1, 2, 5})), Said::no);
    EXPECT_EQ(facts.find(kind, path({1, 2, 4, 7})), Said::no);
  }
}

TEST(PathFacts, OfOtherFunctionsNothingIsKnown) {
  PathFacts::Deed other = path({1, 2, 3});
  other.function.first = "other";
  EXPECT_EQ(two_paths().find(Kind::took_path, other), Said::maybe);
  EXPECT_EQ(two_paths().find(Kind::followed_path, other), Said::maybe);
  EXPECT_EQ(two_paths().find(Kind::ran_in_call, path({1})), Said::maybe);
}

}  // namespace
}  // namespace telltale
