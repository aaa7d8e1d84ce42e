// Compares the tables and the worked example in docs/formats/mono.md with the code.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "formats/mono/verifier.h"
#include "formats/mono/versions.h"
#include "formats/mono/writer.h"
#include "support/golden.h"

namespace telltale::mono {
namespace {

std::string versions(uint8_t since, uint8_t until) {
  if (since == 1 && until == kLastVersion) return "all";
  if (until == kLastVersion) return fmt::format("{} and later", since);
  return since == until ? fmt::format("{}", since) : fmt::format("{} to {}", since, until);
}

// Bits with any value are x.
std::string first_byte(const EventRow& row) {
  std::string bits;
  for (int bit = 7; bit >= 0; --bit) {
    bits += (row.mask >> bit & 1) == 0 ? 'x' : static_cast<char>('0' + (row.value >> bit & 1));
    if (bit == 4) bits += ' ';
  }
  return bits;
}

std::string event_table_text() {
  std::string table =
      "| first byte, bits | event | versions | begins with a time |\n|---|---|---|---|\n";
  for (const EventRow& row : kEventRows) {
    table += fmt::format("| `{}` | {} | {} | {} |\n", first_byte(row), event_name(row.kind),
                         versions(row.since, row.until), row.timed ? "always" : "since 13");
  }
  return table;
}

std::string value_table() {
  std::string table = "| event | field | values | versions |\n|---|---|---|---|\n";
  for (const ValueRule& rule : value_rules()) {
    std::string values = fmt::format("{} to {}", rule.first, rule.last);
    if (rule.except <= rule.last) values += fmt::format(" without {}", rule.except);
    table += fmt::format("| {} | {} | {} | {} |\n", event_name(rule.event), rule.field, values,
                         versions(rule.since, rule.until));
  }
  return table;
}

std::string loss_list() {
  std::string list;
  for (size_t i = 0; i < ConversionLoss::kReasons; ++i)
    list += fmt::format("- {}\n", loss_text(static_cast<ConversionLoss::Reason>(i)));
  return list;
}

std::string hex_dump(std::string_view file) {
  std::string text = "```\n";
  for (size_t at = 0; at < file.size(); at += 16) {
    text += fmt::format("{:>10} ", at);
    for (size_t i = at; i < std::min(at + 16, file.size()); ++i)
      text += fmt::format(" {:02x}", static_cast<unsigned char>(file[i]));
    text += "\n";
  }
  return text + "```\n";
}

TEST(MonoDocs, ShowWhatTheCodeSays) {
  const std::string page = testing::read_source_file("docs/formats/mono.md");
  const std::string example = testing::read_source_file("tests/golden/mono/worked_example.mlpd");
  EXPECT_FALSE(example.empty());
  const std::string dump =
      "```\n" + testing::read_source_file("tests/golden/mono/worked_example.mlpd.txt") + "```\n";
  for (const std::string& block :
       {event_table_text(), value_table(), loss_list(), hex_dump(example), dump})
    EXPECT_THAT(page, ::testing::HasSubstr(block));
}

}  // namespace
}  // namespace telltale::mono
