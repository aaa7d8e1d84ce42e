// Compares the worked examples and the tables in docs/formats/stacktrack.md with the code.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "formats/stacktrack/convert.h"
#include "formats/stacktrack/verifier.h"
#include "formats/stacktrack/wire.h"
#include "support/golden.h"

namespace telltale::stacktrack {
namespace {

// Three columns an entry: header, and the two halves of the payload.
std::string hex_dump(const std::string& file) {
  std::string text = "```\n";
  for (size_t at = 0; at < file.size(); at += 8) {
    text += at % 24 == 0 ? fmt::format("{:>6} ", at) : std::string();
    for (size_t i = at; i < at + 8; ++i)
      text += fmt::format(" {:02x}", static_cast<unsigned char>(file[i]));
    text += at % 24 == 16 ? "\n" : " ";
  }
  return text + "```\n";
}

// One line per entry; empty ones are omitted.
std::string wide_hex_dump(const std::string& file) {
  std::string text = "```\n";
  for (size_t at = 0; at < file.size(); at += wide::kEntryBytes) {
    if (file.compare(at, 8, std::string(8, '\0')) == 0) continue;
    text += fmt::format("{:>6} ", at);
    for (size_t i = at; i < at + wide::kEntryBytes; ++i) {
      text += fmt::format("{}{:02x}", i > at && i % 8 == 0 ? "  " : " ",
                          static_cast<unsigned char>(file[i]));
    }
    text += "\n";
  }
  return text + "```\n";
}

TEST(StacktrackDocs, ShowWhatTheCodeSays) {
  const std::string page = testing::read_source_file("docs/formats/stacktrack.md");
  const std::string example =
      testing::read_source_file("tests/golden/stacktrack/specification.tlg");
  ASSERT_GE(example.size(), 12U * 24);
  EXPECT_THAT(page, ::testing::HasSubstr(hex_dump(example.substr(0, 12 * 24))));
  const std::string recorded = testing::read_source_file("tests/golden/stacktrack/recorded.tlg");
  ASSERT_EQ(recorded.size(), 0x5000U);
  EXPECT_THAT(page, ::testing::HasSubstr(wide_hex_dump(recorded)));
  for (size_t i = 0; i < ConversionLoss::kReasons; ++i) {
    EXPECT_THAT(page, ::testing::HasSubstr(fmt::format(
                          "| {} |\n", loss_text(static_cast<ConversionLoss::Reason>(i)))));
  }
  for (size_t i = 0; i < Violation::kKinds; ++i) {
    EXPECT_THAT(page, ::testing::HasSubstr(
                          fmt::format("`{}`", to_string(static_cast<Violation::Kind>(i)))));
  }
}

}  // namespace
}  // namespace telltale::stacktrack
