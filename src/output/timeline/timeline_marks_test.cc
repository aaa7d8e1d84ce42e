#include "output/timeline/timeline_marks.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/scripted_source.h"

namespace telltale {
namespace {

using testing::ScriptedSource;

// Two threads of one process, one of another; the first event is at 100 ns.
ScriptedSource three_threads() {
  ScriptedSource source;
  source.starts_at(100);
  source.thread({.pid = 7, .tid = 70}, "main").enter(100, 1);
  source.thread({.pid = 7, .tid = 71}, "").enter(200, 1);
  source.thread({.pid = 8, .tid = 80}, "").enter(300, 1);
  return source;
}

std::string shown(const TimelineMarks::Track& track) {
  std::string text = track.name + ":";
  for (const TimelineMarks::Mark& mark : track.marks) {
    text += " " + std::to_string(mark.ns) + (mark.begin ? "(" + mark.name : ")");
  }
  return text;
}

TEST(TimelineMarks, ChromeEntriesAreThese) {
  const ScriptedSource source = three_threads();
  TimelineMarks marks;
  marks.tracks.push_back({.name = "a \"track\"",
                          .stream = 1,
                          .marks = {{1'002'003, true, "outer", {{"n", uint64_t{5}}}},
                                    {2'000'000, true, "inner", {{"t", "x\n"}, {"n", uint64_t{6}}}},
                                    {3'000'000, false, {}},
                                    {4'000'000, false, {}}}});
  marks.tracks.push_back({.name = "b", .stream = 2, .marks = {{5, true, "one"}, {6, false, {}}}});
  marks.instants.push_back({.ns = 7, .stream = 0, .name = "exception", .arguments = {{"at", "f"}}});
  marks.instants.push_back({.ns = 1'000, .stream = 2, .name = "exception"});
  marks.counters.push_back({"c", "bytes", 0, {{8, int64_t{-9}}, {10, 0.5}}});
  EXPECT_EQ(chrome_entries(marks, export_context(source)), R"(,
{"ph":"b","pid":7,"tid":71,"ts":1002.003,"name":"outer","cat":"a \"track\"","id":1,"args":{"n":5}},
{"ph":"b","pid":7,"tid":71,"ts":2000.000,"name":"inner","cat":"a \"track\"","id":1,"args":{"t":"x\n","n":6}},
{"ph":"e","pid":7,"tid":71,"ts":3000.000,"name":"inner","cat":"a \"track\"","id":1},
{"ph":"e","pid":7,"tid":71,"ts":4000.000,"name":"outer","cat":"a \"track\"","id":1},
{"ph":"b","pid":8,"tid":80,"ts":0.005,"name":"one","cat":"b","id":2},
{"ph":"e","pid":8,"tid":80,"ts":0.006,"name":"one","cat":"b","id":2},
{"ph":"i","pid":7,"tid":70,"ts":0.007,"name":"exception","s":"t","cat":"telltale.runtime","args":{"at":"f"}},
{"ph":"i","pid":8,"tid":80,"ts":1.000,"name":"exception","s":"t","cat":"telltale.runtime"},
{"ph":"C","pid":7,"tid":70,"ts":0.008,"name":"c","args":{"value":-9}},
{"ph":"C","pid":7,"tid":70,"ts":0.010,"name":"c","args":{"value":0.5}})");
}

// As those of the calls (text_calls.cc).
TEST(TimelineMarks, ChromeEntriesReplaceThreadIdsThatDoNotFit) {
  ScriptedSource source;
  source.thread({.pid = 7, .tid = 70}, "main").enter(100, 1);
  source.thread({.pid = 7, .tid = int64_t{1} << 40}, "").enter(200, 1);
  TimelineMarks marks;
  marks.instants.push_back({.ns = 7, .stream = 0, .name = "exception"});
  marks.instants.push_back({.ns = 8, .stream = 1, .name = "exception"});
  const std::string entries = chrome_entries(marks, export_context(source));
  EXPECT_NE(entries.find(R"("pid":7,"tid":70,"ts":0.007)"), std::string::npos) << entries;
  EXPECT_NE(entries.find(R"("pid":7,"tid":2,"ts":0.008)"), std::string::npos) << entries;
}

// The window includes its first nanosecond and excludes its last; times count from the first event.
TEST(TimelineMarks, HaveWhatBeginsWithinTheWindow) {
  const ScriptedSource source = three_threads();
  RuntimeTimeline timeline;
  for (const Ticks time : {109U, 110U, 119U, 120U}) {
    timeline.throws.push_back({.time = time, .stream = 0});
    timeline.waits.push_back({.begin = time, .end = time + 50, .stream = 1, .acquired = true});
    timeline.heap_sizes.push_back({.time = time, .bytes = time});
    timeline.shots.push_back(
        {.begin = time, .end = time + 1, .objects = 2, .bytes = 3, .ended = true});
  }
  CallFilter filter;
  filter.from_ns = 10;
  filter.to_ns = 20;
  const TimelineMarks marks = make_timeline_marks(timeline, filter, export_context(source));
  ASSERT_EQ(marks.instants.size(), 2U);
  EXPECT_EQ(marks.instants[0].ns, 10U);
  EXPECT_EQ(marks.instants[1].ns, 19U);
  ASSERT_EQ(marks.tracks.size(), 1U);
  // Slices of a track do not overlap: the second wait is shown when the first is over.
  EXPECT_EQ(shown(marks.tracks[0]), "Waiting for locks: 10(wait 60) 60(wait 69)");
  EXPECT_TRUE(marks.tracks[0].of_thread);
  ASSERT_EQ(marks.counters.size(), 3U);
  for (const TimelineMarks::Counter& counter : marks.counters) {
    ASSERT_EQ(counter.values.size(), 2U) << counter.name;
    EXPECT_EQ(counter.values[0].first, 10U);
    EXPECT_EQ(counter.values[1].first, 19U);
  }
}

TEST(TimelineMarks, PausesAreDividedWhereTheRecordingSaysHow) {
  const ScriptedSource source = three_threads();
  RuntimeTimeline timeline;
  timeline.pauses = {
      {.begin = 100,
       .stopped = 110,
       .restarting = 130,
       .end = 140,
       .generation = 1,
       .collections = 2},
      // Begins before the one above ends: not shown.
      {.begin = 139, .end = 150},
      // Times at the ends of the pause are within it.
      {.begin = 140, .stopped = 140, .restarting = 160, .end = 160},
      // The world cannot stop before the request, nor resume before it has stopped.
      {.begin = 200, .stopped = 199, .restarting = 205, .end = 210},
      {.begin = 300, .stopped = 305, .restarting = 304, .end = 310},
      {.begin = 400, .stopped = 411, .end = 410},
      {.begin = 500, .stopped = 505, .restarting = 511, .end = 510, .shutdown = true},
      {.begin = 550, .stopped = 560, .end = 560},
      {.begin = 600},  // the recording ends earlier
      {.begin = 120, .end = 125, .stream = 2},
  };
  const TimelineMarks marks = make_timeline_marks(timeline, {}, export_context(source));
  ASSERT_EQ(marks.tracks.size(), 2U);
  EXPECT_EQ(
      shown(marks.tracks[0]),
      "GC pauses: 0(pause 0(stopping threads 10) 10(world stopped 30) 30(restarting threads 40) 40)"
      " 40(pause 40(stopping threads 40) 40(world stopped 60) 60(restarting threads 60) 60)"
      " 100(pause 110)"
      " 200(pause 200(stopping threads 205) 210)"
      " 300(pause 310)"
      " 400(stop at the end 400(stopping threads 405) 410)"
      " 450(pause 450(stopping threads 460) 460)");
  const TimelineMarks::Arguments& first = marks.tracks[0].marks[0].arguments;
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(std::get<uint64_t>(first[0].second), 1U);
  EXPECT_EQ(std::get<uint64_t>(first[1].second), 2U);
  EXPECT_EQ(shown(marks.tracks[1]), "GC pauses: 20(pause 25)");
}

TEST(TimelineMarks, CollectionsHaveATrackForEachGenerationOfAProcess) {
  const ScriptedSource source = three_threads();
  RuntimeTimeline timeline;
  timeline.collections.resize(3);
  for (size_t i = 0; i < 3; ++i) {
    timeline.collections[i].begin = 100 + 10 * i;
    timeline.collections[i].end = 115 + 10 * i;
    timeline.collections[i].generation = i == 2 ? 1 : 0;
  }
  const TimelineMarks marks = make_timeline_marks(timeline, {}, export_context(source));
  ASSERT_EQ(marks.tracks.size(), 2U);
  EXPECT_EQ(shown(marks.tracks[0]),
            "GC collections, generation 0: 0(generation 0 15) 15(generation 0 25)");
  EXPECT_EQ(shown(marks.tracks[1]), "GC collections, generation 1: 20(generation 1 35)");
}

}  // namespace
}  // namespace telltale
