#include "output/table/write_rows.h"

#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>

#include "output/table/json_document.h"

namespace telltale {
namespace {

constexpr std::array kRowColumns = {
    field::signed_id("pid", "Process.").sometimes(),
    field::text("function", "Name.").titled("Function"),
    field::count("calls", "Calls."),
    field::ns("total_ns", "Time."),
    field::fraction("share", "Of all.").titled("%"),
    field::text("shown", "A value in words.").aligned_right(),
};

void emit(RowSink& sink) {
  const std::array<TableCell, 6> one = {int64_t{5},   std::string("=f\x1b,\"x\""),
                                        uint64_t{12}, uint64_t{1'234'567},
                                        0.5,          std::string("2 ms")};
  sink.add(one);
  const std::array<TableCell, 6> other = {std::monostate(), std::string("g\u00fc"),
                                          int64_t{-3},      std::monostate(),
                                          0.0625,           std::string("31 ms")};
  sink.add(other);
}

template <typename Write>
std::string written(Write write) {
  std::string all;
  const ByteSink sink = [&all](std::string_view block) -> Result<void> {
    all += block;
    return {};
  };
  BlockWriter out(sink);
  write(out);
  EXPECT_TRUE(out.finish());
  return all;
}

TEST(WriteRows, TextIsAlignedEscapedAndHeadedByTitlesOrKeys) {
  const TableSchema schema(kRowColumns);
  EXPECT_EQ(written([&](BlockWriter& out) { write_text(schema, emit, out, "> "); }),
            "> PID  Function    CALLS     TOTAL       %  SHOWN\n"
            ">   5  =f\\x1b,\"x\"     12  1.235 ms  50.0 %   2 ms\n"
            ">   -  g\u00fc             -3         -   6.2 %  31 ms\n");
}

TEST(WriteRows, ColumnsThatAreLeftOutAreInNoSink) {
  const TableSchema schema = TableSchema(kRowColumns).without({"pid", "share", "shown"});
  EXPECT_EQ(written([&](BlockWriter& out) { write_text(schema, emit, out); }),
            "Function    CALLS     TOTAL\n"
            "=f\\x1b,\"x\"     12  1.235 ms\n"
            "g\u00fc             -3         -\n");
  EXPECT_EQ(written([&](BlockWriter& out) {
              CsvSink sink(schema, out);
              emit(sink);
            }),
            "function,calls,total_ns\n"
            "\"'=f\x1b,\"\"x\"\"\",12,1234567\n"
            "g\u00fc,-3,\n");
  std::string text;
  JsonWriter json(text);
  JsonSink sink(schema, json);
  emit(sink);
  sink.end();
  const auto rows = nlohmann::json::parse(text);
  EXPECT_EQ(rows[0],
            nlohmann::json({{"function", "=f\x1b,\"x\""}, {"calls", 12}, {"total_ns", 1'234'567}}));
  EXPECT_EQ(rows[1],
            nlohmann::json({{"function", "g\u00fc"}, {"calls", -3}, {"total_ns", nullptr}}));
}

TEST(WriteRows, ADocumentHasTheEnvelopeAroundTheRows) {
  static constexpr std::array kRowMembers = {field::rows("rows", kRowColumns, "Rows.")};
  static constexpr DocumentSchema kDocument{"things", 3, "Things.", true, kRowMembers};
  ProblemLog problems;
  Problem gone;
  gone.message = "gone";
  problems.add(gone);
  const auto document = nlohmann::json::parse(written([&](BlockWriter& out) {
    write_rows_document(kDocument, "toy", TableSchema(kRowColumns), emit, problems, out);
  }));
  EXPECT_EQ(document["schema"], nlohmann::json({{"name", "things"}, {"version", 3}}));
  EXPECT_EQ(document["recording"]["format"], "toy");
  EXPECT_EQ(document["rows"].size(), 2U);
  EXPECT_EQ(document["rows"][0]["calls"], 12);
  EXPECT_EQ(document["problems"][0]["message"], "gone");
}

TEST(WriteRows, AJsonDocumentOfAnyLengthIsFlushedInBlocks) {
  const TableSchema schema(kRowColumns);
  std::string all;
  size_t largest = 0;
  const ByteSink sink = [&](std::string_view block) -> Result<void> {
    all += block;
    largest = std::max(largest, block.size());
    return {};
  };
  BlockWriter out(sink);
  JsonWriter json(out.block());
  JsonSink rows(schema, json, &out);
  for (int i = 0; i < 10'000; ++i) emit(rows);
  rows.end();
  EXPECT_TRUE(out.finish());
  EXPECT_EQ(nlohmann::json::parse(all).size(), 20'000U);
  EXPECT_LT(largest, 2 * BlockWriter::kBlockBytes);
}

}  // namespace
}  // namespace telltale
