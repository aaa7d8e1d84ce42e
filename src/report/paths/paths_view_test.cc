#include "report/paths/paths_view.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

TEST(PathsView, SystemHeadersAreToldByTheirFolder) {
  for (const char* const path :
       {"/usr/include/string.h", "/usr/include/c++/12/bits/stl_vector.h",
        "/usr/bin/../lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/vector",
        "/usr/lib/llvm-19/include/c++/v1/vector", "/opt/gcc/include/c++/14/string",
        "/home/me/llvm/lib/clang/22/include/xmmintrin.h", "/usr/local/include/fmt/format.h"}) {
    EXPECT_TRUE(is_system_header(path)) << path;
  }
  for (const char* const path :
       {"", "main.cc", "src/include/c++/mine.h", "/home/me/usr/include/mine.h",
        "/usr/src/program/main.c", "/usr/includes.c", "/usr/include/../../home/me/mine.h"}) {
    EXPECT_FALSE(is_system_header(path)) << path;
  }
}

TEST(PathsView, NamesHaveAStyle) {
  const std::string full = "shop::find(std::vector<int, std::allocator<int> > const&)";
  const std::string linkage = "_ZN4shop4findERKSt6vectorIiSaIiEE";
  ViewedNames shown(NameStyle::short_names);
  EXPECT_EQ(shown.of(full, linkage), "shop::find(std::vector<int> const&)");
  EXPECT_EQ(shown.beside_line(linkage), "shop::find");
  EXPECT_EQ(shown.of("parse.slow", ""), "parse");
  EXPECT_EQ(shown.of("shop::sum(int) [clone .fast]", ""), "shop::sum(int)");
  EXPECT_EQ(ViewedNames(NameStyle::full).of("parse.slow", ""), "parse.slow");
  EXPECT_EQ(ViewedNames(NameStyle::full).beside_line(linkage), full);
  EXPECT_EQ(ViewedNames(NameStyle::mangled).of(full, linkage), linkage);
  EXPECT_EQ(ViewedNames(NameStyle::mangled).of("main", ""), "main");
}

}  // namespace
}  // namespace telltale
