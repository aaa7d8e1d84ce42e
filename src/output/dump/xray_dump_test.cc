#include "output/dump/xray_dump.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "support/golden.h"
#include "support/xray_samples.h"

namespace telltale::xray {
namespace {

struct Dumped {
  std::string text;
  ProblemLog problems;
};

Dumped dumped(const testing::Sample& sample, DumpStyle style) {
  Dumped dump;
  const ByteSink sink = [&](std::string_view block) -> Result<void> {
    dump.text += block;
    return {};
  };
  const Result<void> done =
      dump_trace(as_bytes(sample.bytes), sample.name, style, sink, dump.problems);
  EXPECT_TRUE(done) << to_string(done.error());
  return dump;
}

// The golden files equal the builder's output, and dump prints the expected texts.
TEST(XrayDump, GoldenFiles) {
  for (const testing::Sample& sample : testing::all_samples()) {
    const std::string path = "xray/" + sample.name;
    EXPECT_TRUE(testing::golden(path, sample.bytes) == sample.bytes) << path;
    const Dumped dump = dumped(sample, DumpStyle::kText);
    EXPECT_EQ(testing::golden(path + ".txt", dump.text), dump.text) << path;
    EXPECT_EQ(dump.problems.count() == 0, dump.text.find(" Problem ") == std::string::npos) << path;
    if (sample.valid) {
      EXPECT_EQ(dump.problems.count(), 0U) << path;
    }
  }
}

TEST(XrayDump, JsonLinesHaveTheSameRecordsAsTheText) {
  for (const testing::Sample& sample : testing::all_samples()) {
    std::istringstream text(dumped(sample, DumpStyle::kText).text);
    std::istringstream json(dumped(sample, DumpStyle::kJson).text);
    std::string text_line;
    std::string json_line;
    while (std::getline(text, text_line)) {
      ASSERT_TRUE(std::getline(json, json_line)) << sample.name;
      const auto object = nlohmann::json::parse(json_line);
      std::istringstream words(text_line);
      uint64_t offset = 0;
      std::string record;
      words >> offset >> record;
      EXPECT_EQ(object.at("offset"), offset) << sample.name;
      EXPECT_EQ(object.at("record"), record) << sample.name;
    }
    EXPECT_FALSE(std::getline(json, json_line)) << sample.name;
  }
}

TEST(XrayDump, JsonKeepsPayloadsWhole) {
  const testing::Sample sample{
      "name\n\x1b.fdr", testing::FdrBuilder(5).buffer({.tsc = 7}).custom("\xff\x00", 3).bytes()};
  std::istringstream lines(dumped(sample, DumpStyle::kJson).text);
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(nlohmann::json::parse(line).at("file"), sample.name);
  while (std::getline(lines, line) && line.find("Custom") == std::string::npos) {
  }
  const auto event = nlohmann::json::parse(line);
  EXPECT_EQ(event.at("data_hex"), "ff");  // the C string ends at its zero byte
  EXPECT_EQ(event.at("tsc"), 10);
  EXPECT_EQ(event.at("tsc_delta"), 3);
}

TEST(XrayDump, Yaml) {
  const testing::Sample sample{
      "t.yaml",
      "---\nheader: { version: 5, type: 1, cycle-frequency: 9 }\nrecords:\n"
      "  - { type: 0, func-id: 3, function: \"a\\e\", args: [ 7, 8 ], cpu: 1, thread: 2, "
      "kind: function-enter-arg, tsc: 5 }\n  - { type: 0 }\n"};
  const Dumped dump = dumped(sample, DumpStyle::kText);
  EXPECT_EQ(
      dump.text,
      "         0 FileHeader format=xray-yaml version=5 cycle_frequency=9\n"
      "        69 YamlRecord action=enter_args function_id=3 function=\"a\\x1b\" tsc=5 tid=2 pid=0 "
      "cpu=1 arguments=[7,8]\n"
      "       183 Problem kind=corruption in=\"Record\" message=\"lacks a required key; skipped\" "
      "lost_bytes=0\n");
  std::istringstream lines(dumped(sample, DumpStyle::kJson).text);
  std::string line;
  std::getline(lines, line);
  std::getline(lines, line);
  EXPECT_EQ(nlohmann::json::parse(line).at("arguments"), nlohmann::json::array({7, 8}));
}

TEST(XrayDump, TextHasNoControlCharacters) {
  for (const testing::Sample& sample : testing::all_samples()) {
    for (const DumpStyle style : {DumpStyle::kText, DumpStyle::kJson}) {
      for (const char c : dumped(sample, style).text) {
        ASSERT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20) << sample.name;
      }
    }
  }
}

}  // namespace
}  // namespace telltale::xray
