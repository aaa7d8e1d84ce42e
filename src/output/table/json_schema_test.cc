#include "output/table/json_schema.h"

#include <gmock/gmock.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string>

#include "output/json_writer.h"
#include "output/table/json_document.h"
#include "output/table/table.h"

namespace telltale {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

constexpr std::array kColumns = {
    field::ns("took_ns", "How long it took."),
    field::text("name", "Its name.").or_null(),
    field::fraction("share", "Of all.").sometimes(),
};
constexpr std::array kMembers = {
    field::rows("rows", kColumns, "A row for each thing."),
    field::map_of("by_kind", ValueType::unsigned_integer, Unit::count, "How many, by kind."),
    field::list_of("names", ValueType::text, "All names.").sometimes(),
};
constexpr DocumentSchema kThings{"things", 7, "Some things.", true, kMembers};

nlohmann::json schema_of_things() { return nlohmann::json::parse(json_schema(kThings)); }

TEST(JsonSchema, NamesTheEnvelopeAndWhatIsAlwaysThere) {
  const nlohmann::json schema = schema_of_things();
  EXPECT_THAT(schema["required"], UnorderedElementsAre("telltale", "schema", "recording",
                                                       "problems", "rows", "by_kind"));
  EXPECT_EQ(schema["additionalProperties"], false);
  EXPECT_EQ(schema["properties"]["schema"]["properties"]["name"]["const"], "things");
  EXPECT_EQ(schema["properties"]["schema"]["properties"]["version"]["const"], 7);
}

TEST(JsonSchema, ADocumentAboutNoRecordingHasNone) {
  DocumentSchema schema = kThings;
  schema.of_a_recording = false;
  const nlohmann::json made = nlohmann::json::parse(json_schema(schema));
  EXPECT_FALSE(made["properties"].contains("recording"));
}

TEST(JsonSchema, TellsTypeUnitAndSentenceOfAColumn) {
  const nlohmann::json row = schema_of_things()["properties"]["rows"]["items"];
  EXPECT_THAT(row["required"], ElementsAre("took_ns", "name"));
  const nlohmann::json& took = row["properties"]["took_ns"];
  EXPECT_EQ(took["type"], "integer");
  EXPECT_EQ(took["minimum"], 0);
  EXPECT_EQ(took["unit"], "ns");
  EXPECT_EQ(took["description"], "How long it took.");
  EXPECT_THAT(row["properties"]["name"]["type"], ElementsAre("string", "null"));
  EXPECT_EQ(row["properties"]["share"]["type"], "number");
}

TEST(JsonSchema, TellsWhatListsAndMapsHold) {
  const nlohmann::json members = schema_of_things()["properties"];
  EXPECT_EQ(members["by_kind"]["additionalProperties"]["type"], "integer");
  EXPECT_EQ(members["names"]["items"]["type"], "string");
}

TEST(JsonDocument, PutsRowsAndProblemsIntoTheEnvelope) {
  Table rows(TableSchema(kColumns).without({"share"}));
  rows.add_row({uint64_t{17}, std::string("one"), TableCell()});
  ProblemLog problems;
  problems.add({.kind = Problem::Kind::torn_tail,
                .offset = 23,
                .file = "a.xray",
                .record = "buffer",
                .message = "ends early",
                .lost_bytes = 5});
  const std::string text = rows_document(kThings, "xray", rows, problems);
  EXPECT_TRUE(text.ends_with("}\n") && !text.ends_with("\n\n")) << text;
  const nlohmann::json document = nlohmann::json::parse(text);
  EXPECT_EQ(document["schema"], nlohmann::json({{"name", "things"}, {"version", 7}}));
  EXPECT_EQ(document["recording"], nlohmann::json({{"format", "xray"}}));
  EXPECT_EQ(document["rows"], nlohmann::json::array({{{"took_ns", 17}, {"name", "one"}}}));
  EXPECT_EQ(document["problems"], nlohmann::json::array({{{"offset", 23},
                                                          {"record", "buffer"},
                                                          {"message", "ends early"},
                                                          {"lost_bytes", 5},
                                                          {"kind", "torn tail"},
                                                          {"file", "a.xray"}}}));
}

}  // namespace
}  // namespace telltale
