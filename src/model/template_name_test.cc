#include "model/template_name.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

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
