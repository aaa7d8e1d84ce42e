#include "base/plain_path.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

TEST(PlainPath, HasNoPartsThatSayNothing) {
  EXPECT_EQ(plain_path("/src/./h.h"), "/src/h.h");
  EXPECT_EQ(plain_path("./././h.h"), "h.h");
  EXPECT_EQ(plain_path("//src//a.c"), "/src/a.c");
  EXPECT_EQ(plain_path("/src/."), "/src");
  EXPECT_EQ(plain_path("/"), "/");
  EXPECT_EQ(plain_path(""), "");
}

// It may follow a link.
TEST(PlainPath, KeepsTwoDots) {
  EXPECT_EQ(plain_path("/src/./part/../k.c"), "/src/part/../k.c");
  EXPECT_EQ(plain_path("../a.c"), "../a.c");
}

TEST(PlainPath, KeepsNamesThatBeginWithADot) {
  EXPECT_EQ(plain_path("/src/.hidden/..."), "/src/.hidden/...");
}

}  // namespace
}  // namespace telltale
