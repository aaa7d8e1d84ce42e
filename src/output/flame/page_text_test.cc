// What a page shows of a source line, and JSON inside a script element.
#include "output/flame/page_text.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

TEST(PageText, SourceLineKeepsItsBackslashes) {
  EXPECT_EQ(visible_source(R"(puts("a\n\\");)"), R"(puts("a\n\\");)");
  EXPECT_EQ(visible_source(R"(\)"), R"(\)");
  EXPECT_EQ(visible_source(""), "");
}

TEST(PageText, SourceLineHasBlanksForTabsAndNoControlCharacters) {
  EXPECT_EQ(visible_source("\tx\ty\r"), "        x       y");
  EXPECT_EQ(visible_source("1234567\tx"), "1234567 x");
  EXPECT_EQ(visible_source("a\x1b\\b"), "a\\x1b\\b");
}

TEST(PageText, JsonEndsNoScript) {
  EXPECT_EQ(json_for_script("\"</script>&\u2028x\u2029\u2030\""),
            "\"\\u003c/script\\u003e\\u0026\\u2028x\\u2029\u2030\"");
}

}  // namespace
}  // namespace telltale
