// What a reader must deliver from truncated streams, flipped bits and wrong fields; and that
// writing reproduces the input.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "bytes/as_bytes.h"
#include "formats/stacktrack/info_assembler.h"
#include "formats/stacktrack/reader.h"
#include "formats/stacktrack/verifier.h"
#include "formats/stacktrack/writer.h"
#include "support/stacktrack_samples.h"

namespace telltale::stacktrack {
namespace {

using testing::Sample;
using testing::stacktrack_samples;

struct Collect {
  std::set<std::pair<uint64_t, std::string>> records;  // offset and bytes
  uint64_t bytes = 0;                                  // of records and of what was skipped
  uint64_t damage = 0;
  void record(const Record& record) {
    bytes += record.raw().size();
    records.emplace(record.offset(), std::string(reinterpret_cast<const char*>(record.raw().data()),
                                                 record.raw().size()));
  }
  void skipped(const SkippedBytes& skipped) {
    bytes += skipped.bytes.size();
    if (is_damage(skipped.reason)) damage += skipped.bytes.size();
  }
};

Collect collected(std::string_view file, const StreamFormat& format) {
  Collect all;
  walk_stream(as_bytes(file), format, all);
  EXPECT_EQ(all.bytes, file.size()) << "every byte is a record's or skipped";
  return all;
}

std::string rewritten(std::string_view file, const StreamFormat& format) {
  std::string out;
  const ByteSink sink = [&](std::string_view block) -> Result<void> {
    out += block;
    return {};
  };
  EXPECT_TRUE(rewrite_stream(as_bytes(file), format, sink));
  return out;
}

TEST(StacktrackDamage, EveryPrefixGivesAllWholeRecordsBeforeTheCut) {
  for (const Sample& sample : stacktrack_samples()) {
    const Result<StreamFormat> format = recognise(as_bytes(sample.bytes));
    ASSERT_TRUE(format) << sample.name << ": " << to_string(format.error());
    const Collect whole = collected(sample.bytes, *format);
    const size_t step = sample.bytes.size() > 2000 ? 7 : 1;
    for (size_t size = format->first_record; size < sample.bytes.size(); size += step) {
      const std::string_view cut = std::string_view(sample.bytes).substr(0, size);
      const Collect seen = collected(cut, *format);
      const auto expected = std::ranges::count_if(
          whole.records, [&](const auto& r) { return r.first + r.second.size() <= size; });
      ASSERT_EQ(seen.records.size(), static_cast<size_t>(expected)) << sample.name << " " << size;
      ASSERT_TRUE(rewritten(cut, *format) == cut) << sample.name << " cut at " << size;
      verify_stream(as_bytes(cut), *format);
      static_cast<void>(recognise(as_bytes(cut)));
    }
  }
}

TEST(StacktrackDamage, OneFlippedBitCostsAtMostItsRecord) {
  for (const Sample& sample : stacktrack_samples()) {
    const StreamFormat format = *recognise(as_bytes(sample.bytes));
    const uint64_t entry = format.description.entry_size;
    const Collect whole = collected(sample.bytes, format);
    // All bits of the first records, then one in every byte.
    for (size_t bit = 0; bit < std::min<size_t>(sample.bytes.size(), 1024) * 8;
         bit += bit < 256 * size_t{8} ? 1 : 7) {
      std::string damaged = sample.bytes;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
      const Collect seen = collected(damaged, format);
      for (const auto& record : whole.records) {
        if (record.first <= bit / 8 && bit / 8 < record.first + entry) continue;
        ASSERT_TRUE(seen.records.contains(record)) << sample.name << " bit " << bit;
      }
      ASSERT_TRUE(rewritten(damaged, format) == damaged) << sample.name << " bit " << bit;
      static_cast<void>(recognise(as_bytes(damaged)));
    }
  }
}

TEST(StacktrackDamage, CheckKnowsWhatIsValid) {
  for (const Sample& sample : stacktrack_samples()) {
    const Verdict verdict =
        verify_stream(as_bytes(sample.bytes), *recognise(as_bytes(sample.bytes)));
    EXPECT_EQ(verdict.valid(), sample.valid)
        << sample.name << (verdict.first ? ": " + to_string(*verdict.first) : "");
    EXPECT_EQ(verdict.valid(), verdict.violations() == 0) << sample.name;
  }
}

// Each rule, broken once.
TEST(StacktrackCheck, NamesWhatIsWrong) {
  using Kind = Violation::Kind;
  using testing::StacktrackBuilder;
  const auto first_of = [](const StacktrackBuilder& b) {
    const StreamFormat format = *recognise(as_bytes(b.bytes()));
    const Verdict verdict = verify_stream(as_bytes(b.bytes()), format);
    EXPECT_EQ(verdict.violations(), 1U);
    return std::pair(verdict.first->kind, verdict.first->offset / 24);
  };
  const auto begun = [] { return StacktrackBuilder(false).prologue().at(1); };
  const auto with_scope = [&] { return begun().scope(1, Style::function, 1, 0, 0, "f"); };
  EXPECT_EQ(first_of(begun().hit(1, 1, 1)), std::pair(Kind::missing_scope, uint64_t{1}));
  EXPECT_EQ(first_of(begun().at(1).hit(1, 1, 1).at(2).scope(1, Style::function, 1, 0, 0, "f")),
            std::pair(Kind::missing_scope, uint64_t{1}));
  // As in a file that was not closed.
  const std::string unordered =
      begun().at(2).hit(1, 1, 1).at(1).scope(1, Style::function, 1, 0, 0, "f").bytes();
  EXPECT_TRUE(verify_stream(as_bytes(unordered), *recognise(as_bytes(unordered))).valid());
  EXPECT_EQ(first_of(begun().scope(1, Style::function, 1, 0, 9, "f")),
            std::pair(Kind::missing_file, uint64_t{1}));
  EXPECT_EQ(first_of(begun().property(1, 0, 0, "a=b")), std::pair(Kind::missing_file, uint64_t{1}));
  EXPECT_EQ(first_of(begun().info("x")), std::pair(Kind::orphan_info, uint64_t{1}));
  EXPECT_EQ(first_of(with_scope().hit(1, 1, 1, kHasInfo)),
            std::pair(Kind::unfinished_info, uint64_t{3}));
  EXPECT_EQ(first_of(with_scope().at(0).hit(1, 1, 1)),
            std::pair(Kind::wrong_sequence, uint64_t{3}));
  EXPECT_EQ(first_of(with_scope().hit(1, 1, 1, 0x8000)),
            std::pair(Kind::unknown_flags, uint64_t{3}));
  EXPECT_EQ(first_of(with_scope().hit(1, 1, 1, kInfoEnd)),
            std::pair(Kind::wrong_flags, uint64_t{3}));
  // Only a HIT can be an exit: the mark on any other record is wrong.
  std::string marked = begun().time_type(1).bytes();
  marked[24 + 1] = static_cast<char>(marked[24 + 1] | kExit >> 8);
  EXPECT_EQ(first_of(StacktrackBuilder(false).raw(marked)),
            std::pair(Kind::wrong_flags, uint64_t{1}));
  EXPECT_EQ(first_of(begun().file(1, 0, 1, "f.cc").at(0).property(1, 0, 0, "a=b")),
            std::pair(Kind::wrong_sequence, uint64_t{3}));
  EXPECT_EQ(first_of(begun().at(0).file(1, 0, 0, "f.cc")),
            std::pair(Kind::wrong_sequence, uint64_t{1}));
  EXPECT_EQ(first_of(begun().at(0).scope(1, Style::function, 1, 0, 0, "f")),
            std::pair(Kind::wrong_sequence, uint64_t{1}));
  EXPECT_EQ(first_of(with_scope().raw("torn")), std::pair(Kind::cut_record, uint64_t{3}));
  EXPECT_EQ(first_of(StacktrackBuilder(false).time_type(1).prologue()),
            std::pair(Kind::no_prologue, uint64_t{0}));
}

TEST(InfoAssembler, PutsTogetherWhatIsInterleaved) {
  const std::string bytes = testing::samples::classic_stream(std::endian::little).bytes();
  const StreamFormat format = *recognise(as_bytes(bytes));
  std::vector<std::pair<std::string, bool>> texts;
  struct Visitor {
    InfoAssembler assembler;
    std::vector<std::pair<std::string, bool>>& texts;
    void record(const Record& record) {
      assembler.feed(
          record,
          [&](const Record&, std::string_view text, InfoAssembler::Ending ending, bool adjoining) {
            if (ending == InfoAssembler::Ending::whole) texts.emplace_back(text, adjoining);
          },
          [](const Record&) { FAIL(); });
    }
    void skipped(const SkippedBytes&) { FAIL(); }
  } visitor{{}, texts};
  walk_stream(as_bytes(bytes), format, visitor);
  const std::vector<std::pair<std::string, bool>> expected = {
      {"src/a directory/file_of_a_long_name.cpp", true},
      {"owner=<nobody> & \"co\"", true},
      {"outer(int)", true},
      {"sixteen letters.", true},
      {"name", true},
      {"step", true},
      {"a value in pieces \x1b[31m<&>\"'", false}};
  EXPECT_EQ(texts, expected);
}

TEST(Recognise, LayoutAndOrder) {
  for (const Sample& sample : stacktrack_samples()) {
    const Result<StreamFormat> format = recognise(as_bytes(sample.bytes));
    ASSERT_TRUE(format) << sample.name;
    const bool wide = sample.name.starts_with("wide") || sample.name.starts_with("ring");
    EXPECT_EQ(layout_name(format->description), wide ? "wide" : "classic") << sample.name;
    EXPECT_EQ(format->description.order == std::endian::big, sample.name.ends_with("_be.tlg"))
        << sample.name;
    EXPECT_EQ(format->has_prologue, sample.name != "no_prologue.tlg") << sample.name;
    EXPECT_EQ(format->first_record, sample.name == "cut_head.tlg" ? 15U : 0U) << sample.name;
  }
  for (const std::string_view other : {"", "x", "#!/bin/sh\necho a script of some length\n"}) {
    EXPECT_FALSE(looks_like_records(as_bytes(other)));
    EXPECT_FALSE(recognise(as_bytes(other)));
  }
  // A PROLOGUE of an unknown layout.
  std::string foreign = testing::StacktrackBuilder(false).prologue().bytes();
  foreign[13] = 0x77;
  EXPECT_TRUE(looks_like_records(as_bytes(foreign)));
  EXPECT_EQ(recognise(as_bytes(foreign)).error().cause, Error::Cause::unsupported_version);
}

}  // namespace
}  // namespace telltale::stacktrack
