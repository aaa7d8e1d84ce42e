#include "model/short_name.h"

#include <gtest/gtest.h>

#include <string>

namespace telltale {
namespace {

TEST(ShortName, StandardTypesHaveTheNamesThatPeopleUse) {
  EXPECT_EQ(short_name("parse(std::__cxx11::basic_string<char, std::char_traits<char>, "
                       "std::allocator<char> > const&)"),
            "parse(std::string const&)");
  EXPECT_EQ(short_name("f(std::__1::basic_string<char, std::__1::char_traits<char>, "
                       "std::__1::allocator<char>>)"),
            "f(std::string)");
  EXPECT_EQ(short_name("serve(std::vector<Order, std::allocator<Order> > const&, unsigned long)"),
            "serve(std::vector<Order> const&, unsigned long)");
  EXPECT_EQ(short_name("std::map<int, char, std::less<int>, std::allocator<std::pair<int const, "
                       "char> > >::at(int const&)"),
            "std::map<int, char>::at(int const&)");
  EXPECT_EQ(short_name("server::read_line[abi:cxx11](int)"), "server::read_line(int)");
}

TEST(ShortName, LongArgumentsAndParametersFold) {
  EXPECT_EQ(short_name("sort<some::very::long::iterator_type, other>(int)"), "sort<…>(int)");
  EXPECT_EQ(short_name("twice<int>(int)"), "twice<int>(int)");
  EXPECT_EQ(short_name("f(" + std::string(60, 'T') + ")"), "f(" + std::string(60, 'T') + ")");
  EXPECT_EQ(short_name("f(" + std::string(61, 'T') + ") const"), "f(…) const");
  EXPECT_EQ(short_name("a<" + std::string(24, 'T') + ">::b()"),
            "a<" + std::string(24, 'T') + ">::b()");
  EXPECT_EQ(short_name("a<" + std::string(25, 'T') + ">::b()"), "a<…>::b()");
}

TEST(ShortName, ReturnTypesGo) {
  EXPECT_EQ(short_name("int ns::twice<int>(int)"), "ns::twice<int>(int)");
  EXPECT_EQ(short_name("std::enable_if<true, int>::type f<int>(int)"), "f<int>(int)");
  EXPECT_EQ(short_name("decltype ((g)({parm#1})) f<int>(int)"), "f<int>(int)");
  EXPECT_EQ(short_name("unsigned long const& max<unsigned long>(unsigned long const&)"),
            "max<unsigned long>(unsigned long const&)");
  EXPECT_EQ(short_name("int (anonymous namespace)::f<int>(int)"),
            "(anonymous namespace)::f<int>(int)");
  EXPECT_EQ(short_name("auto f<int>(int)::{lambda(int)#1}::operator()(int) const"),
            "f<int>(int)::{lambda(int)#1}::operator()(int) const");
  EXPECT_EQ(short_name("f(int)::'lambda'(int)::operator()(int) const"),
            "f(int)::'lambda'(int)::operator()(int) const");
  EXPECT_EQ(short_name("non-virtual thunk to A::f(int)"), "non-virtual thunk to A::f(int)");
}

TEST(ShortName, Operators) {
  EXPECT_EQ(short_name("bool operator< <int>(int, int)"), "operator< <int>(int, int)");
  EXPECT_EQ(short_name("std::ostream& operator<< <char>(std::ostream&, char)"),
            "operator<< <char>(std::ostream&, char)");
  EXPECT_EQ(short_name("S::operator->() const"), "S::operator->() const");
  EXPECT_EQ(short_name("S::operator()(int) const"), "S::operator()(int) const");
  EXPECT_EQ(short_name("S::operator bool() const"), "S::operator bool() const");
  EXPECT_EQ(short_name("operator new(unsigned long)"), "operator new(unsigned long)");
  EXPECT_EQ(short_name("S::operator std::vector<int, std::allocator<int> >() const"),
            "S::operator std::vector<int>() const");
  EXPECT_EQ(short_name("operator,(S, S)"), "operator,(S, S)");
}

TEST(ShortName, OtherNamesStay) {
  for (const char* name :
       {"main", "", "#17", "<mycrate::Foo>::bar", "<mycrate::Foo as core::fmt::Display>::fmt",
        "core::fmt::Write::write_fmt", "a<b", "a>b", "f(", "f)", "<", "f<(1)>(int)", "vtable for S",
        "void (*f<int>(int))(char)", "Program:Main (string[])", "operator", "operator<", "lua_call",
        "foo(int) [clone .part.0]"}) {
    EXPECT_EQ(short_name(name), name);
  }
}

TEST(BareName, HasNoParameters) {
  EXPECT_EQ(bare_name("validate(Order const&)"), "validate");
  EXPECT_EQ(bare_name("int ns::twice<int>(int) const"), "ns::twice<int>");
  EXPECT_EQ(bare_name("lua_call"), "lua_call");
  EXPECT_EQ(bare_name("f("), "f(");
  EXPECT_EQ(bare_name("Program:Validate (Order)"), "Program:Validate");
  EXPECT_EQ(bare_name("(wrapper managed-to-native) System.GC:InternalCollect (int)"),
            "System.GC:InternalCollect");
  EXPECT_EQ(bare_name("List`1<T_REF>:.ctor ()"), "List`1<T_REF>:.ctor");
  EXPECT_EQ(bare_name("ns::call (int)"), "ns::call (int)") << "not Mono's";
}

TEST(ShortName, WhateverCompilersNestIsShortened) {
  std::string nested = "int";
  for (int i = 0; i < 1024; ++i) nested = "Wrapped<" + nested + ">";
  EXPECT_EQ(short_name("work(" + nested + ")"), "work(Wrapped<…>)");
}

TEST(ShortName, DeepNestingStaysAsItIs) {
  const std::string deep = std::string(100000, '<') + std::string(100000, '>');
  EXPECT_TRUE(short_name(deep) == deep);
  const std::string open = std::string(100000, '(');
  EXPECT_TRUE(short_name(open) == open);
}

TEST(WithoutCopy, DropsWhatCompilersAdd) {
  for (const char* const copy : {"f.part.0", "f.cold", "f.slow", "f.constprop.0.isra.0"})
    EXPECT_EQ(without_copy(copy), "f") << copy;
  EXPECT_EQ(without_copy("a::f(int) [clone .cold] [clone .1]"), "a::f(int)");
  for (const char* const name :
       {"f.omp_outlined", "f.omp_outlined_debug__.1", "f._omp_fn.0", "f(int) [clone ._omp_fn.0]",
        "f", ".f", " [clone .f]", "f(int, ...)", "a::f(int)", "f+0x10.5",
        "printf(char const*, ...)"})
    EXPECT_EQ(without_copy(name), name);
}

TEST(WithoutCopy, KeepsTheDotsOfNames) {
  for (const char* const name : {"a.b", "x.y.z", "f.cold.b", "_GLOBAL__sub_I_main.cc",
                                 "asan.module_ctor", "main.main.func1", "f.", "f..b", ".cold"})
    EXPECT_EQ(without_copy(name), name);
  for (const char* const suffix :
       {".cold", ".part.0", ".llvm.1234", ".__uniq.99", ".avx2", ".avx512f.1", ".arch_x86_64_v3",
        ".sse4.2", ".default.0", ".specialized.3", ".resume", ".1", ".lto_priv.0.cold", ".fast",
        ".asking", ".slow.unchecked"}) {
    EXPECT_EQ(without_copy(std::string("f") + suffix), "f") << suffix;
    EXPECT_EQ(without_copy(std::string("a.b") + suffix), "a.b") << suffix;
  }
}

TEST(TemplateName, InstancesShareTheirTemplatesName) {
  EXPECT_EQ(template_name("big<int>"), "big");
  EXPECT_EQ(template_name("S<int>::m"), "S::m");
  EXPECT_EQ(template_name("S<T<char>, U<V<int>>>::m<long>"), "S::m");
  EXPECT_EQ(template_name("main(int, char **)::(lambda)::operator()<double>"),
            "main(int, char **)::(lambda)::operator()");
}

TEST(TemplateName, OperatorsKeepTheirSymbols) {
  EXPECT_EQ(template_name("S<int>::operator<<"), "S::operator<<");
  EXPECT_EQ(template_name("S<int>::operator<=>"), "S::operator<=>");
  EXPECT_EQ(template_name("operator< <int>"), "operator< ");
  EXPECT_EQ(template_name("S::operator->"), "S::operator->");
  EXPECT_EQ(template_name("my_operator<int>"), "my_operator");
}

TEST(TemplateName, WhatDoesNotMatchStays) {
  EXPECT_EQ(template_name("plain"), "plain");
  EXPECT_EQ(template_name(""), "");
  EXPECT_EQ(template_name("a<b"), "a<b");
  EXPECT_EQ(template_name("a>b"), "a>b");
  EXPECT_EQ(template_name("f<(1 > 2)>"), "f<(1 > 2)>");
}

}  // namespace
}  // namespace telltale
