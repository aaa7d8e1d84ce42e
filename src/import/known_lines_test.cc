#include "import/known_lines.h"

#include <gtest/gtest.h>

#include <array>
#include <boost/container/flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace telltale {
namespace {

using Deed = PathFacts::Deed;
using Said = PathFacts::Said;

Deed line(const std::string& file, uint32_t number) {
  return {.function = {"f", file}, .places = {{file, number}}};
}

// What a run says of lines of `f`.
LinesOfFunction of_f(const std::string& file, boost::container::flat_map<SourceLine, Said> lines) {
  return {.function = {"f", file}, .lines = std::move(lines)};
}

std::vector<std::pair<Deed, Said>> said(const std::vector<Deed>& lines, KnownLines::OfRun run,
                                        const KnownLines& known) {
  known.sort(run);
  std::vector<std::pair<Deed, Said>> all;
  for (const KnownLines::Line& each : run) all.emplace_back(lines[each.number], each.said);
  return all;
}

TEST(KnownLines, EachRunHasWhatItSaid) {
  KnownLines known;
  const auto first =
      known.add(std::array{of_f("b.c", {{{"b.c", 3}, Said::yes}, {{"b.c", 9}, Said::no}})});
  const auto second = known.add(std::array{of_f("a.c", {{{"a.c", 1}, Said::maybe}}),
                                           of_f("b.c", {{{"b.c", 9}, Said::not_yet}})});
  const auto none = known.add(std::span<const LinesOfFunction>());
  const std::vector<Deed> lines = known.take(SiteFileNames({}, {}));
  EXPECT_EQ(lines, (std::vector{line("a.c", 1), line("b.c", 3), line("b.c", 9)}));
  EXPECT_EQ(said(lines, first, known),
            (std::vector<std::pair<Deed, Said>>{{line("b.c", 3), Said::yes},
                                                {line("b.c", 9), Said::no}}));
  EXPECT_EQ(said(lines, second, known),
            (std::vector<std::pair<Deed, Said>>{{line("a.c", 1), Said::maybe},
                                                {line("b.c", 9), Said::not_yet}}));
  EXPECT_TRUE(said(lines, none, known).empty());
}

TEST(KnownLines, AFunctionMayComeTwice) {
  KnownLines known;
  const auto run =
      known.add(std::array{of_f("a.c", {{{"a.c", 4}, Said::yes}}),
                           of_f("a.c", {{{"a.c", 2}, Said::no}, {{"a.c", 4}, Said::no}})});
  const std::vector<Deed> lines = known.take(SiteFileNames({}, {}));
  EXPECT_EQ(said(lines, run, known), (std::vector<std::pair<Deed, Said>>{
                                         {line("a.c", 2), Said::no}, {line("a.c", 4), Said::yes}}));
}

// Facts that are damaged have no place, or several: they are kept, too.
TEST(KnownLines, WhatWasStoredIsJoinedWithWhatWasRead) {
  KnownLines known;
  const Deed damaged{.function = {"f", "b.c"}, .places = {{"b.c", 3}, {"b.c", 4}}};
  const auto read = known.add(std::array{of_f("b.c", {{{"b.c", 3}, Said::yes}})});
  const size_t texts = InternedText::count();
  const auto stored = known.add(std::map<Deed, Said>{
      {line("b.c", 3), Said::no}, {damaged, Said::maybe}, {line("sent.c", 1), Said::no}});
  const auto again = known.add(std::map<Deed, Said>{{line("sent.c", 1), Said::yes}});
  std::set<std::string> files;
  known.collect_files(files);
  EXPECT_EQ(files, (std::set<std::string>{"b.c", "sent.c"}));
  const std::vector<Deed> lines = known.take(SiteFileNames({}, {}));
  EXPECT_EQ(InternedText::count(), texts);
  EXPECT_EQ(lines, (std::vector{line("b.c", 3), damaged, line("sent.c", 1)}));
  EXPECT_EQ(said(lines, read, known),
            (std::vector<std::pair<Deed, Said>>{{line("b.c", 3), Said::yes}}));
  EXPECT_EQ(
      said(lines, stored, known),
      (std::vector<std::pair<Deed, Said>>{
          {line("b.c", 3), Said::no}, {damaged, Said::maybe}, {line("sent.c", 1), Said::no}}));
  EXPECT_EQ(said(lines, again, known),
            (std::vector<std::pair<Deed, Said>>{{line("sent.c", 1), Said::yes}}));
}

TEST(KnownLines, LinesThatBecomeEqualAreJoined) {
  KnownLines known;
  const auto run = known.add(
      std::array{of_f("/home/a/main.c", {{{"/home/a/main.c", 3}, Said::no}}),
                 of_f("main.c", {{{"main.c", 3}, Said::yes}, {{"main.c", 4}, Said::no}})});
  std::set<std::string> files;
  known.collect_files(files);
  EXPECT_EQ(files, (std::set<std::string>{"/home/a/main.c", "main.c"}));
  const std::vector<Deed> lines = known.take(SiteFileNames({"main.c"}, files));
  EXPECT_EQ(lines, (std::vector{line("main.c", 3), line("main.c", 4)}));
  EXPECT_EQ(said(lines, run, known),
            (std::vector<std::pair<Deed, Said>>{{line("main.c", 3), Said::yes},
                                                {line("main.c", 4), Said::no}}));
}

}  // namespace
}  // namespace telltale
