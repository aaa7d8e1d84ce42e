#include "names.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace telltale::st {
namespace {

std::string shortened(const char* pretty) {
  char text[200];
  return {text, write_function_name(pretty, text, sizeof(text))};
}

TEST(ShortFunctionName, KeepsScopeAndName) {
  EXPECT_EQ(shortened("int main(int, char**)"), "main");
  EXPECT_EQ(shortened("int main()"), "main");
  EXPECT_EQ(shortened("bool file_sink_impl::open(const char*) const"), "file_sink_impl::open");
  EXPECT_EQ(shortened("server::Store::Store()"), "server::Store::Store");
  EXPECT_EQ(shortened("std::map<int, std::string> ns::make(const std::map<int, int>&)"),
            "ns::make");
  EXPECT_EQ(shortened("T twice(T) [with T = double]"), "twice [with T = double]");
  EXPECT_EQ(shortened("T ns::A<T>::get(F) [with F = int (*)(int); T = char]"),
            "ns::A<T>::get [with F = int (*)(int); T = char]");
  EXPECT_EQ(shortened("int work() [N = 20]"), "work [N = 20]");
  EXPECT_EQ(shortened("const char* name(void (*)(int))"), "name");
  EXPECT_EQ(shortened("void {anonymous}::run()"), "{anonymous}::run");
  EXPECT_EQ(shortened("void (anonymous namespace)::run(int)"), "(anonymous namespace)::run");
  EXPECT_EQ(shortened("virtual int& A::f() &&"), "A::f");
}

TEST(ShortFunctionName, OfAFunctionThatReturnsAPointerToAFunctionIsItsName) {
  EXPECT_EQ(shortened("int (* ret(int))(char)"), "ret");  // g++
  EXPECT_EQ(shortened("int (*ret(int))(char)"), "ret");   // clang
  EXPECT_EQ(shortened("const char *(*ns::A::pick(void (*)(int)) const)(char)"), "ns::A::pick");
  EXPECT_EQ(shortened("int (&(anonymous namespace)::rows())[3]"), "(anonymous namespace)::rows");
  EXPECT_EQ(shortened("void (*(*twice(int))(char))(long)"), "twice");
  EXPECT_EQ(shortened("T (* get(T))(int) [with T = char]"), "get [with T = char]");
  EXPECT_EQ(shortened("int (*get(T) [T = char])(T)"), "get [T = char]");
  EXPECT_EQ(shortened("int (A::* A::member())(int)"), "A::member");
  EXPECT_EQ(shortened("int (A::*A::member())(int)"), "A::member");
  EXPECT_EQ(shortened("int (*(int))(char)"), "int (*(int))(char)");
}

TEST(ShortFunctionName, LeavesWholeWhatItDoesNotUnderstand) {
  for (const char* name : {"main()::<lambda(int)>", "bool A::operator()(int) const", "work", "",
                           ")", "(", "f)", "()", " [x]", "auto f() -> decltype(g())"}) {
    EXPECT_EQ(shortened(name), name);
  }
}

TEST(ShortFunctionName, TellsItsLengthAndWritesWhatFits) {
  char text[8] = "-------";
  EXPECT_EQ(write_function_name("int work() [N = 20]", text, 6), 13U);
  EXPECT_STREQ(text, "work [-");
}

TEST(WriteNumber, IsDecimalAndFits) {
  char text[24];
  for (const uint64_t number :
       {uint64_t{0}, uint64_t{9}, uint64_t{10}, uint64_t{1234567}, UINT64_MAX}) {
    const size_t bytes = write_number(text, sizeof(text), number);
    EXPECT_EQ(std::string(text, bytes), std::to_string(number));
    EXPECT_EQ(text[bytes], '\0');
  }
  EXPECT_EQ(write_number(text, 4, 98765), 3U);
  EXPECT_STREQ(text, "987");
}

TEST(SourceFiles, HaveNumbersOfTheirOwnAndKeepProperties) {
  std::set<uint32_t> numbers;
  for (int i = 0; i < 1000; ++i) {
    SourceFile* const file = find_source_file(("names_test/" + std::to_string(i)).c_str());
    ASSERT_NE(file, nullptr);
    EXPECT_TRUE(numbers.insert(file->number).second);
    EXPECT_EQ(find_source_file(("names_test/" + std::to_string(i)).c_str()), file);
  }
  EXPECT_EQ(numbers.count(0), 0U);
  SourceFile* const file = find_source_file("names_test/7");
  file->cycle = 5;
  {
    std::string text = "a=b";
    EXPECT_EQ(add_property(*file, text.c_str()), 0);
    text = "xxx";
  }
  EXPECT_EQ(add_property(*file, std::string(5000, 'p').c_str()), 0);
  EXPECT_EQ(file->property_count, 2U);
  EXPECT_EQ(file->cycle, 0U) << "the file is not posted again with its new properties";
  EXPECT_EQ(file->properties->bytes, 2000U);
  EXPECT_EQ(std::string(file->properties->next->text, file->properties->next->bytes), "a=b");
}

}  // namespace
}  // namespace telltale::st
