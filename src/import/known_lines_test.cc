#include "import/known_lines.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
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

std::vector<std::pair<Deed, Said>> said(const std::vector<Deed>& lines, KnownLines::OfRun run,
                                        const KnownLines& known) {
  known.sort(run);
  std::vector<std::pair<Deed, Said>> all;
  for (const KnownLines::Line& each : run) all.emplace_back(lines[each.number], each.said);
  return all;
}

TEST(KnownLines, EachRunHasWhatItSaid) {
  KnownLines known;
  const auto first = known.add({{line("b.c", 3), Said::yes}, {line("b.c", 9), Said::no}});
  const auto second = known.add({{line("a.c", 1), Said::maybe}, {line("b.c", 9), Said::not_yet}});
  const auto none = known.add({});
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

TEST(KnownLines, LinesThatBecomeEqualAreJoined) {
  KnownLines known;
  const auto run = known.add({{line("/home/a/main.c", 3), Said::no},
                              {line("main.c", 3), Said::yes},
                              {line("main.c", 4), Said::no}});
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
