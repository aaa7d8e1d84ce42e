#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "bytes/as_bytes.h"
#include "formats/stacktrack/format_description_xml.h"
#include "output/dump/stacktrack_dump.h"
#include "output/dump/stacktrack_xml.h"
#include "support/golden.h"
#include "support/stacktrack_samples.h"

namespace telltale::stacktrack {
namespace {

using testing::Sample;

ByteSink into(std::string& out) {
  return [&out](std::string_view block) -> Result<void> {
    out += block;
    return {};
  };
}

std::string dumped(const Sample& sample, DumpStyle style) {
  std::string out;
  ProblemLog problems;
  EXPECT_TRUE(dump_stream(as_bytes(sample.bytes), sample.name, *recognise(as_bytes(sample.bytes)),
                          style, into(out), problems));
  return out;
}

// The golden files equal the builder's output, and dump and expand_events print the expected texts.
TEST(StacktrackOutput, GoldenFiles) {
  for (const Sample& sample : testing::stacktrack_samples()) {
    const std::string path = "stacktrack/" + sample.name;
    EXPECT_TRUE(testing::golden(path, sample.bytes) == sample.bytes) << path;
    const std::string dump = dumped(sample, DumpStyle::kText);
    EXPECT_EQ(testing::golden(path + ".txt", dump), dump);
    std::string xml;
    ProblemLog problems;
    ASSERT_TRUE(expand_events(as_bytes(sample.bytes), sample.name,
                              *recognise(as_bytes(sample.bytes)), {}, into(xml), problems));
    EXPECT_EQ(testing::golden(path + ".xml", xml), xml);
  }
}

TEST(StacktrackOutput, JsonHasOneObjectALine) {
  for (const Sample& sample : testing::stacktrack_samples()) {
    std::istringstream lines(dumped(sample, DumpStyle::kJson));
    std::string line;
    size_t count = 0;
    for (; std::getline(lines, line); ++count) {
      const nlohmann::json object = nlohmann::json::parse(line);
      EXPECT_TRUE(object.contains("offset") && object.contains("record")) << line;
    }
    EXPECT_GT(count, 1U) << sample.name;
  }
}

TEST(RawFormat, IsReadBack) {
  for (const Layout layout : {Layout::classic, Layout::wide}) {
    for (const std::endian order : {std::endian::little, std::endian::big}) {
      const FormatDescription known = known_layout(layout, order);
      const std::string xml = raw_format_xml(known);
      const Result<FormatDescription> read = read_format_description(as_bytes(xml));
      ASSERT_TRUE(read) << to_string(read.error());
      EXPECT_TRUE(same_meaning(known, *read));
      EXPECT_EQ(raw_format_xml(*read), xml);
    }
  }
}

}  // namespace
}  // namespace telltale::stacktrack
