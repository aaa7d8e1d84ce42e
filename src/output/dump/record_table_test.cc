#include "output/dump/record_table.h"

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <string>

#include "output/dump/dump_line.h"

namespace telltale {
namespace {

constexpr auto kFields = std::to_array<Field>({
    field::number_id("id", "General."),
    field::text("Note.id", "Of notes."),
    field::signed_id("change", "A number."),
    field::list_of("list", ValueType::unsigned_integer, "A list."),
});

void print_all(DumpOutput& out) {
  DumpLine(out, 1, "Call").number("id", 1U).number("change", -1);
  DumpLine(out, 2, "Call").number("id", 2U).numbers("list", std::span<const uint64_t>());
  DumpLine(out, 3, "Note").text("id", "=1, \"x\"");
}

TEST(RecordTable, HasTheFieldsThatAreAlwaysOrSometimesPrinted) {
  const std::vector<RecordTable> tables = record_tables(kFields, print_all);
  ASSERT_EQ(tables.size(), 2U);
  const RecordTable& call = *find_record(tables, "Call");
  ASSERT_EQ(call.columns.size(), 3U);
  EXPECT_EQ(call.columns[0].key, "id");
  EXPECT_EQ(call.columns[0].sentence, "General.");
  EXPECT_EQ(call.columns[0].presence, Presence::always);
  EXPECT_EQ(call.columns[1].key, "list");  // after the field that it follows
  EXPECT_EQ(call.columns[1].presence, Presence::sometimes);
  EXPECT_EQ(call.columns[2].presence, Presence::sometimes);
  EXPECT_EQ(find_record(tables, "Note")->columns.at(0).sentence, "Of notes.");
  EXPECT_EQ(find_record(tables, "Nothing"), nullptr);
}

TEST(RecordTable, RejectsWhatIsNotDeclaredSo) {
  const auto declared = [](const Field& field, auto print) {
    return [field, print] { (void)record_tables(std::array{field}, print); };
  };
  const auto number = [](DumpOutput& out) { DumpLine(out, 0, "A").number("id", 1U); };
  EXPECT_NO_THROW(declared(field::number_id("id", "."), number)());
  EXPECT_THROW(declared(field::text("id", "."), number)(), std::logic_error);
  EXPECT_THROW(declared(field::number_id("other", "."), number)(), std::logic_error);
  EXPECT_THROW(declared(field::number_id("id", "."), [](DumpOutput&) {})(), std::logic_error);
}

TEST(RecordTable, CsvHasTheChosenRecordsOnly) {
  std::vector<RecordTable> tables = record_tables(kFields, print_all);
  std::string text;
  const ByteSink sink = [&](std::string_view block) -> Result<void> {
    text += block;
    return {};
  };
  const auto csv = [&](const RecordTable& table) {
    text = csv_header(table);
    DumpOutput out(DumpStyle::csv(table), sink);
    print_all(out);
    EXPECT_TRUE(out.finish());
    return text;
  };
  EXPECT_EQ(csv(tables[0]), "offset,id,list,change\n1,1,,-1\n2,2,,\n");
  EXPECT_EQ(csv(tables[1]), "offset,id\n3,\"'=1, \"\"x\"\"\"\n");
  tables[0].columns.pop_back();
  EXPECT_THROW(csv(tables[0]), std::logic_error);
  tables[0].open = true;
  EXPECT_EQ(csv(tables[0]), "offset,id,list,more\n1,1,,change=-1\n2,2,,\n");

  text.clear();
  DumpOutput out(DumpStyle(DumpStyle::kJson).only("Note"), sink);
  print_all(out);
  EXPECT_TRUE(out.finish());
  EXPECT_EQ(text, "{\"offset\":3,\"record\":\"Note\",\"id\":\"=1, \\\"x\\\"\"}\n");
}

}  // namespace
}  // namespace telltale
