#include "cli/study/minimize.h"

#include <gtest/gtest.h>

namespace telltale::cli {
namespace {

StillFails contains(std::string_view needle) {
  return [needle](const std::string& input) -> Result<bool> { return input.contains(needle); };
}

TEST(Minimize, LeavesWhatTheFailureNeeds) {
  const auto found =
      minimize(std::string(300, 'a') + "xyz" + std::string(77, 'b'), contains("xyz"), 10000);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->input, "xyz");
  EXPECT_TRUE(found->complete);
}

TEST(Minimize, KeepsPartsThatAreFarApart) {
  const StillFails both = [](const std::string& input) -> Result<bool> {
    const size_t first = input.find('<');
    return first != std::string::npos && input.find('>', first) != std::string::npos;
  };
  const auto found = minimize("aa<bbbbbbbbbbbbbbbbbbbb>cc", both, 10000);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->input, "<>");
}

TEST(Minimize, GoesOnWhileBytesCanGo) {
  // Fails while the numbers of both letters are equal: single bytes go in the second round only.
  const StillFails ordered = [](const std::string& input) -> Result<bool> {
    return input.starts_with("k") && (input.size() < 3 || input[1] != 'b');
  };
  const auto found = minimize("kabcccc", ordered, 10000);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->input, "k");
}

TEST(Minimize, CanFindTheEmptyInput) {
  const auto found = minimize("abc", contains(""), 100);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->input, "");
  EXPECT_TRUE(found->complete);
}

TEST(Minimize, StopsAtTheLimitWithWhatItHas) {
  const auto found = minimize(std::string(64, 'a') + "x", contains("x"), 3);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->tried, 3U);
  EXPECT_FALSE(found->complete);
  EXPECT_TRUE(found->input.contains('x'));
}

TEST(Minimize, PassesErrorsOn) {
  const StillFails broken = [](const std::string&) -> Result<bool> {
    return usage_error("broken");
  };
  EXPECT_FALSE(minimize("abc", broken, 100));
}

}  // namespace
}  // namespace telltale::cli
