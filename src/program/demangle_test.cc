#include "program/demangle.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>

namespace telltale {
namespace {

TEST(Demangle, CppAndRustNames) {
  EXPECT_EQ(demangle("_ZN2ns5twiceIiEET_S1_"), "int ns::twice<int>(int)");
  EXPECT_EQ(demangle("_ZNK2ns1S3getEi"), "ns::S::get(int) const");
  EXPECT_EQ(demangle("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE"),
            "core::fmt::Write::write_fmt")
      << "legacy Rust: the hash goes";
  EXPECT_EQ(demangle("_RNvC7mycrate4main"), "mycrate::main");
  EXPECT_EQ(demangle("_RNvMs_C7mycrateNtB4_3Foo3bar"), "<mycrate::Foo>::bar");
}

TEST(Demangle, WhatIsNoManglingStaysAsItIs) {
  for (const char* name : {"main", "", "_Z", "_Zfoo", "_R", "__cxa_throw", "_ZN2ns", "\x01\xff"}) {
    EXPECT_EQ(demangle(name), name);
  }
}

TEST(Demangle, LongRealNamesAreReadable) {
  std::string linkage_name = "_Z1f";
  std::string readable = "f(";
  for (int i = 0; i < 100; ++i) {
    linkage_name += fmt::format("N14some_namespace8Class{:03}E", i);
    readable += fmt::format("{}some_namespace::Class{:03}", i == 0 ? "" : ", ", i);
  }
  EXPECT_GT(linkage_name.size(), 2000U);
  EXPECT_EQ(demangle(linkage_name), readable + ")");
}

// std::pair<A, A> of itself: every level doubles the readable name.
std::string doubling_name(int levels) {
  constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string name = "_Z1fSt4pairIiiE";
  for (int i = 0; i < levels; ++i) {
    const std::string last = fmt::format("S{}_", kDigits[static_cast<size_t>(i)]);
    name += "S_I" + last + last + "E";
  }
  return name;
}

TEST(Demangle, NamesThatExplodeStayMangledAndCostLittle) {
  EXPECT_NE(demangle(doubling_name(3)), doubling_name(3)) << "a short one of this kind is readable";
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(demangle(doubling_name(34)) == doubling_name(34));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
}

TEST(Demangle, DeepNestingDoesNotExhaustTheStack) {
  for (const size_t depth : {1000U, 16000U, 1000000U}) {
    const std::string pointers = "_Z1f" + std::string(depth, 'P') + "i";
    const std::string result = demangle(pointers);
    EXPECT_TRUE(result == pointers || result.starts_with("f(int*")) << depth;
    EXPECT_FALSE(demangle("_R" + std::string(depth, 'I')).empty());
    EXPECT_FALSE(demangle("_ZN" + std::string(depth, 'I') + "E").empty());
    EXPECT_FALSE(demangle("_RC" + std::string(depth, 'B')).empty());
  }
}

}  // namespace
}  // namespace telltale
