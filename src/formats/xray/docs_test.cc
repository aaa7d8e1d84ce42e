// docs/formats/xray.md shows tables and a worked example that come from the code; this compares
// them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "formats/xray/conversion_loss.h"
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
                              : fmt::format(" ({})", fmt::join(versions, ", "));
}

std::string grammar_table() {
  std::string table = "| behind | may stand (in versions) |\n|---|---|\n";
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

}  // namespace
}  // namespace telltale::xray
