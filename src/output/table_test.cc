#include "output/table.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace telltale {
namespace {

Table sample() {
  Table table({{"function", "Function", Show::text},
               {"calls", "Calls", Show::plain},
               {"total_ns", "Total", Show::duration},
               {"share", "Share", Show::percent}});
  table.add_row({std::string("=f\x1b,\"x\""), uint64_t{12}, uint64_t{1'234'567}, 0.5});
  table.add_row({std::string("g\u00fc"), int64_t{-3}, std::monostate{}, 0.0625});
  return table;
}

TEST(Table, TextIsAlignedAndEscaped) {
  EXPECT_EQ(sample().to_text(),
            "Function    Calls     Total   Share\n"
            "=f\\x1b,\"x\"     12  1.235 ms  50.0 %\n"
            "g\u00fc             -3         -   6.2 %\n");
}

TEST(Table, CsvQuotesAndGuards) {
  EXPECT_EQ(sample().to_csv(),
            "function,calls,total_ns,share\n"
            "\"'=f\x1b,\"\"x\"\"\",12,1234567,0.5\n"
            "g\u00fc,-3,,0.0625\n");
}

TEST(Table, JsonRowsCarryTheNumbersThemselves) {
  const auto rows = nlohmann::json::parse(sample().to_json());
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("function").get<std::string>(), "=f\x1b,\"x\"");
  EXPECT_EQ(rows[0].at("total_ns").get<uint64_t>(), 1'234'567u);
  EXPECT_EQ(rows[1].at("calls").get<int64_t>(), -3);
  EXPECT_TRUE(rows[1].at("total_ns").is_null());
}

TEST(Table, DurationsShowFourDigits) {
  EXPECT_EQ(show_duration(0), "0 ns");
  EXPECT_EQ(show_duration(999), "999 ns");
  EXPECT_EQ(show_duration(999.96), "1 us");
  EXPECT_EQ(show_duration(1234), "1.234 us");
  EXPECT_EQ(show_duration(1.5e9), "1.5 s");
  EXPECT_EQ(show_duration(8.64e13), "86400 s");
}

}  // namespace
}  // namespace telltale
