#include "import/stacktrack/stacktrack_recording.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "bytes/as_bytes.h"
#include "support/stacktrack_samples.h"

namespace telltale {
namespace {

using testing::StacktrackBuilder;

StacktrackRecording opened(const std::vector<std::string>& files) {
  static std::deque<std::string> kept;  // the recording refers to the bytes it was opened with
  std::vector<InputFile> inputs;
  for (const std::string& file : files)
    inputs.push_back(InputFile::from_memory("f.tlg", as_bytes(kept.emplace_back(file))));
  Result<StacktrackRecording> recording = StacktrackRecording::open(std::move(inputs));
  EXPECT_TRUE(recording) << to_string(recording.error());
  return *std::move(recording);
}

// Events as lines: "7:9 100 > name", "<", "step name", "variable name=value".
struct Lines : IgnoreEvents {
  const FunctionNames& names;
  Ticks start;
  std::string thread;
  std::vector<std::string> lines;
  Lines(const FunctionNames& known, Ticks first) : names(known), start(first) {}
  void put(Ticks time, std::string_view what) {
    lines.push_back(fmt::format("{} {} {}", thread, time - start, what));
  }
  void enter(Ticks time, FunctionId id) { put(time, "> " + names.describe(id).name); }
  void leave(Ticks time, FunctionId id, LeaveKind) { put(time, "< " + names.describe(id).name); }
  void instant(const InstantEvent& event) {
    put(event.time,
        fmt::format("{} {}", event.category,
                    std::string_view(reinterpret_cast<const char*>(event.payload.data()),
                                     event.payload.size())));
  }
};

std::vector<std::string> lines_of(const StacktrackRecording& recording) {
  Lines all(recording.functions(), recording.first_time());
  ProblemLog problems;
  for (size_t s = 0; s < recording.streams().size(); ++s) {
    const EventStream& stream = recording.streams()[s];
    all.thread = fmt::format("{}:{}", stream.thread.pid, stream.thread.tid);
    for (size_t u = 0; u < stream.shards; ++u) recording.play(s, u, all, problems);
  }
  EXPECT_EQ(problems.count(), 0U);
  return all.lines;
}

using ::testing::ElementsAre;

TEST(StacktrackRecording, ClassicWithExitsMarkedOrNot) {
  for (const bool marked : {true, false}) {
    for (const std::endian order : {std::endian::little, std::endian::big}) {
      const std::string file = testing::samples::classic_stream(order, marked).bytes();
      const StacktrackRecording recording = opened({file});
      // Times count from the first event; the process started 24 ticks earlier.
      EXPECT_THAT(lines_of(recording),
                  ElementsAre("1800:2320 0 > outer(int)", "1800:2320 16 > sixteen letters.",
                              "1800:2320 32 variable name=a value in pieces \x1b[31m<&>\"'",
                              "1800:2320 48 < sixteen letters.", "1800:2320 64 < outer(int)",
                              "1800:2321 33 step step"));
      EXPECT_EQ(recording.clock().ticks_per_second, 0x01020304U);
      EXPECT_EQ(recording.problems().count(), 0U);
      const FunctionInfo& outer = recording.functions().describe(FunctionId{3});
      EXPECT_EQ(outer.name, "outer(int)");
      EXPECT_EQ(outer.file, "src/a directory/file_of_a_long_name.cpp");
      EXPECT_EQ(outer.line, 0x0506U);
    }
  }
}

// HITs out of order, held times between readings, a text after another record, losses.
TEST(StacktrackRecording, Wide) {
  const std::string file = testing::samples::wide_stream(std::endian::little).bytes();
  const StacktrackRecording recording = opened({file});
  EXPECT_THAT(
      lines_of(recording),
      ElementsAre("16909060:11259374 4096 > late()", "16909060:11259374 4352 < late()",
                  "16909060:11259375 0 > serve(Request const&)", "16909060:11259375 0 > parse",
                  "16909060:11259375 0 variable url=/index.html?of=a&long=query",
                  "16909060:11259375 32 step sent", "16909060:11259375 64 < parse",
                  "16909060:11259375 96 < serve(Request const&)"));
  ASSERT_EQ(recording.problems().count(), 1U);
  EXPECT_EQ(recording.problems().kept()[0].kind, Problem::Kind::by_design);
  EXPECT_FALSE(recording.problems().damaged());
  const RecordingInfo info = recording.info(1);
  EXPECT_EQ(info.version, "512");
  EXPECT_EQ(info.threads.size(), 2U);
  EXPECT_EQ(info.span_ns(), 4352U);
}

TEST(StacktrackRecording, ChunkThatIsBeingClearedIsLeftOut) {
  constexpr size_t kPage = stacktrack::wide::kPageBytes;
  std::string ring = testing::samples::wide_stream(std::endian::little, kPage).bytes();
  EXPECT_EQ(opened({ring}).streams().size(), 2U);
  ring.replace(kPage, 64, std::string(64, '\0'));
  EXPECT_TRUE(opened({ring}).streams().empty());
}

// A sink that is open before the first event: the span is that of the events. Without events, the
// recording begins and ends when the sink was opened.
TEST(StacktrackRecording, TimesCountFromTheFirstEvent) {
  const std::string file = testing::samples::classic_stream(std::endian::little, true).bytes();
  const StacktrackRecording recording = opened({file});
  const RecordingInfo info = recording.info(1);
  EXPECT_EQ(info.first_time, recording.first_time());
  EXPECT_EQ(info.last_time - info.first_time, 64U);
}

// Part of a stream: earlier context is unknown until the next cycle repeats it.
TEST(StacktrackRecording, BeginsInTheMiddle) {
  using enum stacktrack::Style;
  StacktrackBuilder b(false);
  b.process(5).at(90).exit(100, 1, 6).at(91).hit(110, 2, 6).at(92).hit(120, 3, 6);
  b.at(93).value(125, 4, 6, "v").prologue().process_info(2).time_type(1000);
  b.at(94).scope(2, step, 1, 1, 0, "named later").hit(130, 2, 6);
  const StacktrackRecording recording = opened({b.bytes()});
  EXPECT_THAT(lines_of(recording),
              ElementsAre("5:6 0 < #1", "5:6 10 step named later", "5:6 20 step #3",
                          "5:6 25 variable #4=v", "5:6 30 step named later"));
}

// A scope index may have a different meaning in another process, in another file, or later.
TEST(StacktrackRecording, ContextIsTheProcesssAndTheFiles) {
  using enum stacktrack::Style;
  const auto stream = [](uint32_t pid, std::string_view name, uint64_t when) {
    StacktrackBuilder b(false);
    b.process(pid).prologue().time_type(1000).at(1).scope(1, step, 1, 0, 0, name);
    b.hit(when, 1, pid);
    return b.bytes();
  };
  const StacktrackRecording two = opened({stream(1, "one", 10) + stream(2, "two", 20)});
  EXPECT_THAT(lines_of(two), ElementsAre("1:1 0 step one", "2:2 10 step two"));
  const StacktrackRecording files = opened({stream(1, "one", 10), stream(1, "another", 20)});
  EXPECT_THAT(lines_of(files), ElementsAre("1:1 0 step one", "1:1 10 step another"));
}

// A file of a process: its write cycle, and a call of `name` by thread 5 between two times.
std::string file_of_process(uint32_t pid, uint32_t cycle, std::string_view program,
                            std::string_view name, uint64_t enter, uint64_t leave) {
  StacktrackBuilder b(true);
  b.chunk(0, 0, 4096).process(pid).prologue().process_info(cycle, 1, program);
  b.time_type(1'000'000'000).time_info(enter - 1, 1).at(enter);
  b.scope(1, stacktrack::Style::function, 1, 0, 0, name).fill(4096).chunk(5, 1, 4096);
  b.at(enter).hit(enter, 1, 5).at(leave).exit(leave, 1, 5).fill(4096);
  return b.bytes();
}

// In containers, all programs may have the id 1.
TEST(StacktrackRecording, ProcessesWithOneIdStayApart) {
  constexpr uint64_t kMs = 1'000'000;
  const std::string one = file_of_process(1, 1, "/bin/a", "a", 100 * kMs, 300 * kMs);
  const std::string two = file_of_process(1, 1, "/bin/a", "b", 200 * kMs, 400 * kMs);
  const StacktrackRecording at_once = opened({one, two});
  ASSERT_EQ(at_once.streams().size(), 2U);
  EXPECT_EQ(at_once.streams()[0].thread, (ThreadKey{1, 5, 1}));
  EXPECT_EQ(at_once.streams()[1].thread, (ThreadKey{1, 5, 2}));
  EXPECT_THAT(lines_of(at_once), ElementsAre("1:5 0 > a", "1:5 200000000 < a", "1:5 100000000 > b",
                                             "1:5 300000000 < b"));
  EXPECT_EQ(at_once.info(1).threads.size(), 2U);
  // One after the other; a program that another one executes.
  const std::string later = file_of_process(1, 1, "/bin/a", "b", 400 * kMs, 500 * kMs);
  EXPECT_EQ(opened({one, later}).streams().size(), 2U);
  const std::string executed = file_of_process(1, 2, "/bin/b", "b", 400 * kMs, 500 * kMs);
  const StacktrackRecording programs = opened({one, executed});
  ASSERT_EQ(programs.streams().size(), 2U);
  EXPECT_EQ(programs.streams()[0].process_name, "a");
  EXPECT_EQ(programs.streams()[1].process_name, "b");
}

// Rotation, or a sink that was opened again: a later write cycle in each file.
TEST(StacktrackRecording, FilesOfOneProcessStayTogether) {
  constexpr uint64_t kMs = 1'000'000;
  const auto file = [](uint32_t cycle, uint64_t from_ms) {
    return file_of_process(1, cycle, "/bin/a", "f", from_ms * kMs, (from_ms + 50) * kMs);
  };
  const StacktrackRecording rotated = opened({file(10, 300), file(1, 100), file(3, 200)});
  ASSERT_EQ(rotated.streams().size(), 1U);
  EXPECT_EQ(rotated.streams()[0].thread, (ThreadKey{1, 5, 0}));
  EXPECT_EQ(rotated.first_time(), 100 * kMs);
  EXPECT_THAT(lines_of(rotated),
              ElementsAre("1:5 0 > f", "1:5 50000000 < f", "1:5 100000000 > f", "1:5 150000000 < f",
                          "1:5 200000000 > f", "1:5 250000000 < f"));
  // Two processes that rotate at the same time: each file continues the one that has just ended.
  const StacktrackRecording two =
      opened({file(1, 100), file(1, 120), file(2, 150), file(2, 170), file(3, 200), file(3, 220)});
  ASSERT_EQ(two.streams().size(), 2U);
  EXPECT_THAT(lines_of(two),
              ElementsAre("1:5 0 > f", "1:5 50000000 < f", "1:5 50000000 > f", "1:5 100000000 < f",
                          "1:5 100000000 > f", "1:5 150000000 < f",  //
                          "1:5 20000000 > f", "1:5 70000000 < f", "1:5 70000000 > f",
                          "1:5 120000000 < f", "1:5 120000000 > f", "1:5 170000000 < f"));
  // A forked child has another pid.
  const std::string child = file_of_process(2, 2, "/bin/a", "f", 120 * kMs, 130 * kMs);
  EXPECT_EQ(opened({file(1, 100), child}).streams()[1].thread, (ThreadKey{2, 5, 0}));
}

// A file of sinks that were open at the same time: calls of one thread, 10 ms long, every 20 ms.
// `later`: by how many nanoseconds all calls but the first are.
std::string file_of_sink(uint32_t cycle, std::string_view name, uint64_t from, uint64_t to,
                         uint64_t later = 0) {
  constexpr uint64_t kMs = 1'000'000;
  StacktrackBuilder b(true);
  b.chunk(0, 0, 4096).process(1).prologue().process_info(cycle, 1, "/bin/a");
  b.time_type(1'000'000'000).time_info(from * 20 * kMs, 1).at(from * 20 * kMs);
  b.scope(1, stacktrack::Style::function, 1, 0, 0, name).fill(4096).chunk(5, 1, 4096);
  for (uint64_t call = from; call < to; ++call) {
    const uint64_t enter = call * 20 * kMs + (call == from ? 0 : later);
    const uint64_t leave = enter + 10 * kMs;
    b.at(enter).hit(enter, 1, 5).at(leave).exit(leave, 1, 5);
  }
  return b.fill(4096).bytes();
}

TEST(StacktrackRecording, SinksThatAreOpenAtTheSameTimeAreOfOneProcess) {
  const auto calls_of = [](const StacktrackRecording& recording) {
    std::vector<std::string> begins;
    for (const std::string& line : lines_of(recording))
      if (line.find('>') != std::string::npos) begins.push_back(line);
    return begins;
  };
  const std::string whole = file_of_sink(1, "f", 1, 9);
  const auto expected = calls_of(opened({whole}));
  ASSERT_EQ(expected.size(), 8U);
  for (const std::vector<std::string>& files :
       {std::vector{file_of_sink(1, "f", 1, 6), file_of_sink(2, "f", 4, 9)},
        std::vector{file_of_sink(2, "f", 4, 9), file_of_sink(1, "f", 1, 6)},
        std::vector{whole, file_of_sink(2, "f", 3, 5)},
        // Two times the same ring, and what was written between these times.
        std::vector{file_of_sink(1, "f", 1, 4), file_of_sink(1, "f", 3, 9)},
        std::vector{file_of_sink(1, "f", 1, 5), file_of_sink(3, "f", 3, 7),
                    file_of_sink(2, "f", 2, 9)}}) {
    const StacktrackRecording recording = opened(files);
    ASSERT_EQ(recording.streams().size(), 1U);
    EXPECT_EQ(recording.streams()[0].thread, (ThreadKey{1, 5, 0}));
    EXPECT_EQ(calls_of(recording), expected);
    EXPECT_EQ(recording.first_time(), 20'000'000U);
  }
  // Events at other times are of another process.
  const std::string other = file_of_process(1, 2, "/bin/a", "f", 70'000'001, 90'000'001);
  EXPECT_EQ(opened({whole, other}).streams().size(), 2U);
  // A single HIT may have the same time by chance.
  EXPECT_EQ(opened({whole, file_of_sink(1, "f", 3, 9, 1)}).streams().size(), 2U);
}

TEST(StacktrackRecording, LossesToldAsVariables) {
  using enum stacktrack::Style;
  StacktrackBuilder b(false);
  b.prologue().at(1).scope(1, value, 0, 0, 0, "telltale.lost.no_space").value(1, 1, 1, "4");
  b.at(2).value(2, 1, 1, "7");
  const StacktrackRecording recording = opened({b.bytes()});
  ASSERT_EQ(recording.problems().count(), 1U);
  EXPECT_EQ(recording.problems().kept()[0].message,
            "the recorder lost 7 events, for lack of space (disk, memory, or chunks of a ring)");
  const auto message_of = [](const std::string& reason) {
    StacktrackBuilder one(false);
    one.prologue().at(1).scope(1, value, 0, 0, 0, "telltale.lost." + reason).value(1, 1, 1, "4");
    return opened({one.bytes()}).problems().kept()[0].message;
  };
  EXPECT_EQ(message_of("cut_text"), "the recorder truncated 4 texts");  // as in the wide layout
  EXPECT_EQ(message_of("of_the_future"), "the recorder lost 4 (of_the_future)");
}

// Alternating threads with more than one shard of records: nothing is lost between runs and shards.
TEST(StacktrackRecording, ManyShards) {
  StacktrackBuilder b(true);
  b.chunk(0, 0, 4096).prologue().time_type(1'000'000'000);
  uint64_t sequence = 10;
  b.at(sequence).scope(1, stacktrack::Style::function, 1, 0, 0, "f");
  constexpr size_t kCalls = 300'000;
  for (size_t i = 0; i < kCalls; ++i) {
    const auto tid = static_cast<uint32_t>(1 + i / 1000 % 2);
    b.stream(static_cast<uint16_t>(tid));
    sequence += 2;
    b.at(sequence).hit(sequence, 1, tid).at(sequence + 1).exit(sequence + 1, 1, tid);
  }
  const StacktrackRecording recording = opened({b.bytes()});
  struct Count : IgnoreEvents {
    size_t enters = 0;
    size_t leaves = 0;
    Ticks last = 0;
    bool in_order = true;
    void enter(Ticks time, FunctionId) { ++enters, check(time); }
    void leave(Ticks time, FunctionId, LeaveKind) { ++leaves, check(time); }
    void check(Ticks time) {
      in_order = in_order && time > last;
      last = time;
    }
  };
  ProblemLog problems;
  size_t enters = 0;
  for (size_t s = 0; s < recording.streams().size(); ++s) {
    Count count;
    uint64_t bytes = 0;
    EXPECT_EQ(recording.streams()[s].shards, 3U);
    for (size_t u = 0; u < recording.streams()[s].shards; ++u) {
      recording.play(s, u, count, problems);
      bytes += recording.shard_bytes(s, u);
    }
    EXPECT_TRUE(count.in_order);
    EXPECT_EQ(count.enters, count.leaves);
    EXPECT_EQ(bytes, kCalls * 32);
    enters += count.enters;
  }
  EXPECT_EQ(enters, kCalls);
}

}  // namespace
}  // namespace telltale
