// Which inputs are headers, which are compiled without the runtime.
#include "command_line.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace telltale::driver {
namespace {

bool links_runtime(const std::vector<std::string>& words) {
  const CommandLine line = rewrite(words, {"clang-19", "/plugin.so", "/library", 19});
  EXPECT_FALSE(line.error) << *line.error;
  return std::any_of(line.arguments.begin(), line.arguments.end(), [](const std::string& word) {
    return word.starts_with("/library/libtelltale_sampler");
  });
}

TEST(CommandLine, HeadersAreNotLinked) {
  EXPECT_FALSE(links_runtime({"shapes.h"}));
  EXPECT_FALSE(links_runtime({"-x", "c++-header", "shapes"}));
  EXPECT_FALSE(links_runtime({"-xc-header", "shapes"}));
  EXPECT_TRUE(links_runtime({"shapes.h", "user.c"}));
  EXPECT_TRUE(links_runtime({"shapes.h", "-l", "m"}));
}

TEST(CommandLine, LanguageHoldsForFilesBehindIt) {
  EXPECT_TRUE(links_runtime({"-x", "c", "program.h"}));
  EXPECT_TRUE(links_runtime({"-xc++", "program.h"}));
  EXPECT_FALSE(links_runtime({"shapes.h", "-x", "c"}));
  EXPECT_FALSE(links_runtime({"-x", "c++-header", "shapes", "-x", "none", "other.h"}));
  EXPECT_TRUE(links_runtime({"-x", "c++-header", "shapes", "-x", "none", "user.cc"}));
}

}  // namespace
}  // namespace telltale::driver
