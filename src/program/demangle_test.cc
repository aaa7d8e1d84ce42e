#include "program/demangle.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
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

// Manglings that libiberty of Debian 12 does not know: a constrained template parameter (Tk), and
// an explicit object parameter (H).
TEST(Demangle, ManglingsOfCurrentCompilers) {
  EXPECT_EQ(demangle("_Z5twiceITk8integraliET_S0_"), "int twice<int>(int)");
  EXPECT_EQ(demangle("_ZNH1S3getEv"), "S::get()");
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
std::string doubling_name(uint32_t levels) {
  constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string name = "_Z1fSt4pairIiiE";
  for (uint32_t i = 0; i < levels; ++i) {
    std::string number;
    for (uint32_t rest = i; rest != 0 || number.empty(); rest /= 36)
      number.insert(number.begin(), kDigits[rest % 36]);
    name += fmt::format("S_IS{0}_S{0}_E", number);
  }
  return name;
}

// The readable form of each is longer than any machine could print: a demangler without a limit
// never returns.
TEST(Demangle, NamesThatExplodeStayMangled) {
  EXPECT_NE(demangle(doubling_name(3)), doubling_name(3)) << "a short one of this kind is readable";
  const std::string guarded = doubling_name(60);
  EXPECT_LT(guarded.size(), 1000U);
  EXPECT_TRUE(demangle(guarded) == guarded);
  // The same, of which only LLVM's demangler knows the beginning.
  const std::string newer = "_Z1fITk8integraliE" + doubling_name(60).substr(4);
  EXPECT_TRUE(demangle(newer) == newer);
  const std::string on_its_own_stack = doubling_name(120);
  EXPECT_GT(on_its_own_stack.size(), 1000U);
  EXPECT_TRUE(demangle(on_its_own_stack) == on_its_own_stack);
}

TEST(Demangle, BothNamesHaveALimit) {
  // One parameter's type five times, in 65536 characters: the limit of the output.
  const std::string type = fmt::format("13105{}", std::string(13105, 'T'));
  EXPECT_EQ(demangle("_Z1f" + type + "S_S_S_S_").size(), 65536U);
  EXPECT_EQ(demangle("_Z2ff" + type + "S_S_S_S_"), "_Z2ff" + type + "S_S_S_S_");
  // Linkage names of up to 16384 characters are demangled.
  const auto function = [](size_t size) {
    return fmt::format("_Z{}{}v", size, std::string(size, 'f'));
  };
  EXPECT_EQ(function(16376).size(), 16384U);
  EXPECT_EQ(demangle(function(16376)), std::string(16376, 'f') + "()");
  EXPECT_EQ(demangle(function(16377)), function(16377));
}

TEST(Demangle, DeepNestingDoesNotExhaustTheStack) {
  for (const size_t depth : {1000U, 16000U, 1000000U}) {
    const std::string pointers = "_Z1f" + std::string(depth, 'P') + "i";
    const std::string result = demangle(pointers);
    EXPECT_TRUE(result == pointers || result.starts_with("f(int*")) << depth;
    const std::string newer = "_Z1fITk8integraliEv" + std::string(depth, 'P') + "i";
    const std::string same = demangle(newer);
    EXPECT_TRUE(same == newer || same.starts_with("void f<int>(int*")) << depth;
    EXPECT_FALSE(demangle("_R" + std::string(depth, 'I')).empty());
    EXPECT_FALSE(demangle("_ZN" + std::string(depth, 'I') + "E").empty());
    EXPECT_FALSE(demangle("_RC" + std::string(depth, 'B')).empty());
  }
}

}  // namespace
}  // namespace telltale
