#include "collect/store/run_digest.h"

#include <gmock/gmock.h>

#include <random>
#include <string>
#include <vector>

#include "bytes/as_bytes.h"

namespace telltale::collect {
namespace {

using ::testing::ElementsAre;

const FileIdentity kReports{100, 1764000000123456789, 7};

// A run with what its views refer to.
struct OwnedRun {
  struct Section {
    std::string unit;
    std::string scheme;
    int32_t rows = 0;
    std::vector<int32_t> sites;
    std::vector<int16_t> counted;
    std::vector<int64_t> first;

    bool operator==(const Section&) const = default;
  };
  struct Bounds {
    std::string unit;
    uint64_t offset = 0;
    std::string body;

    bool operator==(const Bounds&) const = default;
  };

  OwnedRun() = default;
  explicit OwnedRun(const StoredRun& run)
      : id(run.id),
        label(run.label),
        bytes(run.bytes),
        damage(run.damage),
        rule(run.rule),
        status(run.status),
        signal(run.signal),
        backtrace(run.backtrace) {
    for (const StoredRun::Section& s : run.sections)
      sections.push_back({std::string(s.unit),
                          std::string(s.scheme),
                          s.rows,
                          {s.sites.begin(), s.sites.end()},
                          {s.counted.begin(), s.counted.end()},
                          {s.first.begin(), s.first.end()}});
    for (const StoredRun::Bounds& b : run.bounds)
      bounds.push_back({std::string(b.unit), b.offset, std::string(b.body)});
  }
  [[nodiscard]] StoredRun view() const {
    StoredRun run{id, label, bytes, damage, rule, status, signal, backtrace, {}, {}};
    for (const Section& s : sections)
      run.sections.push_back({s.unit, s.scheme, s.rows, s.sites, s.counted, s.first});
    for (const Bounds& b : bounds) run.bounds.push_back({b.unit, b.offset, b.body});
    return run;
  }
  bool operator==(const OwnedRun&) const = default;

  std::string id;
  std::string label = "passed";
  int64_t bytes = 0;
  int32_t damage = 0;
  std::string rule;
  int32_t status = -1;
  std::string signal;
  std::string backtrace;
  std::vector<Section> sections;
  std::vector<Bounds> bounds;
};

OwnedRun failed_run() {
  OwnedRun run;
  run.id = "run-1";
  run.label = "failed";
  run.bytes = 5'000'000'000;
  run.damage = 3;
  run.rule = "signal";
  run.status = 139;
  run.signal = "SIGSEGV";
  run.backtrace = "<report id=\"main-backtrace\">\n";
  run.sections.push_back(
      {"u1", "branches", 2000000000, {0, 1, 1999999999}, {1, 7, 32767}, {0, 5, 1}});
  run.sections.push_back({"u1", "returns", 3, {}, {}, {}});
  run.sections.push_back({"u2", "branches", 9, {8}, {8}, {}});
  run.bounds.push_back({"u1", 77, "1\t2\n"});
  return run;
}

std::optional<std::string> digest_of(const std::vector<OwnedRun>& runs) {
  RunDigestWriter writer;
  for (const OwnedRun& run : runs) writer.add(run.view());
  return writer.finish(kReports, true);
}

std::vector<OwnedRun> read(std::string_view digest) {
  std::vector<OwnedRun> runs;
  const auto done =
      read_digest(as_bytes(digest), [&](const StoredRun& run) { runs.emplace_back(run); });
  EXPECT_TRUE(done.has_value()) << to_string(done.error());
  return runs;
}

TEST(RunDigest, TellsWhetherRunsLeftPathFiles) {
  const OwnedRun run = failed_run();
  StoredRun with_paths = run.view();
  with_paths.has_paths = true;
  for (const bool has_paths : {false, true}) {
    RunDigestWriter writer;
    writer.add(StoredRun());
    if (has_paths) writer.add(with_paths);
    std::string digest = *writer.finish(kReports, false);
    EXPECT_EQ(is_digest_without_paths(as_bytes(digest), kReports), !has_paths);
    EXPECT_FALSE(is_digest_without_paths(as_bytes(digest), {1, 2, 3}));
    digest.back() = static_cast<char>(digest.back() + 1);
    EXPECT_FALSE(is_digest_without_paths(as_bytes(digest), kReports));
  }
}

TEST(RunDigest, HasWhatTheFileHas) {
  std::vector<OwnedRun> runs{failed_run(), OwnedRun(), failed_run()};
  runs[1].sections.push_back({"u2", "branches", 9, {3}, {1}, {}});
  const auto digest = digest_of(runs);
  ASSERT_TRUE(digest.has_value());
  EXPECT_TRUE(is_digest_of(as_bytes(*digest), kReports, true));
  EXPECT_EQ(read(*digest), runs);
  EXPECT_THAT(read(*digest_of({})), ElementsAre());
}

TEST(RunDigest, TimesOfOtherRunsAreLeftOut) {
  OwnedRun run = failed_run();
  run.label = "passed";
  const auto digest = digest_of({run});
  ASSERT_TRUE(digest.has_value());
  run.sections[0].first.clear();
  EXPECT_THAT(read(*digest), ElementsAre(run));
}

TEST(RunDigest, RandomObservations) {
  std::mt19937 random(1);
  const auto below = [&](int limit) {
    return static_cast<int>(random() % static_cast<unsigned>(limit));
  };
  std::vector<OwnedRun> runs(50);
  for (OwnedRun& run : runs) {
    run.label = below(2) == 0 ? "failed" : "passed";
    for (int i = below(5); i != 0; --i) {
      OwnedRun::Section& section = run.sections.emplace_back();
      section.unit = std::to_string(below(3));
      section.scheme = "branches";
      section.rows = 100000;
      for (int site = below(300); site < 5000; site += 1 + below(1 << below(10))) {
        section.sites.push_back(site);
        section.counted.push_back(static_cast<int16_t>(1 + below(1 << below(15))));
        if (run.label == "failed") section.first.push_back(static_cast<int64_t>(random()));
      }
    }
  }
  EXPECT_EQ(read(*digest_of(runs)), runs);
}

TEST(RunDigest, IsOfOneFileOnly) {
  const std::string digest = *digest_of({failed_run()});
  const auto is_of = [&](FileIdentity file) { return is_digest_of(as_bytes(digest), file, false); };
  EXPECT_TRUE(is_of(kReports));
  EXPECT_FALSE(is_of({kReports.bytes + 1, kReports.modified_ns, kReports.inode}));
  EXPECT_FALSE(is_of({kReports.bytes, kReports.modified_ns + 1, kReports.inode}));
  EXPECT_FALSE(is_of({kReports.bytes, kReports.modified_ns, kReports.inode + 1}));
}

TEST(RunDigest, WithoutBoundsIsOfNoUseIfTheyAreNeeded) {
  RunDigestWriter writer;
  writer.add(OwnedRun().view());
  const std::string digest = *writer.finish(kReports, false);
  EXPECT_TRUE(is_digest_of(as_bytes(digest), kReports, false));
  EXPECT_FALSE(is_digest_of(as_bytes(digest), kReports, true));
}

TEST(RunDigest, DamageIsNoticed) {
  const std::string digest = *digest_of({failed_run()});
  for (size_t size = 0; size < digest.size(); ++size)
    EXPECT_FALSE(is_digest_of(as_bytes(digest.substr(0, size)), kReports, false)) << size;
  for (size_t at = 0; at < digest.size(); ++at) {
    std::string damaged = digest;
    damaged[at] ^= 0x10;
    // The other bits of the flags have no meaning yet.
    const bool is_flags = at == digest.find("telltale digest 1\n") + 18 + 24;
    EXPECT_EQ(is_digest_of(as_bytes(damaged), kReports, false), is_flags) << at;
  }
}

TEST(RunDigest, ErrorsSayWhereInTheFile) {
  const std::string digest = *digest_of({failed_run()});
  const size_t head = digest_of({})->size();
  ASSERT_LT(head, digest.size());
  size_t errors = 0;
  for (size_t size = head; size < digest.size(); ++size) {
    const std::string torn = digest.substr(0, size);
    const auto done = read_digest(as_bytes(torn), [](const StoredRun&) {});
    if (done) continue;
    ++errors;
    EXPECT_EQ(done.error().cause, Error::Cause::truncated);
    EXPECT_EQ(done.error().record, "Digest");
    ASSERT_TRUE(done.error().offset.has_value());
    EXPECT_GE(*done.error().offset, head) << size;
    EXPECT_LE(*done.error().offset, size);
  }
  EXPECT_GT(errors, 0U);
}

TEST(RunDigest, ObservationsThatReadersComplainOfHaveNone) {
  const auto has_digest = [](const OwnedRun::Section& section) {
    OwnedRun run;
    run.label = "failed";
    run.sections.push_back(section);
    return digest_of({run}).has_value();
  };
  EXPECT_TRUE(has_digest({"u", "s", 9, {1, 2}, {1, 1}, {}}));
  EXPECT_FALSE(has_digest({"u", "s", 9, {2, 1}, {1, 1}, {}}));
  EXPECT_FALSE(has_digest({"u", "s", 9, {1, 1}, {1, 1}, {}}));
  EXPECT_FALSE(has_digest({"u", "s", 9, {-1}, {1}, {}}));
  EXPECT_FALSE(has_digest({"u", "s", 9, {1}, {0}, {}}));
  EXPECT_FALSE(has_digest({"u", "s", 9, {1}, {-1}, {}}));
  EXPECT_FALSE(has_digest({"u", "s", 9, {1}, {1, 1}, {}}));
  EXPECT_FALSE(has_digest({"u", "s", -1, {1}, {1}, {}}));
  EXPECT_FALSE(has_digest({"u", "s", 9, {1}, {1}, {-1}}));
}

}  // namespace
}  // namespace telltale::collect
