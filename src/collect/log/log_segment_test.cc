#include "collect/log/log_segment.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "bytes/as_bytes.h"
#include "collect/log/stored_ids.h"
#include "collect/log/stored_report.h"

namespace telltale::collect {
namespace {

using ::testing::ElementsAre;

std::string entry(std::string_view payload) { return entry_head(payload) + std::string(payload); }

std::vector<std::string> read(std::string_view file, ProblemLog& problems) {
  std::vector<std::string> payloads;
  SegmentReader reader(as_bytes(file), "segment", problems);
  while (const auto found = reader.next())
    payloads.emplace_back(reinterpret_cast<const char*>(found->payload.data()),
                          found->payload.size());
  return payloads;
}

TEST(Segment, IsReadAsItWasWritten) {
  ProblemLog problems;
  const std::string file = std::string(kSegmentHead) + entry("one") + entry("") + entry("three");
  EXPECT_THAT(read(file, problems), ElementsAre("one", "", "three"));
  EXPECT_EQ(problems.count(), 0U);
}

TEST(Segment, LosesOnlyEntriesThatAreDamaged) {
  const std::string first = std::string(kSegmentHead) + entry("one");
  const std::string second = entry("two");
  for (size_t at = first.size(); at < first.size() + second.size(); ++at) {
    std::string file = first + second + entry("three");
    file[at] ^= 0x10;
    ProblemLog problems;
    EXPECT_THAT(read(file, problems), ElementsAre("one", "three")) << at;
    ASSERT_EQ(problems.kept().size(), 1U);
    EXPECT_EQ(problems.kept()[0].kind, Problem::Kind::corruption);
    EXPECT_EQ(problems.kept()[0].offset, first.size());
    EXPECT_EQ(problems.kept()[0].lost_bytes, second.size());
  }
}

TEST(Segment, KeepsEverythingBeforeATornEnd) {
  const std::string whole = std::string(kSegmentHead) + entry("one");
  const std::string torn = entry("two");
  for (size_t size = 1; size < torn.size(); ++size) {
    ProblemLog problems;
    EXPECT_THAT(read(whole + torn.substr(0, size), problems), ElementsAre("one"));
    ASSERT_EQ(problems.kept().size(), 1U);
    EXPECT_EQ(problems.kept()[0].kind, Problem::Kind::torn_tail);
  }
}

TEST(Segment, ContainsEntriesBehindADamagedHead) {
  std::string file = std::string(kSegmentHead) + entry("one");
  file[3] = '!';
  ProblemLog problems;
  EXPECT_THAT(read(file, problems), ElementsAre("one"));
  EXPECT_TRUE(problems.damaged());
}

StoredReport stored_report() {
  StoredReport report;
  report.application = "app";
  report.build = "b1";
  report.id = "id-000001";
  report.label = RunLabel::skipped;
  report.rule = "command";
  report.status = 125;
  report.signal = "SIGSEGV";
  report.seconds = 0.25;
  report.started = "2026-11-22T22:44:17Z";
  report.sparsity = 100;
  report.seed = 0xfedcba9876543210;
  report.version = "1.2";
  report.received_us = 0x0123456789abcdef;
  report.content_hash = "0123456789abcdef";
  report.encoding = "zstd";
  report.body = std::string("\0body", 5);
  return report;
}

TEST(Payload, IsReadAsItWasWritten) {
  StoredReport without = stored_report();
  without.status.reset();
  without.seconds.reset();
  without.seed.reset();
  without.sparsity = 0;
  StoredReport with_paths = stored_report();
  with_paths.paths_bytes = 0x0123456789abcdef;
  for (const StoredReport& report : {stored_report(), without, with_paths}) {
    const std::string payload = to_payload(report);
    EXPECT_EQ(payload.front(), report.paths_bytes == 0 ? 1 : 2);
    const auto view = read_payload(as_bytes(payload));
    ASSERT_TRUE(view) << to_string(view.error());
    StoredReport back = view->head;
    back.body.assign(reinterpret_cast<const char*>(view->body.data()), view->body.size());
    EXPECT_EQ(back, report);
  }
}

TEST(Payload, IsRefusedAtEveryPrefixAndWithOtherNames) {
  StoredReport with_paths = stored_report();
  with_paths.paths_bytes = 1;
  for (const StoredReport& report : {stored_report(), with_paths}) {
    std::string payload = to_payload(report);
    for (size_t size = 0; size < payload.size(); ++size)
      EXPECT_FALSE(read_payload(as_bytes(payload).first(size))) << size;
    EXPECT_FALSE(read_payload(as_bytes(payload + "x")));
    payload.front() = 3;
    EXPECT_EQ(read_payload(as_bytes(payload)).error().cause, Error::Cause::unsupported_version);
  }
  StoredReport escaping = stored_report();
  escaping.application = "../app";
  EXPECT_FALSE(read_payload(as_bytes(to_payload(escaping))));
}

TEST(Day, IsTheOneInUtc) {
  EXPECT_EQ(day_of(0), "1970-01-01");
  EXPECT_EQ(day_of(1764028799999999), "2025-11-24");
  EXPECT_EQ(day_of(1764028800000000), "2025-11-25");
}

TEST(StoredIds, FindContentByName) {
  StoredIds ids;
  ids.add(std::vector<ReportKey>{{{1, 2}, 3}, {{0, 2}, 4}, {{1, 2}, 9}});
  ids.add({{7, 7}, 5});
  ids.add({{7, 7}, 6});
  EXPECT_EQ(ids.find({{1, 2}, 0}), 3U);
  EXPECT_EQ(ids.find({{0, 2}, 0}), 4U);
  EXPECT_EQ(ids.find({{7, 7}, 0}), 5U);
  EXPECT_EQ(ids.find({{2, 1}, 0}), std::nullopt);
  EXPECT_EQ(ids.size(), 3U);
}

TEST(StoredIds, StayFoundWhenTheyAreSettled) {
  StoredIds ids;
  constexpr uint64_t kMany = 120000;
  for (uint64_t i = 0; i < kMany; ++i) {
    ids.add({{i * 0x9e3779b97f4a7c15, i}, i});
    ids.settle();
  }
  EXPECT_EQ(ids.size(), kMany);
  for (uint64_t i = 0; i < kMany; i += 997)
    EXPECT_EQ(ids.find({{i * 0x9e3779b97f4a7c15, i}, 0}), i);
}

}  // namespace
}  // namespace telltale::collect
