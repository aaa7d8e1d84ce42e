#include "cli/study/shown_words.h"

#include <gtest/gtest.h>

namespace telltale::cli {
namespace {

TEST(ShownWords, NameFunctionsShortlyInTheTextToo) {
  const std::string caller =
      "load(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >)";
  const std::string callee = "std::vector<int, std::allocator<int> >::size() const";
  PredicateWords words;
  words.function = caller;
  words.callee = callee;
  words.text = caller + " called " + callee;
  words.names_functions = true;
  const ShownWords found = shown_words(words, NameStyle::short_names);
  EXPECT_EQ(found.function, "load(std::string)");
  EXPECT_EQ(found.text, "load(std::string) called std::vector<int>::size() const");
  const ShownWords whole = shown_words(words, NameStyle::full);
  EXPECT_EQ(whole.function, caller);
  EXPECT_EQ(whole.text, words.text);
}

TEST(ShownWords, LeaveCodeOfTheProgramAsItIs) {
  PredicateWords words;
  words.function = "std::vector<int, std::allocator<int> >::size() const";
  words.text = std::string(words.function) + " == 0";
  const ShownWords found = shown_words(words, NameStyle::short_names);
  EXPECT_EQ(found.function, "std::vector<int>::size() const");
  EXPECT_EQ(found.text, words.text);
}

TEST(ShownWords, LeaveOtherTextsAsTheyAre) {
  PredicateWords words;
  words.names_functions = true;
  words.function = "main";
  words.text = "main_count > 0";
  EXPECT_EQ(shown_words(words, NameStyle::short_names).text, "main_count > 0");
  words.function = "";
  EXPECT_EQ(shown_words(words, NameStyle::short_names).text, "main_count > 0");
}

}  // namespace
}  // namespace telltale::cli
