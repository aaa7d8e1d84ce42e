#include "import/csi/lines_of_copies.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

using Lines = SourceLineSet;

// A record with one copy of `f`; each block has one line.
csi::FlowRecord copy_with(const std::vector<uint32_t>& lines) {
  csi::FlowRecord record;
  record.scopes.push_back({.number = 3, .file = "a.c", .function = "f"});
  for (uint32_t block = 0; block < lines.size(); ++block)
    record.lines.push_back({.block = block, .scope = 3, .line = lines[block]});
  return record;
}

TEST(LinesOfCopies, ALineThatACopyLacksIsUncertainIfTheCopyMayHaveRun) {
  LinesOfCopies lines;
  lines.add(copy_with({1, 2, 0}));
  lines.add(copy_with({1, 3}));
  lines.add(copy_with({1, 2, 3}));
  lines.add(copy_with({2}));
  std::vector<std::vector<Ran>> ran = {
      {Ran::no, Ran::no, Ran::no}, {Ran::no, Ran::no}, {Ran::no, Ran::no, Ran::no}, {Ran::no}};
  EXPECT_EQ(lines.uncertain(ran, {}), Lines{});
  ran[1] = {Ran::maybe, Ran::no};
  EXPECT_EQ(lines.uncertain(ran, {}), (Lines{{"a.c", 2}}));
  ran[2] = {Ran::yes, Ran::no, Ran::no};
  EXPECT_EQ(lines.uncertain(ran, {}), (Lines{{"a.c", 2}}));
  ran[3] = {Ran::yes};
  EXPECT_EQ(lines.uncertain(ran, {}), (Lines{{"a.c", 1}, {"a.c", 2}, {"a.c", 3}}));
}

// A line that no copy has any more.
TEST(LinesOfCopies, ALineThatIsLostIsUncertainIfACopyWithoutAnyLineMayHaveRun) {
  csi::FlowRecord lost = copy_with({1});
  lost.lost_lines.push_back({.block = 0, .scope = 3, .line = 7});
  LinesOfCopies lines;
  lines.add(lost);
  lines.add(lost);
  EXPECT_EQ(lines.uncertain({{Ran::no}, {Ran::no}}, {}), Lines{});
  EXPECT_EQ(lines.uncertain({{Ran::no}, {Ran::yes}}, {}), Lines{})
      << "that copy says whether it may have run";
  EXPECT_EQ(lines.uncertain({{Ran::no}, {Ran::yes}}, {{"a.c", "f"}}),
            (Lines{{"a.c", 1}, {"a.c", 7}}));
  EXPECT_EQ(lines.uncertain({{Ran::no}, {Ran::yes}}, {{"b.c", "f"}, {"a.c", "g"}}), Lines{});
}

// No copy of the function is left, but another function has the same lines, as instances of a
// template have.
TEST(LinesOfCopies, LinesOfARemovedFunctionAreUncertainIfItMayHaveRun) {
  LinesOfCopies lines;
  lines.add_removed({.file = "a.c", .symbol = "f<int>", .lines = {4, 5}});
  EXPECT_EQ(lines.uncertain({}, {}), Lines{});
  EXPECT_EQ(lines.uncertain({}, {{"a.c", "f<int>"}}), (Lines{{"a.c", 4}, {"a.c", 5}}));
}

TEST(LinesOfCopies, CopiesOfOtherFunctionsDoNotMatter) {
  LinesOfCopies lines;
  lines.add(copy_with({1, 2}));
  csi::FlowRecord other = copy_with({1});
  other.scopes[0].function = "g";
  lines.add(other);
  EXPECT_EQ(lines.uncertain({{Ran::no, Ran::no}, {Ran::yes}}, {}), Lines{});
}

}  // namespace
}  // namespace telltale
