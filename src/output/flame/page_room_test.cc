#include "output/flame/page_room.h"

#include <gtest/gtest.h>

#include <string>

namespace telltale {
namespace {

TEST(PageRoom, ShowsWhatFitsAsItIs) {
  PageRoom room;
  EXPECT_EQ(room.text("f(int)\n"), "f(int)\\n");
  const std::string longest(PageRoom::kTextBytes, 'x');
  EXPECT_EQ(room.text(longest), longest);
  EXPECT_EQ(room.source_line("\tx"), "        x");
  EXPECT_EQ(room.rows(10, 10, "row"), 10);
  EXPECT_TRUE(room.source_file(PageRoom::kAllBytes));
  EXPECT_EQ(room.left_out(), "");
}

TEST(PageRoom, SaysWhatIsLeftOut) {
  PageRoom room;
  EXPECT_EQ(room.rows(12, 10, "row"), 10);
  EXPECT_EQ(room.rows(5, 4, "function"), 4);
  EXPECT_EQ(room.rows(13, 10, "row"), 10);
  EXPECT_EQ(room.left_out(), "1 function; 5 rows");
  room.text(std::string(PageRoom::kTextBytes + 1, 'x'));
  EXPECT_EQ(room.left_out(), "1 function; 5 rows; the ends of 1 long name");
  room.source_line(std::string(PageRoom::kLineBytes + 1, 'x'));
  room.source_line(std::string(PageRoom::kLineBytes + 9, 'x'));
  EXPECT_EQ(room.left_out(),
            "1 function; 5 rows; the ends of 1 long name; the ends of 2 long lines");
}

TEST(PageRoom, LongTextLosesItsEndBetweenCharacters) {
  PageRoom room;
  // A character of three bytes begins one byte before the limit.
  const std::string begin(PageRoom::kTextBytes - 1, 'x');
  EXPECT_EQ(room.text(begin + "\u20ac and more"), begin + "\u2026");
  // Bytes that continue no character: some of them are kept, whatever they are.
  const std::string stray(PageRoom::kLineBytes + 1, '\x80');
  EXPECT_LE(room.source_line(stray).size(), 4 * PageRoom::kLineBytes + 3);
  EXPECT_GE(room.source_line(stray).size(), 4 * (PageRoom::kLineBytes - 4));
}

TEST(PageRoom, AllNamesTogetherAreBounded) {
  PageRoom room;
  const std::string name(PageRoom::kTextBytes, 'n');
  size_t shown = 0;
  for (size_t i = 0; i < 1000; ++i) shown += room.text(name).size();
  EXPECT_LE(shown, PageRoom::kAllBytes + 1000 * (PageRoom::kLeastBytes + 3));
  EXPECT_GE(shown, PageRoom::kAllBytes);
  EXPECT_EQ(room.text("short"), "short") << "a short name needs no room";
  EXPECT_EQ(room.text(name), name.substr(0, PageRoom::kLeastBytes) + "\u2026");
  EXPECT_EQ(room.left_out(), "the ends of 873 long names");
}

TEST(PageRoom, SourceFilesAreShownAsLongAsTheyFit) {
  PageRoom room;
  EXPECT_TRUE(room.source_file(PageRoom::kAllBytes - 5));
  EXPECT_FALSE(room.source_file(6));
  EXPECT_TRUE(room.source_file(5));
  EXPECT_EQ(room.left_out(), "1 source file");
}

}  // namespace
}  // namespace telltale
