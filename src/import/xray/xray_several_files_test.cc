#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bytes/as_bytes.h"
#include "import/id_names.h"
#include "import/xray/event_words.h"
#include "import/xray/xray_recording.h"
#include "support/xray_builder.h"

namespace telltale {
namespace {

// As one recording. The files, named a and b, must live as long as it.
XrayRecording open_files(const std::string& a, const std::string& b,
                         std::vector<XrayRecording::FileContext> contexts = {}) {
  std::vector<InputFile> inputs;
  inputs.push_back(InputFile::from_memory("a", as_bytes(a)));
  inputs.push_back(InputFile::from_memory("b", as_bytes(b)));
  Result<XrayRecording> recording =
      XrayRecording::open(std::move(inputs), std::make_shared<IdNames>(), std::move(contexts));
  EXPECT_TRUE(recording) << to_string(recording.error());
  return std::move(*recording);
}

// Files of different frequency as one recording: 100 ticks of the first and 200 of the second are
// both 100 ns.
TEST(SeveralXrayFiles, ReadsSeveralFilesAsOne) {
  const std::string early = testing::FdrBuilder(5)
                                .frequency(1'000'000'000)
                                .buffer({.tid = 7, .tsc = 5'000})
                                .enter(1, 0)
                                .exit(1, 100)
                                .bytes();
  const std::string late = testing::FdrBuilder(3)
                               .frequency(2'000'000'000)
                               .buffer({.tid = 7, .tsc = 20'000})
                               .enter(1, 0)
                               .exit(1, 200)
                               .bytes();
  for (const bool in_order : {true, false}) {
    const XrayRecording recording = open_files(in_order ? early : late, in_order ? late : early);
    ASSERT_EQ(recording.streams().size(), 1U);
    EXPECT_EQ(recording.first_time(), 5'000U);
    struct Times : IgnoreEvents {
      std::vector<Ticks> all;
      void enter(Ticks time, FunctionId) { all.push_back(time); }
      void leave(Ticks time, FunctionId, LeaveKind) { all.push_back(time); }
    } times;
    ProblemLog problems;
    recording.play(0, 0, times, problems);
    EXPECT_EQ(times.all, (std::vector<Ticks>{5'000, 5'100, 10'000, 10'100}));
  }
}

// Of one thread, as far as the files say: time is held, and that is said.
TEST(SeveralXrayFiles, FilesOfDifferentFrequenciesMayOverlap) {
  const auto file = [](uint64_t frequency, uint64_t tsc) {
    return testing::FdrBuilder(5)
        .frequency(frequency)
        .buffer({.tid = 7, .tsc = tsc})
        .enter(1, 0)
        .exit(1, 1000)
        .bytes();
  };
  const std::string first = file(1'000'000'000, 5'000);
  const std::string second = file(3'000'000'000, 15'300);  // 5,100 ns, until 5,433
  const XrayRecording recording = open_files(first, second);
  EventWords events;
  ProblemLog problems;
  recording.play(0, 0, events, problems);
  EXPECT_EQ(events.words, "5000+1 6000-1 6000+1 6000-1");
  ASSERT_EQ(problems.kept().size(), 1U);
  EXPECT_EQ(problems.kept()[0].kind, Problem::Kind::oddity);
}

// In process id namespaces, or programs that a process executed one after the other.
TEST(SeveralXrayFiles, ProcessesWithOneIdAreApart) {
  const auto file = [](uint64_t tsc) {
    return testing::FdrBuilder(5)
        .buffer({.tid = 7, .pid = 7, .tsc = tsc})
        .enter(1, 0)
        .exit(1, 1000)
        .bytes();
  };
  const std::string first = file(5'000);
  const std::string second = file(5'100);
  for (const uint64_t begun : {4'000, 5'050}) {
    std::vector<XrayRecording::FileContext> contexts(2);
    for (XrayRecording::FileContext& context : contexts) {
      context.has_side_record = true;
      context.pid = 7;
    }
    contexts[0].begun = 4'000;
    contexts[0].process_name = "one";
    contexts[1].begun = begun;
    contexts[1].process_name = "two";
    const XrayRecording recording = open_files(first, second, std::move(contexts));
    if (begun == 4'000) {  // two files of one process
      ASSERT_EQ(recording.streams().size(), 1U);
      continue;
    }
    ASSERT_EQ(recording.streams().size(), 2U);
    EXPECT_EQ(recording.streams()[0].process_name, "one");
    EXPECT_EQ(recording.streams()[1].process_name, "two");
    EXPECT_EQ(recording.streams()[0].thread, (ThreadKey{7, 7, 1}));
    EXPECT_EQ(recording.streams()[1].thread, (ThreadKey{7, 7, 2}));
    EXPECT_EQ(words(recording), "5000+1 6000-1");
  }
}

// Their open calls are apart, but they are of one process.
TEST(SeveralXrayFiles, RecordingsThatAProcessStoppedAndBeganAreOfOneProcess) {
  const auto file = [](uint64_t tsc) {
    return testing::FdrBuilder(5).buffer({.tid = 7, .pid = 7, .tsc = tsc}).enter(1, 0).bytes();
  };
  const std::string first = file(5'000);
  const std::string second = file(5'100);
  for (const std::string name : {"one", "two"}) {
    std::vector<XrayRecording::FileContext> contexts(2);
    for (uint32_t i = 0; i < 2; ++i) {
      contexts[i].has_side_record = true;
      contexts[i].pid = 7;
      contexts[i].begun = 4'000 + i;
      contexts[i].number = i + 1;
      contexts[i].process_name = i == 0 ? "one" : name;
    }
    const XrayRecording recording = open_files(first, second, std::move(contexts));
    ASSERT_EQ(recording.streams().size(), 2U);
    EXPECT_EQ(recording.streams()[0].thread, (ThreadKey{7, 7, name == "one" ? 0U : 1U}));
    EXPECT_EQ(recording.streams()[1].thread, (ThreadKey{7, 7, name == "one" ? 0U : 2U}));
  }
}

// Converted with its own frequency, the second file would begin a millisecond early.
TEST(SeveralXrayFiles, FilesOfOneCounterShareAFrequency) {
  const auto file = [](uint64_t frequency, uint64_t tsc) {
    return testing::FdrBuilder(5)
        .frequency(frequency)
        .buffer({.tid = 7, .tsc = tsc})
        .enter(1, 0)
        .exit(1, 100)
        .bytes();
  };
  const std::string first = file(1'000'000'000, 100'000'000'000);
  for (const auto& [frequency, is_same] : {std::pair<uint64_t, bool>{1'000'010'000, true},
                                           {999'990'000, true},
                                           {1'001'000'000, true},
                                           {1'001'001'000, false}}) {
    const std::string second = file(frequency, 100'000'000'100);
    const XrayRecording recording = open_files(first, second);
    EXPECT_EQ(words(recording) == "100000000000+1 100000000100-1 100000000100+1 100000000200-1",
              is_same)
        << frequency << ": " << words(recording);
  }
}

// Two snapshots of a ring: the first has a buffer that was overwritten before the second, and a
// part of one that the second has as a whole.
TEST(SeveralXrayFiles, BuffersThatSeveralFilesHaveAreReadOnce) {
  const auto buffer = [](testing::FdrBuilder& file, uint64_t tsc, int calls) {
    file.buffer({.tid = 7, .pid = 9, .tsc = tsc});
    for (int i = 0; i < calls; ++i) file.enter(1, 1).exit(1, 1);
  };
  testing::FdrBuilder early(5);
  buffer(early, 100, 2);
  buffer(early, 200, 1);
  testing::FdrBuilder late(5);
  buffer(late, 200, 2);
  buffer(late, 300, 1);
  const std::string early_bytes = early.bytes();
  const std::string late_bytes = late.bytes();
  for (const bool in_order : {true, false}) {
    const XrayRecording recording =
        open_files(in_order ? early_bytes : late_bytes, in_order ? late_bytes : early_bytes);
    EXPECT_EQ(words(recording), "101+1 102-1 103+1 104-1 201+1 202-1 203+1 204-1 301+1 302-1");
    const std::vector<Problem> problems = recording.problems().kept();
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].kind, Problem::Kind::copies);
    EXPECT_EQ(problems[0].file, in_order ? "a" : "b");
    EXPECT_EQ(
        problems[0].message,
        fmt::format("1 buffer of it is also in {}, and not counted again", in_order ? "b" : "a"));
  }
}

// Clang's runtime does not notice fork: the child goes on in its copy of the buffer, which has its
// parent's ids. Only a buffer that it begins has its own.
TEST(SeveralXrayFiles, AForkedProcessGoesOnInACopyOfItsParentsBuffer) {
  const auto file = [](uint32_t after_fork, bool begins_buffer) {
    testing::FdrBuilder builder(5);
    builder.buffer({.tid = 7, .pid = 7, .tsc = 100}).enter(1, 0).enter(2, 5).exit(2, 5);
    if (after_fork != 0) builder.enter(after_fork, 1).exit(after_fork, after_fork);
    if (begins_buffer) builder.buffer({.tid = 8, .pid = 8, .tsc = 200}).enter(9, 0).exit(9, 1);
    return builder.bytes();
  };
  const auto threads = [](const XrayRecording& recording) {
    std::string text;
    for (size_t i = 0; i < recording.streams().size(); ++i) {
      EventWords events;
      ProblemLog problems;
      recording.play(i, 0, events, problems);
      text += fmt::format("{}: {}; ", recording.streams()[i].thread.pid, events.words);
      EXPECT_EQ(problems.count(), 0U);
    }
    return text;
  };
  const std::string child = file(4, true);
  // The parent's tail is shorter than its child's, as long, longer, or empty.
  for (const uint32_t parent_calls : {3U, 5U, 0U}) {
    const std::string parent = file(parent_calls, false);
    for (const bool in_order : {true, false}) {
      const XrayRecording recording =
          open_files(in_order ? parent : child, in_order ? child : parent);
      const std::string tail =
          parent_calls == 0 ? ""
                            : fmt::format(" 111+{0} {1}-{0}", parent_calls, 111 + parent_calls);
      EXPECT_EQ(threads(recording),
                "7: 100+1 105+2 110-2" + tail + "; 8: 111+4 115-4 200+9 201-9; ");
      EXPECT_FALSE(recording.problems().damaged());
    }
  }
  // No buffer says which process the child is. That which lasts longer is taken for the parent.
  const std::string parent = file(6, false);
  const std::string unknown = testing::FdrBuilder(5)
                                  .buffer({.tid = 7, .pid = 7, .tsc = 100})
                                  .enter(1, 0)
                                  .enter(2, 5)
                                  .exit(2, 5)
                                  .enter(4, 1)
                                  .exit(4, 1)
                                  .exit(1, 2)
                                  .bytes();
  for (const bool in_order : {true, false}) {
    const XrayRecording recording =
        open_files(in_order ? parent : unknown, in_order ? unknown : parent);
    EXPECT_EQ(threads(recording), "7: 100+1 105+2 110-2 111+6 117-6; ");
    EXPECT_TRUE(recording.problems().damaged());
    EXPECT_EQ(recording.problems().lost_bytes(), 24U);
  }
}

}  // namespace
}  // namespace telltale
