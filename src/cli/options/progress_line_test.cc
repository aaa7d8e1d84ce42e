#include "cli/options/progress_line.h"

#include <gtest/gtest.h>

namespace telltale::cli {
namespace {

TEST(ProgressLine, CountsEachReadingAnew) {
  EXPECT_EQ(progress_words(0, 40), "reading: 0 %");
  EXPECT_EQ(progress_words(10, 40), "reading: 25 %");
  EXPECT_EQ(progress_words(39, 40), "reading: 97 %");
  EXPECT_EQ(progress_words(40, 40), "reading again: 0 %");
  EXPECT_EQ(progress_words(100, 40), "reading again: 50 %");
  EXPECT_EQ(progress_words(3, 0), "reading again: 0 %");
}

}  // namespace
}  // namespace telltale::cli
