#include "output/table/table.h"

#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bytes/block_writer.h"
#include "output/table/section.h"

namespace telltale {
namespace {

constexpr std::array kTableColumns = {
    field::text("function", "Its name.").titled("Function"),
    field::count("calls", "How often it was called.").titled("Calls"),
    field::ns("total_ns", "How long it took.").titled("Total"),
    field::fraction("share", "Of the whole.").titled("Share"),
};

Table sample(TableSchema schema = kTableColumns) {
  Table table(std::move(schema));
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
  std::string text;
  JsonWriter json(text);
  sample().write_json_rows(json);
  const auto rows = nlohmann::json::parse(text);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("function").get<std::string>(), "=f\x1b,\"x\"");
  EXPECT_EQ(rows[0].at("total_ns").get<uint64_t>(), 1'234'567u);
  EXPECT_EQ(rows[1].at("calls").get<int64_t>(), -3);
  EXPECT_TRUE(rows[1].at("total_ns").is_null());
}

TEST(Table, KeepsOnlyColumnsThatAreShown) {
  const TableSchema schema = TableSchema(kTableColumns).without({"function", "share"});
  EXPECT_EQ(sample(schema).to_csv(), "calls,total_ns\n12,1234567\n-3,\n");
}

TEST(Table, TextSaysHowManyRowsAreLeftOut) {
  constexpr std::array kTables = {field::rows("functions", kTableColumns, "Functions.")};
  const auto text_of = [&](size_t most) {
    std::vector<Section> sections;
    sections.emplace_back("calls", "Calls", kTables).add("functions", sample());
    sections[0].limit_rows(most, "");
    std::string text;
    const ByteSink sink = [&](std::string_view block) -> Result<void> {
      text += block;
      return {};
    };
    BlockWriter out(sink);
    write_sections_text(sections, out);
    EXPECT_TRUE(out.finish());
    return text;
  };
  EXPECT_TRUE(text_of(1).ends_with("  1 of 2 rows; --rows 0 shows all\n")) << text_of(1);
  EXPECT_EQ(text_of(2).find("rows"), std::string::npos);
  Table cut = sample();
  cut.set_total(9);
  cut.keep_first(1);
  EXPECT_EQ(cut.total(), 9U);
}

TEST(Table, AColumnThatIsNotDeclaredIsABug) {
  EXPECT_THROW(static_cast<void>(TableSchema(kTableColumns).without({"shares"})), std::logic_error);
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
