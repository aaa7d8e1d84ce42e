#include "import/site_file_names.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

TEST(SiteFileNames, AreThoseOfFilesWithSites) {
  const SiteFileNames names(
      {"main.c", "src/main.c", "../include/list.h"},
      {"/home/a/main.c", "/home/a/src/main.c", "/home/a/../include/list.h", "/home/b/main.c"});
  EXPECT_EQ(names.name_of("/home/a/main.c"), "main.c");
  EXPECT_EQ(names.name_of("/home/a/src/main.c"), "src/main.c");
  EXPECT_EQ(names.name_of("/home/a/../include/list.h"), "../include/list.h");
  EXPECT_EQ(names.name_of("/home/b/main.c"), "main.c");
}

TEST(SiteFileNames, OfOtherFilesBeginWhereTheCompilerRan) {
  const SiteFileNames names({"main.c", "part.c"},
                            {"/home/a/main.c", "/home/a/lib/part.c", "/home/a/table.h",
                             "/home/a/lib/deep/part.h", "/usr/include/stdlib.h", "domain.c"});
  EXPECT_EQ(names.name_of("/home/a/table.h"), "table.h");
  EXPECT_EQ(names.name_of("/home/a/lib/deep/part.h"), "deep/part.h");
  EXPECT_EQ(names.name_of("/usr/include/stdlib.h"), "/usr/include/stdlib.h");
  EXPECT_EQ(names.name_of("domain.c"), "domain.c");
}

TEST(SiteFileNames, StayWithoutRelativeNamesOfSites) {
  EXPECT_TRUE(SiteFileNames({}, {"/home/a/main.c"}).empty());
}

TEST(SiteFileNames, AreUsedForAllFacts) {
  PathFacts facts;
  const PathFacts::Deed deed{{"f", "/home/a/main.c"}, {{"/home/a/main.c", 3}, {"/home/a/x.h", 4}}};
  facts.add(PathFacts::Kind::took_path, deed, PathFacts::Said::yes);
  facts.decoded.insert(deed.function);
  facts.ahead[deed.function].insert({"/home/a/ahead.h", 5});
  facts.stack.emplace_back().function = "f";
  std::set<std::string> files;
  collect_files(facts, files);
  EXPECT_EQ(files, (std::set<std::string>{"/home/a/ahead.h", "/home/a/main.c", "/home/a/x.h"}));
  rename_files(SiteFileNames({"main.c"}, files), facts);
  PathFacts expected;
  expected.add(PathFacts::Kind::took_path, {{"f", "main.c"}, {{"main.c", 3}, {"x.h", 4}}},
               PathFacts::Said::yes);
  expected.decoded.insert({"f", "main.c"});
  expected.ahead[{"f", "main.c"}].insert({"ahead.h", 5});
  expected.stack.emplace_back().function = "f";
  EXPECT_EQ(facts, expected);
}

}  // namespace
}  // namespace telltale
