#include "formats/stacktrack/convert.h"

#include <gtest/gtest.h>

#include "formats/stacktrack/reader.h"
#include "formats/stacktrack/verifier.h"
#include "support/stacktrack_samples.h"

namespace telltale::stacktrack {
namespace {

using Reason = ConversionLoss::Reason;
using testing::Sample;
using testing::StacktrackBuilder;

Bytes as_bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

struct Converted {
  std::string bytes;
  ConversionLoss loss;
  ProblemLog problems;
};

Converted converted(std::string_view file, const FormatDescription& to) {
  Converted made;
  const ByteSink sink = [&](std::string_view block) -> Result<void> {
    made.bytes += block;
    return {};
  };
  const Result<ConversionLoss> loss =
      convert_stream(as_bytes(file), "f", *recognise(as_bytes(file)), to, sink, made.problems);
  EXPECT_TRUE(loss);
  made.loss = *loss;
  return made;
}

TEST(Convert, SamePlatformIsACopy) {
  for (const Sample& sample : testing::stacktrack_samples()) {
    const FormatDescription own = recognise(as_bytes(sample.bytes))->description;
    EXPECT_TRUE(converted(sample.bytes, own).bytes == sample.bytes) << sample.name;
  }
}

TEST(Convert, ByteOrderOnly) {
  const FormatDescription classic = known_layout(Layout::classic, std::endian::little);
  // Unused bytes are not converted: the builder's are not zero.
  std::string expected = testing::samples::classic_stream(std::endian::little).bytes();
  std::string from = testing::samples::classic_stream(std::endian::big).bytes();
  for (std::string* text : {&expected, &from}) std::ranges::replace(*text, '\xA5', '\0');
  EXPECT_TRUE(converted(from, classic).bytes == expected);
  const FormatDescription wide = known_layout(Layout::wide, std::endian::big);
  EXPECT_TRUE(converted(testing::samples::wide_stream(std::endian::little).bytes(), wide).bytes ==
              testing::samples::wide_stream(std::endian::big).bytes());
}

TEST(Convert, EveryResultIsValid) {
  for (const Sample& sample : testing::stacktrack_samples()) {
    if (!sample.valid) continue;
    for (const Layout layout : {Layout::classic, Layout::wide}) {
      const Converted made = converted(sample.bytes, known_layout(layout));
      const Result<StreamFormat> format = recognise(as_bytes(made.bytes));
      if (made.bytes.empty()) continue;  // nothing fitted
      ASSERT_TRUE(format) << sample.name;
      const Verdict verdict = verify_stream(as_bytes(made.bytes), *format);
      EXPECT_TRUE(verdict.valid()) << sample.name << " to " << layout_name(format->description)
                                   << ": " << to_string(*verdict.first);
    }
  }
}

TEST(Convert, WhatDoesNotFitIsCounted) {
  StacktrackBuilder small(true);
  small.process(7).chunk(0, 0, 4096).prologue().process_info(1).lost(3, LostReason::no_space);
  small.at(1).scope(70'000, Style::function, 1, 0, 0, "large").hit(1, 70'000, 1);
  small.at(2).scope(1, Style::function, 1, 0, 0, "small").hit(2, 1, 1).hit(3, 1, 70'000);
  const Converted made = converted(small.bytes(), known_layout(Layout::classic));
  EXPECT_EQ(made.loss.count(Reason::number), 3U);  // two HITs, one SLOC
  EXPECT_EQ(made.loss.count(Reason::kind), 1U);    // LOST
  EXPECT_EQ(made.loss.count(Reason::field), 1U);   // PROCINFO's parent
  EXPECT_EQ(made.bytes.size() % 24, 0U);
  EXPECT_EQ(made.bytes.find("large"), std::string::npos);
  EXPECT_NE(made.bytes.find("small"), std::string::npos);
}

// Exits that only the sequence number told are marked where the target can, and the other way.
TEST(Convert, ExitsBySequence) {
  const std::string unmarked = testing::samples::classic_stream(std::endian::little, false).bytes();
  const Converted wide = converted(unmarked, known_layout(Layout::wide));
  struct Exits {
    size_t exits = 0;
    uint64_t last = 0;
    void record(const Record& record) {
      if (!record.is(RecordKind::hit)) return;
      if (record.is_exit()) {
        ++exits;
        EXPECT_GT(record.sequence(), last);
      }
      last = std::max(last, record.sequence());
    }
    void skipped(const SkippedBytes& skipped) { EXPECT_FALSE(is_damage(skipped.reason)); }
  } exits;
  walk_stream(as_bytes(wide.bytes), *recognise(as_bytes(wide.bytes)), exits);
  EXPECT_EQ(exits.exits, 2U);

  FormatDescription plain = known_layout(Layout::classic, std::endian::big);
  std::erase_if(plain.flags, [](const Flag& flag) { return flag.name == "IS_EXIT"; });
  ASSERT_TRUE(plain.compile());
  std::string expected = testing::samples::classic_stream(std::endian::big, false).bytes();
  std::ranges::replace(expected, '\xA5', '\0');
  EXPECT_TRUE(
      converted(testing::samples::classic_stream(std::endian::little).bytes(), plain).bytes ==
      expected);
}

}  // namespace
}  // namespace telltale::stacktrack
