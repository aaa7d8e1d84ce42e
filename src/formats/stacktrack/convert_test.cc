#include "formats/stacktrack/convert.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bytes/as_bytes.h"
#include "formats/stacktrack/exit_rule.h"
#include "formats/stacktrack/info_assembler.h"
#include "formats/stacktrack/reader.h"
#include "formats/stacktrack/ring_filter.h"
#include "formats/stacktrack/verifier.h"
#include "support/stacktrack_samples.h"

namespace telltale::stacktrack {
namespace {

using Reason = ConversionLoss::Reason;
using testing::Sample;
using testing::StacktrackBuilder;

struct Converted {
  std::string bytes;
  ConversionLoss loss;
  ProblemLog problems;
  std::string error;  // of the conversion; empty: none
};

Converted converted(std::string_view file, const FormatDescription& to) {
  Converted made;
  const ByteSink sink = [&](std::string_view block) -> Result<void> {
    made.bytes += block;
    return {};
  };
  const Result<ConversionLoss> loss =
      convert_stream(as_bytes(file), "f", *recognise(as_bytes(file)), to, sink, made.problems);
  if (loss) {
    made.loss = *loss;
  } else {
    made.error = loss.error().detail;
  }
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
      if (made.bytes.empty()) {
        EXPECT_TRUE(made.error.starts_with("none of the ")) << sample.name << ": " << made.error;
        continue;
      }
      EXPECT_EQ(made.error, "") << sample.name;
      const Result<StreamFormat> format = recognise(as_bytes(made.bytes));
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

// Exits that only the sequence number identifies are marked if the target can, and vice versa.
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

// The same from the wide layout, whose records are sorted.
TEST(Convert, MarkedExitsGetTheNumbersOfTheirEntries) {
  FormatDescription plain = known_layout(Layout::classic);
  std::erase_if(plain.flags, [](const Flag& flag) { return flag.name == "IS_EXIT"; });
  ASSERT_TRUE(plain.compile());
  StacktrackBuilder wide(true);
  wide.process(7).chunk(0, 0, 4096).prologue().process_info(1);
  wide.at(1)
      .scope(1, Style::function, 1, 0, 0, "outer")
      .at(2)
      .scope(2, Style::function, 1, 0, 0, "inner");
  wide.at(3).hit(1, 1, 5).at(4).hit(2, 2, 5).at(5).exit(3, 2, 5).at(6).exit(4, 1, 5);
  wide.at(7).exit(5, 2, 5);  // without an entry
  const Converted made = converted(wide.bytes(), plain);
  EXPECT_EQ(made.loss.count(Reason::exit), 1U);
  struct Hits {
    ExitRule rule;
    std::vector<std::pair<uint64_t, bool>> found;  // scope, is an exit
    void record(const Record& record) {
      const bool exit = rule.is_exit(record);
      if (record.is(RecordKind::hit))
        found.emplace_back(record.number(RecordKind::hit, Role::scope_index), exit);
    }
    void skipped(const SkippedBytes& skipped) { EXPECT_FALSE(is_damage(skipped.reason)); }
  } hits;
  walk_stream(as_bytes(made.bytes), {plain, 0, false}, hits);
  EXPECT_EQ(hits.found,
            (std::vector<std::pair<uint64_t, bool>>{{1, false}, {2, false}, {2, true}, {1, true}}));
}

// The contents of a stream for a reader.
struct Seen {
  std::vector<std::pair<uint64_t, uint64_t>> hits;  // scope and exit, by sequence
  std::vector<std::string> texts;
  size_t damage = 0;

  void record(const Record& record) {
    if (!ring.keeps(record)) return;
    if (record.is(RecordKind::hit)) {
      by_sequence.emplace(
          std::pair(record.sequence(), record.stream()),
          std::pair(record.number(RecordKind::hit, Role::scope_index), uint64_t{record.is_exit()}));
    }
    const auto whole = [this](const Record& head, std::string_view text,
                              InfoAssembler::Ending ending, bool) {
      EXPECT_NE(ending, InfoAssembler::Ending::cut) << head.offset();
      if (ending == InfoAssembler::Ending::whole) texts.emplace_back(text);
    };
    assembler.feed(record, whole, [this](const Record&) { ++damage; });
  }
  void skipped(const SkippedBytes& skipped) { damage += is_damage(skipped.reason) ? 1 : 0; }
  void finish() {
    for (const auto& [key, hit] : by_sequence) hits.push_back(hit);
    std::ranges::sort(texts);
  }

  RingFilter ring;
  InfoAssembler assembler;
  std::map<std::pair<uint64_t, uint64_t>, std::pair<uint64_t, uint64_t>> by_sequence;
};
Seen seen_in(std::string_view file, const StreamFormat& format) {
  Seen seen;
  walk_stream(as_bytes(file), format, seen);
  seen.finish();
  return seen;
}

// Wide's records in entries of another size, with `text` bytes in an INFO record.
FormatDescription described(uint32_t entry_size, uint32_t text) {
  FormatDescription made = known_layout(Layout::wide);
  made.entry_size = entry_size;
  made.payload_size = entry_size - made.payload_offset;
  for (TypeLayout& type : made.types) {
    if (type.tag != "INFO") continue;
    type.size = text;
    type.members.front().size = text;
  }
  EXPECT_TRUE(made.compile());
  return made;
}

// Enough calls for several chunks, each call with a different text.
std::string many_calls(bool wide) {
  constexpr uint32_t kCalls = 310;
  constexpr uint32_t kRing = 2 * wide::kPageBytes;
  StacktrackBuilder b(wide);
  b.process(7);
  if (wide) b.chunk(0, 0, wide::kPageBytes);
  b.prologue(wide ? kRing : 0).process_info(1).time_type(1'000'000'000).time_info(5, 6);
  b.at(1).scope(1, Style::function, 1, 0, 0, "a function of a long name()");
  b.at(2).scope(2, Style::value, 1, 0, 0, "value");
  uint64_t next = 3;
  for (uint32_t i = 0; i < kCalls; ++i) {
    if (wide && i % 20 == 0) b.fill(kRing).chunk(9, 1 + i % 2, kRing);
    b.at(next).hit(next * 10, 1, 9);
    ++next;
    b.at(next).value(next * 10, 2, 9, "text number " + std::to_string(i) + " of a call");
    b.at(next + 1).exit(next * 10 + 5, 1, 9);
    next += 2;
  }
  if (wide) b.fill(kRing);
  return b.bytes();
}

TEST(Convert, EntriesOfAnySizeKeepEveryCall) {
  for (const bool wide : {false, true}) {
    const std::string file = many_calls(wide);
    const Seen source = seen_in(file, *recognise(as_bytes(file)));
    ASSERT_EQ(source.hits.size(), 3U * 310U);
    ASSERT_EQ(source.damage, 0U);
    for (const auto& [entry_size, text] : {std::pair(32U, 16U),
                                           {32U, 12U},
                                           {40U, 24U},
                                           {48U, 16U},
                                           {48U, 32U},
                                           {64U, 20U},
                                           {255U, 7U},
                                           {5000U, 16U}}) {
      const std::string name = "from " + std::string(wide ? "wide" : "classic") + " to " +
                               std::to_string(entry_size) + "/" + std::to_string(text);
      const FormatDescription target = described(entry_size, text);
      const Converted made = converted(file, target);
      EXPECT_EQ(made.problems.count(), 0U) << name;
      for (size_t i = 0; i < ConversionLoss::kReasons; ++i)
        EXPECT_EQ(made.loss.count(static_cast<Reason>(i)), 0U) << name << ": " << i;
      const StreamFormat format = recognise(as_bytes(made.bytes), target);
      EXPECT_TRUE(format.has_prologue) << name;
      const Seen result = seen_in(made.bytes, format);
      EXPECT_EQ(result.damage, 0U) << name;
      EXPECT_TRUE(result.hits == source.hits) << name << ": " << result.hits.size();
      EXPECT_TRUE(result.texts == source.texts) << name << ": " << result.texts.size();
      const Verdict verdict = verify_stream(as_bytes(made.bytes), format);
      EXPECT_TRUE(verdict.valid()) << name << ": " << to_string(*verdict.first);
    }
  }
}

}  // namespace
}  // namespace telltale::stacktrack
