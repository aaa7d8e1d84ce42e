#include "import/mono/mono_recording.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "bytes/as_bytes.h"
#include "support/mono_samples.h"

namespace telltale {
namespace {

using testing::MonoBuilder;
using testing::mono_samples::buffer_header;
using testing::mono_samples::kMethods;
using testing::mono_samples::kObjects;
using testing::mono_samples::kPointers;

MonoRecording open(const std::vector<std::string_view>& files) {
  std::vector<InputFile> inputs;
  for (const std::string_view file : files)
    inputs.push_back(InputFile::from_memory("f" + std::to_string(inputs.size()), as_bytes(file)));
  Result<MonoRecording> recording = MonoRecording::open(std::move(inputs));
  EXPECT_TRUE(recording) << to_string(recording.error());
  return std::move(*recording);
}

// Formats every emitted event in a few words.
struct EventLog : IgnoreEvents {
  const FunctionNames& names;
  std::vector<std::string> events;
  explicit EventLog(const FunctionNames& functions) : names(functions) {}
  [[nodiscard]] std::string stack(const RecordedStack& stack) const {
    std::string text;
    for (const FunctionId function : stack.functions) text += " > " + names.describe(function).name;
    return stack.known ? text : " no stack";
  }
  void enter(Ticks time, FunctionId function) {
    events.push_back("enter " + names.describe(function).name + " " + std::to_string(time));
  }
  void leave(Ticks time, FunctionId function, LeaveKind how) {
    events.push_back("leave " + names.describe(function).name + " " + std::to_string(time) +
                     (how == LeaveKind::exception ? " thrown" : ""));
  }
  void loss(const LossEvent& event) { events.push_back("lost " + std::to_string(event.bytes)); }
  void on(const AllocationEvent& event) {
    events.push_back("alloc " + std::to_string(event.bytes) + stack(event.stack));
  }
  void on(const MonitorEvent& event) {
    events.push_back("monitor " + std::to_string(static_cast<int>(event.kind)) +
                     stack(event.stack));
  }
  void on(const SampleEvent& event) {
    events.push_back("sample " + std::to_string(event.addresses.size()) + stack(event.stack));
  }
  void on(const HeapObjectEvent& event) {
    events.push_back("object " + std::to_string(event.bytes) + " " +
                     std::to_string(event.references.size()));
  }
  void on(const ObjectsMoved& event) {
    events.push_back("moved " + std::to_string(event.moves.size()));
  }
};

std::vector<std::string> play_all(const MonoRecording& recording, ProblemLog& problems) {
  EventLog log(recording.functions());
  for (size_t s = 0; s < recording.streams().size(); ++s)
    for (size_t u = 0; u < recording.streams()[s].shards; ++u) recording.play(s, u, log, problems);
  return log.events;
}

TEST(MonoRecording, EveryVersionTellsTheSameStory) {
  std::vector<std::string> expected;
  for (uint8_t version = 17; version >= 6; --version) {
    const std::string file = testing::every_mono_event(version).bytes();
    const MonoRecording recording = open({file});
    ProblemLog problems;
    std::vector<std::string> events = play_all(recording, problems);
    EXPECT_EQ(problems.count(), 0U) << int{version};
    EXPECT_EQ(recording.streams().size(), 2U);
    EXPECT_EQ(recording.streams()[0].thread_name, "Main");
    EXPECT_EQ(recording.types().describe(TypeId{kPointers + 0x200}).image, "corlib.dll");
    const uint64_t type = kPointers + (version >= 15 ? 0x240 : 0x200);
    EXPECT_EQ(recording.types().describe(TypeId{type}).name, "System.\"Object\"\x1b[31m");
    if (version == 17) {
      expected = events;
      continue;
    }
    // Before version 13 some events have no time, so the events after them appear earlier.
    const auto without_time = [](std::vector<std::string> all) {
      for (std::string& text : all)
        if (text.starts_with("enter") || text.starts_with("leave"))
          text = text.substr(0, text.find(')'));
      return all;
    };
    EXPECT_EQ(without_time(events), without_time(expected)) << int{version};
  }
  EXPECT_NE(std::ranges::find(expected, "alloc 24 no stack"), expected.end());
  EXPECT_NE(
      std::ranges::find(expected, "alloc 2147483648 > Program:Main (string[]) > Program:Work ()"),
      expected.end());
  EXPECT_NE(std::ranges::find(expected, "sample 2 > Program:Main (string[]) > Program:Work ()"),
            expected.end());
}

// The system reuses ids. Of threads that call methods, opening reads only beginnings of buffers.
TEST(MonoRecording, AThreadHasAllNamesThatWereGivenToItsId) {
  MonoBuilder file(17);
  const auto name_thread = [&file](std::string_view name) {
    file.event(
        mono::Group::metadata, mono::info::kMetadataName, 1,
        mono::Metadata{.kind = mono::MetadataKind::thread, .pointer = kPointers + 1, .name = name});
  };
  std::string expected;
  for (int thread = 1; thread <= 6; ++thread) {
    const std::string name = "Worker " + std::to_string(thread);
    file.buffer(buffer_header(1, 10'000U * static_cast<uint64_t>(thread)));
    name_thread(name);
    name_thread(name);
    for (int i = 0; i < 70; ++i) file.enter(1, kMethods).leave(1, kMethods);
    if (thread <= 4) expected += (thread == 1 ? "" : ", ") + name;
  }
  const std::string bytes = file.bytes();
  const MonoRecording recording = open({bytes});
  ASSERT_EQ(recording.streams().size(), 1U);
  EXPECT_EQ(recording.streams()[0].thread_name, expected + " and 2 more");
}

TEST(MonoRecording, AMethodThatIsNeverNamedIsItsAddressWhoeverAsksFirst) {
  MonoBuilder file(17);
  file.buffer(buffer_header(1, 10)).jit(1, kMethods, "P:A ()");
  file.buffer(buffer_header(2, 20));
  for (int i = 0; i < 70; ++i) file.enter(1, kMethods).leave(1, kMethods);
  file.buffer(buffer_header(2, 900)).enter(1, kMethods + 8).leave(1, kMethods + 8);
  file.buffer(buffer_header(3, 20)).enter(1, kMethods + 16).leave(1, kMethods + 16);
  const std::string bytes = file.bytes();
  std::vector<uint32_t> ids[2];
  for (const bool backwards : {false, true}) {
    const MonoRecording recording = open({bytes});
    struct Ids : IgnoreEvents {
      void enter(Ticks, FunctionId function) { seen.push_back(to_number(function)); }
      std::vector<uint32_t> seen;
    };
    Ids sink;
    ProblemLog problems;
    for (size_t i = 0; i < 3; ++i) {
      const size_t stream = backwards ? 2 - i : i;
      recording.play(stream, 0, sink, problems);
    }
    std::ranges::sort(sink.seen);
    ids[backwards ? 1 : 0] = sink.seen;
    EXPECT_EQ(recording.functions().describe(FunctionId{0}).name, "P:A ()");
    EXPECT_EQ(recording.functions().describe(FunctionId{1}).name, "#0x70000008");
    EXPECT_EQ(recording.functions().describe(FunctionId{2}).name, "#0x70000010");
  }
  EXPECT_EQ(ids[0], ids[1]);
  EXPECT_EQ(ids[0].back(), 2U);
}

TEST(MonoRecording, SeveralFilesShareNamesButNotAddresses) {
  MonoBuilder one(17);
  MonoBuilder two(17);
  two.header().pid = 9;
  one.buffer(buffer_header(1, 10)).jit(1, kMethods, "P:A ()").enter(1, kMethods);
  two.buffer(buffer_header(1, 5)).jit(1, kMethods, "P:B ()").jit(1, kMethods + 8, "P:A ()");
  two.enter(1, kMethods + 8).enter(1, kMethods);
  const std::string first = one.bytes();
  const std::string second = two.bytes();
  const MonoRecording recording = open({first, second});
  EXPECT_EQ(recording.first_time(), 5U);
  ASSERT_EQ(recording.streams().size(), 2U);
  EXPECT_EQ(recording.streams()[0].thread.pid, 9);
  ProblemLog problems;
  EXPECT_EQ(play_all(recording, problems),
            (std::vector<std::string>{"enter P:A () 8", "enter P:B () 9", "enter P:A () 12"}));
  EXPECT_EQ(recording.function_at(0, kMethods), recording.function_at(1, kMethods + 8));
  EXPECT_EQ(recording.info(1).records, 6U);
}

// In containers, all programs may have the id 1.
TEST(MonoRecording, ProcessesWithOneIdStayApart) {
  const auto process = [](uint64_t started) {
    MonoBuilder file(17);
    file.buffer(buffer_header(1, started));
    file.event(mono::Group::method, mono::info::kMethodJit, 1,
               mono::Jit{.method = kMethods, .code = 0x4000, .code_size = 8, .name = "P:A ()"});
    return file.bytes();
  };
  const std::string first = process(10);
  const std::string second = process(5000);
  const MonoRecording recording = open({first, second});
  ASSERT_EQ(recording.streams().size(), 2U);
  const ThreadKey thread = recording.streams()[0].thread;
  EXPECT_EQ(thread.process, 1U);
  EXPECT_EQ(recording.streams()[1].thread, (ThreadKey{thread.pid, thread.tid, 2}));
  struct Pieces : IgnoreEvents {
    void on(const PieceEvent& event) { processes.push_back(event.process); }
    void on(const CompiledEvent& event) {
      addresses.push_back(address_in(event.address, 48));
      distinct.insert(event.address);
    }
    std::vector<size_t> processes;
    std::vector<uint64_t> addresses;
    std::set<uint64_t> distinct;
  };
  Pieces pieces;
  ProblemLog problems;
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(recording.streams()[i].process, i);
    recording.play(i, 0, pieces, problems);
  }
  EXPECT_EQ(pieces.processes, (std::vector<size_t>{0, 1}));
  ASSERT_EQ(pieces.addresses.size(), 2U);
  EXPECT_EQ(pieces.addresses[0], pieces.addresses[1]);
  EXPECT_EQ(pieces.distinct.size(), 2U);
}

TEST(MonoRecording, CopiesCountOnce) {
  const std::string file = testing::every_mono_event(17).bytes();
  const MonoRecording once = open({file});
  const MonoRecording twice = open({std::string_view(file).substr(0, file.size() - 10), file});
  ProblemLog problems;
  EXPECT_EQ(play_all(twice, problems), play_all(once, problems));
  ASSERT_EQ(twice.problems().kept().size(), 1U);
  EXPECT_EQ(twice.problems().kept()[0].message, "a copy of f1, not counted again");
}

TEST(MonoRecording, ClockThatGoesBackIsHeldAndTold) {
  MonoBuilder file(17);
  file.buffer(buffer_header(1, 100)).jit(0, kMethods, "A").enter(5, kMethods);
  file.leave(~uint64_t{0} - 9, kMethods).enter(20, kMethods);
  const std::string bytes = file.bytes();
  ProblemLog problems;
  EXPECT_EQ(play_all(open({bytes}), problems),
            (std::vector<std::string>{"enter A 105", "leave A 105", "enter A 115"}));
  EXPECT_EQ(problems.count(), 1U);
  EXPECT_FALSE(problems.damaged());
}

// Calls must still be read: times and methods are deltas.
TEST(MonoRecording, ASinkThatIgnoresCallsHearsTheRestAsItIs) {
  MonoBuilder file(17);
  file.buffer(buffer_header(1, 100)).jit(0, kMethods, "A").jit(0, kMethods + 8, "B");
  for (int i = 0; i < 100; ++i) file.enter(5, kMethods).enter(3, kMethods + 8);
  file.leave(~uint64_t{0} - 9, kMethods + 8).leave(20, kMethods);
  const std::array<uint64_t, 2> stack = {kMethods + 8, kMethods};
  mono::Alloc allocation;
  allocation.type = kPointers;
  allocation.object = kObjects;
  allocation.size = 24;
  allocation.has_backtrace = true;
  allocation.backtrace = stack;
  file.event(mono::Group::alloc, mono::info::kAllocBacktrace, 7, allocation);
  const std::string bytes = file.bytes();
  const MonoRecording recording = open({bytes});
  struct Allocations : IgnoreEvents {
    const FunctionNames& names;
    std::vector<std::string> events;
    explicit Allocations(const FunctionNames& functions) : names(functions) {}
    void on(const AllocationEvent& event) {
      events.push_back(std::to_string(event.time));
      for (const FunctionId function : event.stack.functions)
        events.push_back(names.describe(function).name);
    }
  };
  static_assert(IgnoresCalls<Allocations> && !IgnoresCalls<EventLog>);
  Allocations sink(recording.functions());
  ProblemLog problems;
  recording.play(0, 0, sink, problems);
  // The clock goes back by ten nanoseconds, which is clamped, then forward by twenty and seven.
  EXPECT_EQ(sink.events, (std::vector<std::string>{"917", "B", "A"}));
  EXPECT_EQ(problems.count(), 1U);
}

// Every prefix of every sample yields its complete events and reports what is missing.
TEST(MonoRecording, EveryPrefix) {
  for (const testing::MonoSample& sample : testing::valid_mono_samples()) {
    const auto header = mono::read_file_header(as_bytes(sample.bytes));
    ASSERT_TRUE(header);
    std::vector<uint64_t> ends = {header->bytes};
    for (const auto& frame : mono::frame_file(as_bytes(sample.bytes), *header, "f").buffers)
      ends.push_back(frame.end);
    uint64_t records_before = 0;
    for (uint64_t size = header->bytes; size <= sample.bytes.size(); ++size) {
      const std::string_view cut = std::string_view(sample.bytes).substr(0, size);
      const MonoRecording recording = open({cut});
      const RecordingInfo info = recording.info(1);
      ASSERT_GE(info.records, records_before) << sample.name << " cut at " << size;
      records_before = info.records;
      const bool whole = std::ranges::find(ends, size) != ends.end();
      ASSERT_EQ(info.problems.damaged(), !whole) << sample.name << " cut at " << size;
      for (const Problem& problem : info.problems.kept()) ASSERT_LE(problem.offset, size);
      ProblemLog problems;
      play_all(recording, problems);
    }
  }
}

TEST(MonoRecording, InfoTakesFilters) {
  const std::string file = testing::every_mono_event(17).bytes();
  const MonoRecording recording = open({file});
  CallFilter filter;
  filter.threads.push_back({std::nullopt, 0x5000'0002});
  const RecordingInfo info = recording.info(1, filter);
  EXPECT_EQ(info.threads.size(), 1U);
  const auto kind = [&info](std::string_view name) {
    for (const auto& [known, count] : info.records_by_kind)
      if (known == name) return count;
    return uint64_t{0};
  };
  EXPECT_EQ(kind("Enter"), 3U);
  EXPECT_EQ(kind("Alloc"), 0U);
}

}  // namespace
}  // namespace telltale
