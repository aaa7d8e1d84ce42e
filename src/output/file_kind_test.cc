#include "output/file_kind.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace telltale {
namespace {

TEST(FileKind, WhatTelltaleWritesAndWhatItMustNotReplaceDiffer) {
  using namespace std::string_literals;
  const std::set<std::string> kinds = {
      file_kind(""),
      file_kind("\x7f"
                "ELF\2\1\1"s),
      file_kind("\x1f\x8b\x08\x00"s),
      file_kind("\x28\xb5\x2f\xfd"),
      file_kind("<!DOCTYPE html>\n<html>"),
      file_kind("<?xml version=\"1.0\"?>\n<svg>"),
      file_kind("<?xml version=\"1.0\"?>\n<graphml>"),
      file_kind("digraph calls {\n"),
      file_kind("# callgrind format\n"),
      file_kind("TN:\nSF:/a.c\n"),
      file_kind("{\n  \"telltale\": \"0.1.0\""),
      file_kind("{\"displayTimeUnit\":\"ns\""),
      file_kind("[\n{\"kind\":\"call\""),
      file_kind("main;read 120\nmain 4\n"),
      file_kind("pid,tid,depth\n1,2,3\n"),
      file_kind("#include <cstdio>\n"),
      file_kind("\x05\x00\x01\x00\x00\x00"s),
  };
  EXPECT_EQ(kinds.size(), 17U);
}

TEST(FileKind, AnotherAnswerOfTheSameKindIsTheSame) {
  EXPECT_EQ(file_kind("{\"telltale\":\"0.2\"}"), file_kind("{\n  \"telltale\": \"0.1.0\""));
  EXPECT_EQ(file_kind("<svg xmlns=\"x\">"), file_kind("<?xml version=\"1.0\"?><svg>"));
  EXPECT_EQ(file_kind("a;b 1\n"), file_kind("operator new(unsigned long) 12\nx 1\n"));
  EXPECT_EQ(file_kind("pid,tid,depth,function\n1,2,3,\x01\n"),
            file_kind("pid,tid,depth,function\n"));
  EXPECT_EQ(file_kind("<!DOCTYPE html>"), file_kind("<!doctype HTML>"));
}

TEST(FileKind, TheWordsShowNothingRaw) {
  EXPECT_EQ(file_kind("\x1b[31mred"), "a text that begins with \\x1b[31mred");
  EXPECT_EQ(file_kind(std::string(100, 'x')), "a text that begins with " + std::string(40, 'x'));
}

}  // namespace
}  // namespace telltale
