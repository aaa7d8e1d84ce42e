#include "import/xray/xray_recording.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "import/id_names.h"
#include "import/xray/event_words.h"
#include "import/xray/xray_yaml_recording.h"
#include "model/waiting.h"
#include "support/xray_builder.h"
#include "support/xray_trace_maker.h"

namespace telltale {
namespace {

// Sums all events, in order.
struct Digest : IgnoreEvents {
  uint64_t value = 14695981039346656037U;
  uint64_t events = 0;
  void add(uint64_t what) { value = (value ^ what) * 1099511628211U; }
  void enter(Ticks time, FunctionId function) {
    add(time);
    add(to_number(function));
    ++events;
  }
  void leave(Ticks time, FunctionId function, LeaveKind) {
    add(~time);
    add(to_number(function));
    ++events;
  }
};

Digest play_all(const XrayRecording& recording) {
  Digest digest;
  ProblemLog problems;
  for (size_t stream = 0; stream < recording.streams().size(); ++stream) {
    for (size_t shard = 0; shard < recording.streams()[stream].shards; ++shard) {
      recording.play(stream, shard, digest, problems);
    }
  }
  EXPECT_EQ(problems.count(), 0U);
  return digest;
}

XrayRecording open(const std::string& bytes) {
  std::vector<InputFile> inputs;
  inputs.push_back(InputFile::from_memory("trace", std::as_bytes(std::span(bytes))));
  Result<XrayRecording> recording =
      XrayRecording::open(std::move(inputs), std::make_shared<IdNames>());
  EXPECT_TRUE(recording) << to_string(recording.error());
  return std::move(*recording);
}

// Collects every emitted time, in order.
struct EveryTime : IgnoreEvents {
  std::vector<Ticks> calls;
  std::vector<Ticks> all;
  void enter(Ticks time, FunctionId) { calls.push_back(time), all.push_back(time); }
  void leave(Ticks time, FunctionId, LeaveKind) { calls.push_back(time), all.push_back(time); }
  void instant(const InstantEvent& event) { all.push_back(event.time); }
};

// A recording by telltale's recorder with these flags: function 1 lasts from 110 to `until`, and
// TSCWrap says that it waited `us` microseconds of that. A tick is 10 ns.
std::string events_with_wait(uint64_t until, uint32_t us, uint8_t flags = xray::kRecorderWaits) {
  testing::FdrBuilder builder(5);
  builder.frequency(100'000'000).buffer_size(4096).buffer({.tid = 7, .pid = 9, .tsc = 100});
  builder.enter(1, 10);
  std::string wrap;
  xray::encode_fdr_record(xray::TscWrap{until}, {}, wrap);
  wrap.replace(xray::kWaitOffset, sizeof(us), reinterpret_cast<const char*>(&us), sizeof(us));
  builder.raw(wrap).exit(1, 0);
  std::string file = builder.bytes();
  file.replace(xray::kRecorderMarkOffset, 3, {'T', 'T', static_cast<char>(flags)});
  const XrayRecording recording = open(file);
  EventWords events;
  ProblemLog problems;
  recording.play(0, 0, events, problems);
  EXPECT_EQ(problems.count(), 0U);
  EXPECT_EQ(recording.functions().describe(FunctionId{1}).name, "#1");
  if (flags == xray::kRecorderWaits) {
    EXPECT_EQ(recording.functions().describe(kWaiting).name, "(waiting)");
  }
  return events.words;
}

TEST(XrayRecording, AWaitIsACallAtTheEndOfItsGap) {
  EXPECT_EQ(events_with_wait(1110, 3), "110+1 810+w 1110-w 1110-1");
  EXPECT_EQ(events_with_wait(1110, 10), "110+1 110+w 1110-w 1110-1");
  EXPECT_EQ(events_with_wait(1110, 11), "110+1 110+w 1110-w 1110-1") << "no longer than the gap";
  EXPECT_EQ(events_with_wait(1110, UINT32_MAX), "110+1 110+w 1110-w 1110-1");
  EXPECT_EQ(events_with_wait(1110, 0), "110+1 1110-1");
  EXPECT_EQ(events_with_wait(110, 5), "110+1 110-1") << "no gap";
}

TEST(XrayRecording, OtherWritersSayNothingAboutWaits) {
  EXPECT_EQ(events_with_wait(1110, 3, 0), "110+1 1110-1");
}

// Of two files of thread 7 in which `flags` mark the second one: functions 1 and 2 are open at the
// end of the first one, and the second one begins with an exit of 2.
std::string events_of_two_files(uint8_t flags) {
  testing::FdrBuilder first(5);
  first.buffer_size(4096).buffer({.tid = 7, .pid = 9, .tsc = 100});
  first.enter(1, 10).enter(2, 10);
  testing::FdrBuilder second(5);
  second.buffer_size(4096).buffer({.tid = 7, .pid = 9, .tsc = 1000});
  second.exit(2, 10).enter(3, 10).exit(3, 10);
  const std::string before = first.bytes();
  std::string after = second.bytes();
  after.replace(xray::kRecorderMarkOffset, 3, {'T', 'T', static_cast<char>(flags)});
  std::vector<InputFile> files;
  files.push_back(InputFile::from_memory("after", std::as_bytes(std::span(after))));
  files.push_back(InputFile::from_memory("before", std::as_bytes(std::span(before))));
  const Result<XrayRecording> recording =
      XrayRecording::open(std::move(files), std::make_shared<IdNames>());
  EXPECT_TRUE(recording);
  EventWords events;
  ProblemLog problems;
  for (size_t stream = 0; stream < recording->streams().size(); ++stream) {
    EXPECT_EQ(recording->streams()[stream].thread, (ThreadKey{9, 7}));
    events.words += stream == 0 ? "" : " |";
    recording->play(stream, 0, events, problems);
  }
  EXPECT_EQ(recording->info(1).threads, (std::vector<ThreadKey>{{9, 7}}));
  return events.words;
}

TEST(XrayRecording, CallsThatWereOpenAtAStopDoNotContinueInTheNextFile) {
  EXPECT_EQ(events_of_two_files(xray::kRecorderResumed), "110+1 120+2 | 1010-2 1020+3 1030-3");
  EXPECT_EQ(events_of_two_files(0), "110+1 120+2 1010-2 1020+3 1030-3");
}

// Before version 5 a custom event has its own time. It is emitted at that time, clamped between its
// neighbours, and moves none of them.
TEST(XrayRecording, ACustomEventsOwnTimeMovesNothing) {
  for (uint16_t version = 1; version <= 4; ++version) {
    testing::FdrBuilder builder(version);
    builder.buffer_size(4096).buffer({.tid = 7, .pid = 9, .tsc = 100});
    builder.enter(1, 5).custom("late", 1000).custom("later", 2000).enter(2, 5).custom("true", 3);
    builder.custom("early", -50).exit(2, 5).custom("last", 1'000'000).exit(1, 5);
    builder.custom("behind", 7);
    builder.buffer({.tid = 7, .pid = 9, .tsc = 121}).enter(3, 0);
    const std::string bytes = builder.bytes();
    const XrayRecording recording = open(bytes);
    EveryTime times;
    ProblemLog problems;
    recording.play(0, 0, times, problems);
    EXPECT_EQ(times.calls, (std::vector<Ticks>{105, 110, 115, 120, 121})) << version;
    EXPECT_EQ(times.all,
              (std::vector<Ticks>{105, 110, 110, 110, 113, 113, 115, 120, 120, 121, 121}))
        << version;
  }
}

TEST(XrayRecording, CutsHugeBuffersWithoutChangingWhatTheySay) {
  bench::TraceShape shape;
  shape.records = 6'000'000;  // 48 MB
  const std::string small_buffers = bench::XrayTraceMaker(shape).make();
  // The same records in one buffer, without the preambles of all buffers but the first.
  std::string one_buffer = small_buffers.substr(0, 32 + 5 * 16);
  constexpr size_t kRecords = 375'000;
  for (size_t buffer = 0; buffer < 16; ++buffer) {
    const size_t start = 32 + buffer * (5 * 16 + kRecords * 8) + 5 * 16;
    one_buffer.append(small_buffers, start, kRecords * 8);
  }
  const uint64_t extents = one_buffer.size() - 32 - 16;
  std::memcpy(one_buffer.data() + 33, &extents, 8);

  const XrayRecording in_one = open(one_buffer);
  const XrayRecording in_sixteen = open(small_buffers);
  ASSERT_EQ(in_one.streams().size(), 1U);
  EXPECT_GT(in_one.streams()[0].shards, 8U);
  EXPECT_LT(in_one.shard_bytes(0, 0), uint64_t{5} << 20);
  const Digest one = play_all(in_one);
  const Digest sixteen = play_all(in_sixteen);
  EXPECT_EQ(one.events, shape.records);
  EXPECT_EQ(one.value, sixteen.value);
  EXPECT_EQ(in_one.info(2).records, shape.records + 5);
}

// Before version 5 a custom event has its own time, which the deltas around it ignore.
TEST(XrayRecording, ACustomEventLaterThanWhatFollowsIsToldAtItsTime) {
  struct Times : IgnoreEvents {
    std::vector<Ticks> emitted;
    void enter(Ticks time, FunctionId) { emitted.push_back(time); }
    void leave(Ticks time, FunctionId, LeaveKind) { emitted.push_back(time); }
    void instant(const InstantEvent& event) { emitted.push_back(event.time); }
  };
  const auto times = [](uint16_t version) {
    const std::string file = testing::FdrBuilder(version)
                                 .buffer({.tid = 1, .tsc = 1000})
                                 .enter(1, 0)
                                 .custom("late", 100)
                                 .exit(1, 10)
                                 .enter(2, 200)
                                 .bytes();
    Times sink;
    ProblemLog problems;
    open(file).play(0, 0, sink, problems);
    return sink.emitted;
  };
  EXPECT_EQ(times(4), (std::vector<Ticks>{1000, 1010, 1010, 1210}));
  EXPECT_EQ(times(5), (std::vector<Ticks>{1000, 1100, 1110, 1310}));
}

// Since version 5 an event has a delta, which may be negative: time is clamped until it has caught
// up.
TEST(XrayRecording, NegativeDeltasOfEventsDoNotTurnTimeBack) {
  struct Times : IgnoreEvents {
    std::vector<Ticks> emitted;
    void enter(Ticks time, FunctionId) { emitted.push_back(time); }
    void leave(Ticks time, FunctionId, LeaveKind) { emitted.push_back(time); }
    void instant(const InstantEvent& event) { emitted.push_back(event.time); }
  };
  for (const bool typed : {false, true}) {
    testing::FdrBuilder builder(5);
    builder.buffer({.tid = 1, .tsc = 1000}).enter(1, 100);
    if (typed) {
      builder.typed(3, "early", -50);
    } else {
      builder.custom("early", -50);
    }
    const std::string file = builder.exit(1, 10).enter(2, 200).bytes();
    Times sink;
    ProblemLog problems;
    open(file).play(0, 0, sink, problems);
    EXPECT_EQ(sink.emitted, (std::vector<Ticks>{1100, 1100, 1100, 1260})) << typed;
  }
}

// As clang's runtime sometimes writes it.
TEST(XrayRecording, ABufferThatTheFileHasTwiceIsReadOnce) {
  const auto file = [](uint32_t second_delta, uint64_t second_tsc) {
    testing::FdrBuilder builder(5);
    builder.buffer({.tid = 7, .pid = 9, .tsc = 100}).enter(1, 10).exit(1, 5);
    builder.buffer({.tid = 7, .pid = 9, .tsc = 400}).enter(2, 1).exit(2, 1);
    builder.buffer({.tid = 7, .pid = 9, .tsc = second_tsc}).enter(1, 10).exit(1, second_delta);
    return builder.bytes();
  };
  const auto calls = [](const XrayRecording& recording) {
    uint64_t count = 0;
    const RecordingInfo info = recording.info(1);
    for (const auto& [kind, number] : info.records_by_kind) {
      if (kind == "FunctionEnter") count += number;
    }
    return count;
  };
  const std::string copied = file(5, 100);
  const XrayRecording twice = open(copied);
  EXPECT_EQ(words(twice), "110+1 115-1 401+2 402-2");
  const std::vector<Problem> problems = twice.problems().kept();
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].kind, Problem::Kind::loss);
  EXPECT_EQ(problems[0].offset, 32U + 2 * (16 + 80) + 16);
  EXPECT_EQ(problems[0].lost_bytes, 80U);
  EXPECT_EQ(problems[0].message,
            "the same bytes as the buffer at 48, not counted again: the recorder has probably lost "
            "another buffer");
  EXPECT_EQ(calls(twice), 2U);
  for (const std::string& other : {file(6, 100), file(5, 101)}) {
    const XrayRecording different = open(other);
    EXPECT_EQ(different.problems().count(), 0U);
    EXPECT_EQ(calls(different), 3U);
  }
}

TEST(XrayRecording, BufferThatIsCutBeforeItsPidBelongsToTheThreadOfThatNumber) {
  std::string file = testing::FdrBuilder(5)
                         .buffer({.tid = 7, .pid = 42, .tsc = 1000})
                         .enter(1, 0)
                         .exit(1, 9)
                         .buffer({.tid = 7, .pid = 42, .tsc = 2000})
                         .enter(1, 0)
                         .bytes();
  file.resize(32 + 16 + 4 * 16 + 2 * 8 + 2 * 16 +
              5);  // inside the second buffer's wall-time marker
  const XrayRecording recording = open(file);
  ASSERT_EQ(recording.streams().size(), 1U);
  EXPECT_EQ(recording.streams()[0].thread, (ThreadKey{42, 7}));
}

// Entries and arguments, in order of emission.
struct EntriesAndArguments : IgnoreEvents {
  std::vector<std::string> emitted;
  void enter(Ticks, FunctionId function) {
    emitted.push_back(fmt::format("#{}", to_number(function)));
  }
  void argument(uint64_t value) { emitted.push_back(fmt::format("{}", value)); }
};

TEST(XrayRecording, AnArgumentBelongsToTheEntryRightBeforeIt) {
  const std::string fdr = testing::FdrBuilder(5)
                              .buffer({.tid = 1, .pid = 42, .tsc = 1000})
                              .argument(10)
                              .enter_args(1, 5)
                              .argument(11)
                              .argument(12)
                              .enter_args(2, 5)
                              .exit(2, 5)
                              .argument(13)
                              .enter_args(3, 5)
                              .enter(4, 5)
                              .argument(14)
                              .enter_args(5, 5)
                              .wrap(2000)
                              .argument(15)
                              .bytes();
  EntriesAndArguments log;
  ProblemLog problems;
  open(fdr).play(0, 0, log, problems);
  EXPECT_EQ(log.emitted, (std::vector<std::string>{"#1", "11", "12", "#2", "#3", "#4", "#5"}));
  EXPECT_EQ(problems.count(), 4U);

  // Basic mode records the function of an argument; clang's runtime logs arguments of calls that it
  // omits, which is not damage.
  const std::string basic = testing::BasicBuilder(3)
                                .thread(1)
                                .argument_of(1, 10)
                                .enter_args(1, 5)
                                .argument(11)
                                .argument_of(2, 12)
                                .argument(13)
                                .enter_args(2, 15)
                                .exit(2, 20)
                                .argument_of(2, 14)
                                .enter_args(3, 25)
                                .enter(4, 30)
                                .argument_of(3, 15)
                                .bytes();
  log.emitted.clear();
  ProblemLog none;
  const XrayRecording recording = open(basic);
  recording.play(0, 0, log, none);
  EXPECT_EQ(log.emitted, (std::vector<std::string>{"#1", "11", "13", "#2", "#3", "#4"}));
  EXPECT_EQ(none.count(), 0U);
  ASSERT_EQ(recording.problems().count(), 1U);
  const Problem problem = recording.problems().kept()[0];
  EXPECT_EQ(problem.kind, Problem::Kind::oddity);
  EXPECT_EQ(problem.offset, 32U);
  EXPECT_TRUE(problem.message.starts_with("4 arguments of calls whose entries are not in the file"))
      << problem.message;
}

// As a forked process and its parent write what the parent had not written before the fork.
TEST(XrayRecording, BasicRecordsThatTheFileHasTwiceAreReadOnce) {
  using testing::BasicBuilder;
  const auto before = [](BasicBuilder& file) {
    file.thread(7, 7).enter(1, 10).enter_args(2, 20).argument(99).exit(2, 20);
  };
  const auto child = [](BasicBuilder& file) { file.thread(8, 8).enter(3, 30).exit(3, 40); };
  const auto after = [](BasicBuilder& file) {
    file.thread(7, 7).enter(4, 35).exit(4, 36).exit(1, 50);
  };
  const std::string events = "10+1 20+2 20-2 35+4 36-4 50-1";
  const auto check = [&](const BasicBuilder& file, uint64_t copies, uint64_t first) {
    const std::string bytes = file.bytes();
    const XrayRecording recording = open(bytes);
    EXPECT_EQ(words(recording), events);
    ASSERT_EQ(recording.problems().count(), copies == 0 ? 0U : 1U);
    if (copies == 0) return;
    const Problem problem = recording.problems().kept()[0];
    EXPECT_EQ(problem.kind, Problem::Kind::copies);
    EXPECT_EQ(problem.offset, 32 + 32 * first);
    EXPECT_TRUE(problem.message.starts_with(
        fmt::format("{} cop{} of earlier ones", copies, copies == 1 ? "y" : "ies")))
        << problem.message;
  };
  BasicBuilder child_first(3);
  before(child_first), child(child_first), before(child_first), after(child_first);
  check(child_first, 4, 6);
  BasicBuilder parent_first(3);
  before(parent_first), after(parent_first), before(parent_first), child(parent_first);
  check(parent_first, 4, 7);
  BasicBuilder idle_child(3);  // and a second one
  before(idle_child), before(idle_child), before(idle_child), after(idle_child);
  check(idle_child, 8, 4);
  BasicBuilder flushed(3);  // before the fork: an earlier part of the parent's records
  flushed.thread(7, 7).enter(1, 10);
  const auto rest = [](BasicBuilder& file) {
    file.thread(7, 7).enter_args(2, 20).argument(99).exit(2, 20);
  };
  rest(flushed), child(flushed), rest(flushed), after(flushed);
  check(flushed, 3, 6);
  BasicBuilder one(3);  // record, and the next has the same time
  one.thread(7, 7).enter(1, 10), child(one), one.thread(7, 7).enter(1, 10).enter_args(2, 20);
  one.argument(99).exit(2, 20), after(one);
  check(one, 1, 3);
  // What follows copies keeps its arguments.
  BasicBuilder arguments(3);
  before(arguments), arguments.thread(8, 8).exit(5, 25), before(arguments);
  arguments.thread(9, 8).enter_args(3, 30).argument(98).exit(3, 40);
  const std::string with_arguments = arguments.bytes();
  EntriesAndArguments log;
  ProblemLog problems;
  const XrayRecording recording = open(with_arguments);
  for (size_t i = 0; i < recording.streams().size(); ++i) recording.play(i, 0, log, problems);
  EXPECT_EQ(log.emitted, (std::vector<std::string>{"#1", "#2", "99", "#3", "98"}));
  EXPECT_EQ(recording.problems().count(), 1U);
  // A clock that goes back, as those of several processors may: no record is another's copy.
  BasicBuilder other(3);
  other.thread(7, 7).enter(1, 10).enter_args(2, 20).argument(99).exit(2, 20).enter(1, 15).exit(1,
                                                                                               15);
  const std::string bytes = other.bytes();
  EXPECT_EQ(words(open(bytes)), "10+1 20+2 20-2 20+1 20-1");
  EXPECT_EQ(open(bytes).problems().count(), 0U);
}

// A basic record has its CPU; an event tells when the thread moved to another one, up or down.
TEST(XrayRecording, BasicRecordsTellOfEachMove) {
  struct Cpus : IgnoreEvents {
    std::vector<std::pair<Ticks, uint32_t>> seen;
    void cpu(Ticks time, uint32_t cpu) { seen.emplace_back(time, cpu); }
  } cpus;
  const std::string basic = testing::BasicBuilder(3)
                                .thread(1, 100, 3)
                                .enter(1, 10)
                                .exit(1, 11)
                                .thread(1, 100, 1)
                                .enter(1, 20)
                                .thread(1, 100, 2)
                                .exit(1, 30)
                                .bytes();
  ProblemLog problems;
  open(basic).play(0, 0, cpus, problems);
  EXPECT_EQ(cpus.seen, (std::vector<std::pair<Ticks, uint32_t>>{{10, 3}, {20, 1}, {30, 2}}));
}

// A thread has one record more than a shard holds.
TEST(XrayYamlRecording, TheLastShardEndsWithTheRecords) {
  std::string text =
      "---\nheader: { version: 1, type: 0, constant-tsc: true, nonstop-tsc: true, "
      "cycle-frequency: 1000000000 }\nrecords:\n";
  for (size_t i = 0; i <= XrayYamlRecording::kShardRecords; ++i) {
    text += fmt::format(
        "  - {{ type: 0, func-id: 1, function: '1', cpu: 1, thread: 7, kind: function-{}, tsc: {} "
        "}}\n",
        i % 2 == 0 ? "enter" : "exit", i + 1);
  }
  const auto recording = XrayYamlRecording::open(InputFile::from_memory("text", as_bytes(text)),
                                                 std::make_shared<IdNames>());
  ASSERT_TRUE(recording) << to_string(recording.error());
  ASSERT_EQ(recording->streams().size(), 1U);
  ASSERT_EQ(recording->streams()[0].shards, 2U);
  EXPECT_EQ(recording->shard_bytes(0, 1) * XrayYamlRecording::kShardRecords,
            recording->shard_bytes(0, 0));
  EveryTime log;
  ProblemLog problems;
  recording->play(0, 0, log, problems);
  EXPECT_EQ(log.calls.size(), XrayYamlRecording::kShardRecords);
  recording->play(0, 1, log, problems);
  ASSERT_EQ(log.calls.size(), XrayYamlRecording::kShardRecords + 1);
  EXPECT_EQ(log.calls.back(), XrayYamlRecording::kShardRecords + 1);
  EXPECT_EQ(problems.count(), 0U);
}

TEST(XrayYamlRecording, NamesComeFromTheTextUnlessAProgramKnowsBetter) {
  const std::string text = R"(---
header:
  version: 1
  type: 0
  constant-tsc: true
  nonstop-tsc: true
  cycle-frequency: 1000000000
records:
  - { type: 0, func-id: 1, function: 'named(int)', args: [ 17, 23 ], cpu: 1, thread: 7, kind: function-enter-arg, tsc: 10 }
  - { type: 0, func-id: 2, function: '2', cpu: 1, thread: 7, kind: function-enter, tsc: 20 }
  - { type: 0, func-id: 2, function: '2', cpu: 1, thread: 7, kind: function-exit, tsc: 30 }
  - { type: 0, func-id: 1, function: 'named(int)', cpu: 1, thread: 7, kind: function-exit, tsc: 50 }
...
)";
  const auto recording = XrayYamlRecording::open(InputFile::from_memory("text", as_bytes(text)),
                                                 std::make_shared<IdNames>());
  ASSERT_TRUE(recording) << to_string(recording.error());
  EXPECT_EQ(recording->functions().describe(FunctionId{1}).name, "named(int)");
  EXPECT_EQ(recording->functions().describe(FunctionId{2}).name, "#2");
  struct Arguments : IgnoreEvents {
    std::vector<uint64_t> all;
    void argument(uint64_t value) { all.push_back(value); }
  } arguments;
  ProblemLog problems;
  recording->play(0, 0, arguments, problems);
  EXPECT_EQ(arguments.all, (std::vector<uint64_t>{17, 23}));
  EXPECT_EQ(recording->info(1).span_ns(), 40U);
  EXPECT_EQ(problems.count(), 0U);
}

}  // namespace
}  // namespace telltale
