#include "output/dump/mono_dump.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "support/golden.h"
#include "support/mono_samples.h"

namespace telltale::mono {
namespace {

std::string dumped(const testing::MonoSample& sample, DumpStyle style) {
  std::string out;
  ProblemLog problems;
  const ByteSink sink = [&](std::string_view block) -> Result<void> {
    out += block;
    return {};
  };
  const auto done =
      dump_recording(std::as_bytes(std::span(sample.bytes.data(), sample.bytes.size())),
                     sample.name, style, sink, problems);
  EXPECT_TRUE(done) << to_string(done.error());
  EXPECT_EQ(problems.count(), 0U);
  return out;
}

// dump prints the expected text of each golden file: every event of every version, field by field.
TEST(MonoDump, GoldenFiles) {
  for (const testing::MonoSample& sample : testing::valid_mono_samples()) {
    const std::string text = dumped(sample, DumpStyle::kText);
    EXPECT_EQ(testing::golden("mono/" + sample.name + ".txt", text), text) << sample.name;
    for (const char c : text) {
      ASSERT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20) << sample.name;
    }
  }
}

TEST(MonoDump, JsonLinesHaveTheSameEventsAsTheText) {
  for (const testing::MonoSample& sample : testing::valid_mono_samples()) {
    std::istringstream text(dumped(sample, DumpStyle::kText));
    std::istringstream json(dumped(sample, DumpStyle::kJson));
    std::string text_line;
    std::string json_line;
    while (std::getline(text, text_line)) {
      ASSERT_TRUE(std::getline(json, json_line)) << sample.name;
      const auto object = nlohmann::json::parse(json_line);
      std::istringstream words(text_line);
      uint64_t offset = 0;
      std::string record;
      words >> offset >> record;
      EXPECT_EQ(object["offset"], offset);
      EXPECT_EQ(object["record"], record);
    }
    EXPECT_FALSE(std::getline(json, json_line)) << sample.name;
  }
}

}  // namespace
}  // namespace telltale::mono
