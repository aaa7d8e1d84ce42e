#include "output/table/screen.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "output/escape.h"
#include "output/table/table.h"

namespace telltale {
namespace {

TEST(Elided, KeepsBothEnds) {
  EXPECT_EQ(elided("short", 5), "short");
  EXPECT_EQ(elided("0123456789", 9), "012…56789");
  EXPECT_EQ(elided("0123456789", 1), "…");
  EXPECT_EQ(elided("äöüäöüäöü", 6), "äö…äöü");
}

TEST(WithThousands, GroupsFromTheRight) {
  EXPECT_EQ(with_thousands("7"), "7");
  EXPECT_EQ(with_thousands("123"), "123");
  EXPECT_EQ(with_thousands("1234"), "1,234");
  EXPECT_EQ(with_thousands("-1234567"), "-1,234,567");
}

constexpr std::array kScreenColumns = {
    field::count("calls", "Calls."),
    field::ns("total_ns", "Total."),
    field::number_id("id", "Id."),
    field::text("function", "Name."),
};

class OnATerminal : public ::testing::Test {
 protected:
  void TearDown() override { set_screen({}); }
  static Table table() {
    Table table(kScreenColumns);
    table.add_row({uint64_t{1234567}, uint64_t{1500}, uint64_t{4321},
                   std::string("a_function_with_a_rather_long_name_that_does_not_fit")});
    table.add_row({uint64_t{1}, uint64_t{2}, uint64_t{3}, std::string("short")});
    return table;
  }
};

TEST_F(OnATerminal, SentencesAreFoldedAtSpaces) {
  EXPECT_EQ(folded("one two three four five six seven", 0, 2), "one two three four five six seven");
  set_screen({.width = 24, .colour = false});
  EXPECT_EQ(folded("one two three four five six seven", 10, 2),
            "one two three\n  four five six seven");
  EXPECT_EQ(folded("äöü äöü äöü äöü äöü äöü äöü", 0, 1), "äöü äöü äöü äöü äöü äöü\n äöü");
  EXPECT_EQ(folded("in /a/folder/with/a/long/name/file.xray", 0, 2),
            "in\n  /a/folde…ame/file.xray");
  EXPECT_EQ(folded("", 0, 2), "");
}

TEST_F(OnATerminal, NamesAreElidedAndNumbersAreNot) {
  set_screen({.width = 60, .colour = false});
  EXPECT_EQ(table().to_text(),
            "    CALLS   TOTAL    ID  FUNCTION\n"
            "1,234,567  1.5 us  4321  a_function_wi…ame_that_does_not_fit\n"
            "        1    2 ns     3  short\n");
}

TEST_F(OnATerminal, ColumnsGiveWayBeforeNamesAreTooShort) {
  set_screen({.width = 40, .colour = false});
  EXPECT_EQ(table().to_text(),
            "    CALLS   TOTAL  FUNCTION\n"
            "1,234,567  1.5 us  a_functi…does_not_fit\n"
            "        1    2 ns  short\n"
            "left out for want of room: ID\n");
}

TEST_F(OnATerminal, HeadingsAreBold) {
  set_screen({.width = 200, .colour = true});
  EXPECT_TRUE(table().to_text().starts_with("\x1b[1m    CALLS   TOTAL    ID  FUNCTION\x1b[0m\n"));
}

TEST_F(OnATerminal, APipeGetsEverything) {
  EXPECT_EQ(table().to_text(),
            "  CALLS   TOTAL    ID  FUNCTION\n"
            "1234567  1.5 us  4321  a_function_with_a_rather_long_name_that_does_not_fit\n"
            "      1    2 ns     3  short\n");
}

}  // namespace
}  // namespace telltale
