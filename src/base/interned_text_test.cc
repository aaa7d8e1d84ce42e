#include "base/interned_text.h"

#include <gtest/gtest.h>

#include <string>

namespace telltale {
namespace {

TEST(InternedText, EqualTextsAreOne) {
  const std::string name = "a.c";
  const InternedText first(name);
  const InternedText again("a.c");
  EXPECT_EQ(first, again);
  EXPECT_EQ(&first.str(), &again.str());
  EXPECT_NE(&first.str(), &name);
  EXPECT_NE(first, InternedText("a.h"));
}

TEST(InternedText, TheOrderIsThatOfTheTexts) {
  const InternedText later("b.c");
  const InternedText earlier("a.c");
  EXPECT_LT(earlier, later);
  EXPECT_GT(later, earlier);
  EXPECT_LT(InternedText(), earlier);
  EXPECT_EQ(InternedText(), InternedText(""));
}

}  // namespace
}  // namespace telltale
