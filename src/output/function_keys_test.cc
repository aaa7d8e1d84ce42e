#include "output/function_keys.h"

#include <gmock/gmock.h>

namespace telltale {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(FunctionKeys, FunctionsOfOneNameHaveTheirLines) {
  EXPECT_THAT(unique_function_names({{"main", 1}, {"show", 2}, {"show", 3}, {"other", 4}}),
              ElementsAre("main", "show:2", "show:3", "other"));
  EXPECT_THAT(unique_function_names({{"f", 7}, {"f", 7}, {"f", 8}}),
              ElementsAre("f:7", "f:7:2", "f:8"));
  EXPECT_THAT(unique_function_names({{"f:7", 1}, {"f", 7}, {"f", 8}}),
              ElementsAre("f:7", "f:7:2", "f:8"));
  EXPECT_THAT(unique_function_names({}), IsEmpty());
}

TEST(FunctionKeys, NamesForLcovHaveNoBlanksAndCommas) {
  EXPECT_EQ(lcov_function_name("_Z4showi"), "_Z4showi");
  EXPECT_EQ(lcov_function_name("ns::S::operator int"), "ns::S::operator_int");
  EXPECT_EQ(lcov_function_name("ns::S::operator,"), "ns::S::operator;");
  EXPECT_EQ(lcov_function_name("f<unsigned long, int>"), "f<unsigned_long;int>");
  EXPECT_EQ(lcov_function_name("a\nb"), "a\\nb");
}

}  // namespace
}  // namespace telltale
