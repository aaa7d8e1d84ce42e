// Compares the tables and the worked example in docs/formats/xray.md with the code.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/joined.h"
#include "formats/xray/conversion_loss.h"
#include "formats/xray/side_record.h"
#include "formats/xray/verifier.h"
#include "support/golden.h"
#include "support/xray_builder.h"

namespace telltale::xray {
namespace {

std::string versions_that_allow(Symbol after, Symbol next) {
  std::string versions;
  for (uint16_t version = 1; version <= kLastFdrVersion; ++version) {
    const SymbolSet allowed = fdr_grammar(version)[static_cast<size_t>(after)];
    if ((allowed & set_of(next)) != 0) versions += static_cast<char>('0' + version);
  }
  return versions == "12345"  ? ""
         : versions == "2345" ? " (2 and later)"
         : versions == "345"  ? " (3 and later)"
                              : fmt::format(" ({})", joined(versions, ", "));
}

std::string grammar_table() {
  std::string table = "| after | may follow (in versions) |\n|---|---|\n";
  for (size_t i = 0; i + 1 < kSymbols; ++i) {
    const auto after = static_cast<Symbol>(i);
    std::string row;
    for (size_t j = 0; j < kSymbols; ++j) {
      const auto next = static_cast<Symbol>(j);
      bool any = false;
      for (uint16_t version = 1; version <= kLastFdrVersion; ++version) {
        any = any || (fdr_grammar(version)[i] & set_of(next)) != 0;
      }
      if (any)
        row += (row.empty() ? "" : ", ") + std::string(symbol_name(next)) +
               versions_that_allow(after, next);
    }
    table += fmt::format("| {} | {} |\n", symbol_name(after), row);
  }
  return table;
}

std::string loss_table() {
  std::string table = "| reason | what is lost |\n|---|---|\n";
  for (size_t i = 0; i < ConversionLoss::kReasons; ++i) {
    const auto reason = static_cast<ConversionLoss::Reason>(i);
    table += fmt::format("| `{}` | {} |\n", loss_key(reason), loss_text(reason));
  }
  return table;
}

// tests/golden/xray/worked_example.fdr, 16 bytes a line.
std::string hex_dump(const std::string& file) {
  std::string text = "```\n";
  for (size_t at = 0; at < file.size(); at += 16) {
    text += fmt::format("{:>10} ", at);
    for (size_t i = at; i < std::min(at + 16, file.size()); ++i) {
      text += fmt::format(" {:02x}", static_cast<unsigned char>(file[i]));
    }
    text += "\n";
  }
  return text + "```\n";
}

TEST(XrayDocs, ShowWhatTheCodeSays) {
  const std::string page = testing::read_source_file("docs/formats/xray.md");
  for (const std::string& block : {grammar_table(), loss_table()}) {
    EXPECT_THAT(page, ::testing::HasSubstr(block));
  }
  const std::string example = testing::read_source_file("tests/golden/xray/worked_example.fdr");
  EXPECT_FALSE(example.empty());
  EXPECT_THAT(page, ::testing::HasSubstr(hex_dump(example)));
  EXPECT_THAT(page,
              ::testing::HasSubstr(
                  "```\n" + testing::read_source_file("tests/golden/xray/worked_example.fdr.txt") +
                  "```\n"));
}

TEST(XrayRecorderDocs, TheWorkedExampleIsTheFile) {
  const std::string page = testing::read_source_file("docs/formats/xray-recorder.md");
  const std::string example =
      testing::read_source_file("tests/golden/xray_recorder/worked_example.side");
  EXPECT_THAT(page, ::testing::HasSubstr(hex_dump(example)));
  ProblemLog problems;
  const Result<SideRecord> record = read_side_record(as_bytes(example), "example", problems);
  ASSERT_TRUE(record) << to_string(record.error());
  EXPECT_EQ(problems.count(), 0U);
  EXPECT_TRUE(record->ended);
  EXPECT_EQ(record->start_realtime_ns, 1'700'000'100'000'000'000U);
  EXPECT_EQ(record->lost_no_space, 3U);
  EXPECT_EQ(record->left_out, 10U);
  ASSERT_EQ(record->objects.size(), 1U);
  EXPECT_EQ(record->objects[0].build_id, "c0ffee0123456789");
  EXPECT_EQ(record->objects[0].path, "/usr/bin/orders");
  const SideFunction* function = record->find_assigned(kFirstAssignedId + 1);
  ASSERT_NE(function, nullptr);
  EXPECT_EQ(function->address - record->objects[function->object].load_bias, 0x11c0U);
  EXPECT_THAT(record->threads, ::testing::ElementsAre(::testing::Pair(77U, "orders")));
}

}  // namespace
}  // namespace telltale::xray
