#include "formats/xray/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "formats/xray/encode.h"
#include "formats/xray/fdr_frames.h"
#include "formats/xray/timed_events.h"
#include "formats/xray/verifier.h"
#include "formats/xray/yaml_trace.h"
#include "support/golden.h"
#include "support/xray_samples.h"

namespace telltale::xray {
namespace {

using testing::BasicBuilder;
using testing::FdrBuilder;
using ::testing::HasSubstr;
using Reason = ConversionLoss::Reason;

struct Converted {
  std::string bytes;
  ConversionLoss loss;
  ProblemLog problems;
};

Converted converted(std::string_view file, std::string_view to,
                    std::optional<std::endian> order = std::nullopt) {
  Converted result;
  std::optional<ConvertTarget> target = parse_convert_target(to);
  EXPECT_TRUE(target) << to;
  target->order = order;
  const ByteSink sink = [&](std::string_view block) -> Result<void> {
    result.bytes += block;
    return {};
  };
  const Result<ConversionLoss> loss =
      convert_trace(as_bytes(file), "f", *target, sink, result.problems);
  EXPECT_TRUE(loss) << to_string(loss.error());
  if (loss) result.loss = *loss;
  return result;
}

// The records of a trace by time, one per line, as in YAML.
std::vector<std::string> records_of(std::string_view file) {
  std::vector<std::string> lines;
  std::istringstream text(converted(file, "yaml").bytes);
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("  - ")) lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> without(std::vector<std::string> lines, const std::string& pattern,
                                 const std::string& replacement = "") {
  const std::regex expression(pattern);
  for (std::string& line : lines) line = std::regex_replace(line, expression, replacement);
  return lines;
}
std::vector<std::string> dropping(std::vector<std::string> lines, std::string_view part) {
  std::erase_if(lines,
                [&](const std::string& line) { return line.find(part) != std::string::npos; });
  return lines;
}

TEST(ConvertTrace, SameVersionIsACopy) {
  for (const testing::Sample& sample : testing::all_samples()) {
    const Result<FileHeader> header = read_file_header(as_bytes(sample.bytes));
    const std::string to =
        (header->type == LogType::fdr ? "fdr" : "basic") + std::to_string(header->version);
    const Converted copy = converted(sample.bytes, to);
    EXPECT_TRUE(copy.bytes == sample.bytes) << sample.name;
    EXPECT_TRUE(copy.loss.none()) << sample.name;
  }
}

// From every FDR version to every other, in both byte orders: valid, and the same events at the
// same times.
TEST(ConvertTrace, FdrToEveryFdrVersion) {
  for (const testing::Sample& sample : testing::valid_samples()) {
    if (!sample.name.ends_with(".fdr")) continue;
    const uint16_t from = read_file_header(as_bytes(sample.bytes))->version;
    for (uint16_t version = 1; version <= 5; ++version) {
      for (const std::endian order : {std::endian::little, std::endian::big}) {
        SCOPED_TRACE(sample.name + " to version " + std::to_string(version));
        const Converted result = converted(sample.bytes, "fdr" + std::to_string(version), order);
        const Result<Verdict> verdict = verify_trace(as_bytes(result.bytes));
        ASSERT_TRUE(verdict) << to_string(verdict.error());
        EXPECT_TRUE(verdict->valid()) << to_string(*verdict->first);
        EXPECT_EQ(verdict->header.order, order);
        EXPECT_EQ(result.problems.count(), 0U);

        std::vector<std::string> expected = records_of(sample.bytes);
        std::vector<std::string> actual = records_of(result.bytes);
        if (version < 5) {
          const auto typed =
              static_cast<uint64_t>(std::ranges::count_if(expected, [](const auto& line) {
                return line.find("typed-event") != std::string::npos;
              }));
          EXPECT_EQ(result.loss.count(Reason::typed_event), typed);
          expected = dropping(std::move(expected), "typed-event");
        }
        if (version < 3 || from < 3) {
          expected = without(std::move(expected), " process: [0-9]+,");
          actual = without(std::move(actual), " process: [0-9]+,");
        }
        EXPECT_EQ(result.loss.count(Reason::process_id) != 0,
                  version < 3 && from >= 3 && !expected.empty());
        EXPECT_EQ(actual, expected);
      }
    }
  }
}

TEST(ConvertTrace, FdrToBasicAndBack) {
  for (const testing::Sample& sample : testing::valid_samples()) {
    if (!sample.name.ends_with(".fdr")) continue;
    const bool with_pid = read_file_header(as_bytes(sample.bytes))->version >= 3;
    for (uint16_t version = 1; version <= 3; ++version) {
      SCOPED_TRACE(sample.name + " to basic " + std::to_string(version));
      const Converted basic = converted(sample.bytes, "basic" + std::to_string(version));
      const Result<Verdict> verdict = verify_trace(as_bytes(basic.bytes));
      ASSERT_TRUE(verdict);
      EXPECT_TRUE(verdict->valid()) << to_string(*verdict->first);

      // What remains: calls, one argument each, 8 bits of the CPU.
      std::vector<std::string> expected =
          dropping(dropping(records_of(sample.bytes), "custom-event"), "typed-event");
      expected = without(without(std::move(expected), ", cpu: [0-9]+"),
                         "args: \\[ ([0-9]+), .* \\]", "args: [ $1 ]");
      if (version == 1) expected = without(std::move(expected), "tail-exit", "exit");
      if (version < 3) expected = without(std::move(expected), " process: [0-9]+,");
      for (const std::string& file : {basic.bytes, converted(basic.bytes, "fdr5").bytes,
                                      converted(basic.bytes, "fdr1").bytes}) {
        std::vector<std::string> actual = without(records_of(file), ", cpu: [0-9]+");
        if (&file != &basic.bytes && with_pid) {
          EXPECT_EQ(without(actual, " process: [0-9]+,"), without(expected, " process: [0-9]+,"));
        } else {
          EXPECT_EQ(actual, expected);
        }
        EXPECT_TRUE(verify_trace(as_bytes(file))->valid());
      }
    }
  }
}

TEST(ConvertTrace, YamlAndBack) {
  for (const testing::Sample& sample : testing::valid_samples()) {
    const Result<FileHeader> header = read_file_header(as_bytes(sample.bytes));
    const std::string to =
        (header->type == LogType::fdr ? "fdr" : "basic") + std::to_string(header->version);
    const std::string yaml = converted(sample.bytes, "yaml").bytes;
    EXPECT_TRUE(testing::golden("xray/" + sample.name + ".yaml", yaml) == yaml) << sample.name;
    const Converted again = converted(yaml, to);
    EXPECT_EQ(again.problems.count(), 0U) << sample.name;
    EXPECT_EQ(converted(again.bytes, "yaml").bytes, yaml) << sample.name;
    EXPECT_TRUE(verify_trace(as_bytes(again.bytes))->valid()) << sample.name;
    EXPECT_EQ(converted(yaml, "yaml").bytes, yaml) << sample.name;
  }
}

// The recorder's TSCWrap has the time that the thread waited: every FDR version has room for it.
TEST(ConvertTrace, KeepsWaitsInFdrAndCountsThemElsewhere) {
  FdrBuilder builder(5);
  builder.buffer_size(4096).buffer({.tid = 7, .pid = 9, .tsc = 100}).enter(1, 10);
  std::string wrap;
  encode_fdr_record(TscWrap{900}, {}, wrap);
  wrap.replace(kWaitOffset, 4, std::string("\x03\x02\x01\x00", 4));
  builder.raw(wrap).exit(1, 0);
  std::string file = builder.bytes();
  file.replace(kRecorderMarkOffset, 3, {'T', 'T', static_cast<char>(kRecorderWaits)});
  for (const char* version : {"fdr1", "fdr2", "fdr3", "fdr4", "fdr5"}) {
    for (const std::endian order : {std::endian::little, std::endian::big}) {
      const Converted there = converted(file, version, order);
      EXPECT_EQ(there.loss.count(Reason::wait), 0U) << version;
      std::vector<uint64_t> waits;
      const Result<FileHeader> header = read_file_header(as_bytes(there.bytes));
      ASSERT_TRUE(header) << version;
      const FdrFrames frames = frame_fdr_file(as_bytes(there.bytes), *header, "f");
      ASSERT_EQ(frames.buffers.size(), 1U) << version;
      FdrBufferEvents events(as_bytes(there.bytes), *header, frames.buffers[0]);
      for (TimedEvent event; events.next(event);) {
        if (event.kind == TimedEvent::Kind::wrap) waits.push_back(event.value);
      }
      EXPECT_EQ(waits, (std::vector<uint64_t>{0x010203})) << version;
    }
  }
  EXPECT_EQ(converted(file, "yaml").loss.count(Reason::wait), 1U);
  EXPECT_EQ(converted(file, "basic3").loss.count(Reason::wait), 1U);
}

TEST(ConvertTrace, CountsEveryLoss) {
  const std::string rich = FdrBuilder(5)
                               .buffer({.tid = 1, .cpu = 300, .tsc = 10})
                               .enter_args(1, 0)
                               .argument(1)
                               .argument(2)
                               .argument(3)
                               .custom("c", 1)
                               .typed(1, "t", 1)
                               .tail_exit(1, 1)
                               .raw(std::string(16, '\x7F'))
                               .bare_buffer()
                               .record(NewBuffer{2})
                               .bytes();
  const ConversionLoss basic = converted(rich, "basic1").loss;
  EXPECT_EQ(basic.count(Reason::further_argument), 2U);
  EXPECT_EQ(basic.count(Reason::custom_event), 1U);
  EXPECT_EQ(basic.count(Reason::typed_event), 1U);
  EXPECT_EQ(basic.count(Reason::tail_exit), 1U);
  EXPECT_EQ(basic.count(Reason::process_id), 2U);
  EXPECT_EQ(basic.count(Reason::cpu_number), 2U);
  EXPECT_EQ(basic.count(Reason::wall_clock), 1U);
  EXPECT_EQ(basic.count(Reason::damaged_bytes), 16U);
  EXPECT_EQ(basic.count(Reason::untimed_buffer), 1U);

  const std::string odd = BasicBuilder(3)
                              .thread(1)
                              .enter(0x10000001, 5)
                              .argument(1)
                              .enter_args(0x10000002, 6)
                              .argument(2)
                              .enter_args(3, 7)
                              .argument_of(4, 8)
                              .bytes();
  const ConversionLoss fdr = converted(odd, "fdr2").loss;
  EXPECT_EQ(fdr.count(Reason::function_id), 2U);
  EXPECT_EQ(fdr.count(Reason::orphan_argument), 2U);
  EXPECT_EQ(fdr.count(Reason::process_id), 1U);

  const std::string moved =
      FdrBuilder(4).buffer({.cpu = 1, .tsc = 10}).record(CustomEvent{0, 20, 0, 2, {}}).bytes();
  EXPECT_EQ(converted(moved, "fdr5").loss.count(Reason::event_cpu), 1U);
  for (size_t i = 0; i < ConversionLoss::kReasons; ++i) {
    EXPECT_FALSE(loss_key(static_cast<Reason>(i)).empty());
    EXPECT_THAT(std::string(loss_text(static_cast<Reason>(i))), HasSubstr(" "));
  }
}

TEST(ConvertTrace, Version1BuffersHoldLargeEventsAndAreSplitWhenFull) {
  FdrBuilder file(5);
  file.buffer({.tsc = 10});
  for (int i = 0; i < 5000; ++i) file.enter(7, 1).exit(7, 1);
  file.custom(std::string(40000, 'x'), 1);
  const Converted v1 = converted(file.bytes(), "fdr1");
  EXPECT_TRUE(v1.loss.count(Reason::large_payload) == 0);
  EXPECT_TRUE(verify_trace(as_bytes(v1.bytes))->valid());
  EXPECT_EQ(without(records_of(v1.bytes), " process: [0-9]+,"),
            without(records_of(file.bytes()), " process: [0-9]+,"));
  EXPECT_EQ(
      (v1.bytes.size() - kFileHeaderBytes) % read_file_header(as_bytes(v1.bytes))->buffer_size, 0U);
  EXPECT_GT(v1.bytes.size(), 2 * read_file_header(as_bytes(v1.bytes))->buffer_size);
}

// Times beyond any delta: forwards, backwards, and past the middle of the number range.
TEST(ConvertTrace, TimesSurviveExactly) {
  BasicBuilder file(3);
  file.thread(1);
  for (const uint64_t tsc : {uint64_t{5}, uint64_t{1} << 33, uint64_t{7}, ~uint64_t{0}, uint64_t{0},
                             uint64_t{1} << 63}) {
    file.enter(1, tsc).exit(1, tsc);
  }
  for (const char* to : {"fdr1", "fdr2", "fdr3", "fdr4", "fdr5"}) {
    const Converted fdr = converted(file.bytes(), to);
    EXPECT_EQ(without(records_of(fdr.bytes), " process: [0-9]+,"),
              without(records_of(file.bytes()), " process: [0-9]+,"))
        << to;
  }
}

TEST(ConvertTrace, KnowsItsTargets) {
  EXPECT_EQ(parse_convert_target("fdr3")->version, 3);
  EXPECT_EQ(parse_convert_target("basic")->version, 0);
  for (const char* text :
       {"fdr6", "fdr0", "basic4", "fdr5x", "yaml1", "", "perfetto", "fdr65541"}) {
    EXPECT_FALSE(parse_convert_target(text)) << text;
  }
}

TEST(YamlTrace, PlacesWhatItCannotUse) {
  const std::string head =
      "---\nheader:\n  version: 5\n  type: 1\n  cycle-frequency: 10\nrecords:\n";
  const std::string good =
      "  - { type: 0, func-id: 1, cpu: 1, thread: 7, kind: function-enter, tsc: 1000 }\n";
  const auto read = [&](const std::string& text, ProblemLog& problems) {
    return read_yaml_trace(as_bytes(text), "f", problems);
  };
  ProblemLog problems;
  auto trace = read(head + good + "  - { type: 0, func-id: 1 }\n  - 17\n" + good, problems);
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->records.size(), 2U);
  ASSERT_EQ(problems.count(), 2U);
  EXPECT_EQ(problems.kept()[0].offset, head.size() + good.size() + 4);

  ProblemLog umlauts;
  const std::string named =
      "  - { type: 0, func-id: 1, function: 'gr\xC3\xB6\xC3\x9F\x65', cpu: 1, thread: 7, "
      "kind: function-enter, tsc: 1000, new-key: [ 1, { a: b } ] }\n";
  trace = read(head + named + good + "  - { type: 0, cpu: -1 }\n", umlauts);
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->names[trace->records[0].name], "gr\xC3\xB6\xC3\x9F\x65");
  ASSERT_EQ(umlauts.count(), 2U);
  EXPECT_EQ(umlauts.kept()[1].offset, head.size() + named.size() + good.size() + 4);

  ProblemLog torn;
  trace = read(head + good + good.substr(0, 30), torn);
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->records.size(), 1U);
  EXPECT_TRUE(torn.damaged());

  ProblemLog none;
  EXPECT_EQ(read("---\nheader: { version: 6, type: 1 }\n", none).error().cause,
            Error::Cause::unsupported_version);
  EXPECT_EQ(read("---\nheader: { type: 1 }\n", none).error().cause, Error::Cause::bad_field);
  EXPECT_EQ(read("---\nrecords: []\n", none).error().cause, Error::Cause::bad_magic);
}

TEST(YamlWriter, NamesCannotEndTheirString) {
  const std::vector<std::string> names = {"a, kind: function-exit, tsc: 1 }\n  - { type: 0",
                                          "it's",
                                          "\"",
                                          "\\",
                                          "~",
                                          "true",
                                          "17",
                                          " x ",
                                          "",
                                          "- a",
                                          "a #b",
                                          "a: b",
                                          "&a",
                                          "*a",
                                          "!!binary x",
                                          "\xff\xfe",
                                          "\x01\x7f",
                                          "gr\xC3\xB6\xC3\x9F\x65",
                                          "\xE2\x80\xAE",
                                          "\xF0\x9F\x98\x80",
                                          "0x10",
                                          "1e5",
                                          "null",
                                          "%a",
                                          "@a",
                                          "`a",
                                          "a\tb",
                                          "operator<< <int, char>(std::vector<int>&&)"};
  FdrBuilder builder(5);
  builder.buffer({.tsc = 1});
  for (size_t i = 0; i < names.size(); ++i)
    builder.enter(static_cast<uint32_t>(i), 1).custom(names[i], 1);
  ConvertTarget target = *parse_convert_target("yaml");
  target.function_name = [&](uint32_t id) { return names[id]; };
  std::string yaml;
  ProblemLog problems;
  const std::string bytes = builder.bytes();
  ASSERT_TRUE(convert_trace(
      as_bytes(bytes), "f", target,
      [&](std::string_view block) -> Result<void> {
        yaml += block;
        return {};
      },
      problems));
  const auto trace = read_yaml_trace(as_bytes(yaml), "f", problems);
  ASSERT_TRUE(trace) << yaml;
  EXPECT_EQ(problems.count(), 0U) << yaml;
  ASSERT_EQ(trace->records.size(), 2 * names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    const Bytes data = trace->data_of(trace->records[2 * i + 1]);
    EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(data.data()), data.size()), names[i]);
    EXPECT_EQ(trace->names[trace->records[2 * i].name], names[i]);
  }
}

}  // namespace
}  // namespace telltale::xray
