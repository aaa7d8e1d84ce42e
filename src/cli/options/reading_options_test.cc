#include "cli/options/reading_options.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

namespace telltale::cli {
namespace {

constexpr uint64_t kEnd = ~uint64_t{0};
using Window = std::optional<std::pair<uint64_t, uint64_t>>;

Window window_of(const std::string& text) {
  ReadingOptions options;
  options.time = text;
  const Result<CallFilter> filter = options.filter();
  if (!filter) {
    EXPECT_EQ(filter.error().cause, Error::Cause::usage) << text;
    return std::nullopt;
  }
  return std::pair(filter->from_ns, filter->to_ns);
}

Window ns(uint64_t from, uint64_t to) { return std::pair(from, to); }

TEST(TimeOption, HasOneGrammarForBothForms) {
  for (const char* const between : {"..", "-"}) {
    const auto both = [&](const std::string& from, const std::string& to) {
      return window_of(from + between + to);
    };
    EXPECT_EQ(both("0", "1"), ns(0, 1'000'000'000)) << between;
    EXPECT_EQ(both("0.05", "1.25"), ns(50'000'000, 1'250'000'000)) << between;
    EXPECT_EQ(both("1.5ms", "2s"), ns(1'500'000, 2'000'000'000)) << between;
    EXPECT_EQ(both("3us", "4ns").has_value(), false) << between;  // ends before it begins
    EXPECT_EQ(both("3ns", "3ns"), ns(3, 3)) << between;
    EXPECT_EQ(both("20us", ""), ns(20'000, kEnd)) << between;
    EXPECT_EQ(both("", "7ms"), ns(0, 7'000'000)) << between;
    EXPECT_EQ(both(".5", "1"), ns(500'000'000, 1'000'000'000)) << between;
    EXPECT_EQ(both("0.3us", "1us"), ns(300, 1000)) << between;
    EXPECT_EQ(both("440", "881ns"), ns(440, 881)) << between;  // one unit for both
    EXPECT_EQ(both("1ms", "1.5"), ns(1'000'000, 1'500'000)) << between;
  }
}

TEST(TimeOption, IsExactToTheNanosecond) {
  EXPECT_EQ(window_of("9007199254740993ns.."), ns(9'007'199'254'740'993, kEnd));
  EXPECT_EQ(window_of("..18446744073709551615ns"), ns(0, kEnd));
  EXPECT_EQ(window_of("18446744073s.."), ns(18'446'744'073'000'000'000U, kEnd));
}

TEST(TimeOption, AMinusCountsFromTheEnd) {
  const auto settled = [](const std::string& text) -> Window {
    ReadingOptions options;
    options.time = text;
    Result<CallFilter> filter = options.filter();
    if (!filter) return std::nullopt;
    EXPECT_TRUE(filter->counts_from_end());
    EXPECT_FALSE(filter->keeps_every_time());
    filter->settle(/*span_ns=*/1000);
    EXPECT_FALSE(filter->counts_from_end());
    return std::pair(filter->from_ns, filter->to_ns);
  };
  EXPECT_EQ(settled("-10ns.."), ns(990, kEnd));
  EXPECT_EQ(settled("-10..-3ns"), ns(990, 997));
  EXPECT_EQ(settled("..-3ns"), ns(0, 997));
  EXPECT_EQ(settled("20ns..-3ns"), ns(20, 997));
  EXPECT_EQ(settled("-2us.."), ns(0, kEnd)) << "longer than the recording";
  EXPECT_EQ(settled("-3..-10ns"), std::nullopt) << "ends before it begins";
}

TEST(TimeOption, RefusesWhatIsNoWindow) {
  for (const char* text :
       {"1s", "nonsense", "1x..2", "1..2m", "--1s..2s", "1e3..2e3", "-..", "..-", "-1s-2s", "inf..",
        "nan..1", "1..2..3", "1.2.3..4", "18446744074..", "18446744073709551616ns..",
        "99999999999999999999s..", "1 ..2", "s..", "..ms"})
    EXPECT_EQ(window_of(text), std::nullopt) << text;
}

}  // namespace
}  // namespace telltale::cli
