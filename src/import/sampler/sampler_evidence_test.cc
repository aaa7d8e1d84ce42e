#include "import/sampler/sampler_evidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "bytes/as_bytes.h"
#include "support/golden.h"

namespace telltale {
namespace {

using isolation::PredicateTally;

constexpr std::string_view kUnit = "0123456789abcdef0123456789abcdef";

// A site of each scheme.
std::string sites_text() {
  std::string text;
  const auto add = [&](std::string_view scheme, std::string_view rows) {
    text += std::string("<sites unit=\"") + std::string(kUnit) + "\" scheme=\"" +
            std::string(scheme) + "\">\n" + std::string(rows) + "</sites>\n";
  };
  add("branches", "a.c\t1\tf\t1\tx > y\na.c\t2\tf\t2\tp\n");
  add("returns", "a.c\t3\tf\t3\tread\n");
  add("scalar-pairs",
      "a.c\t4\tf\t4\tx\tlocal\tdirect\ty\tlocal\na.c\t5\tf\t5\tx\tlocal\tdirect\tx\tlocal\n");
  add("float-kinds", "a.c\t6\tf\t6\tz\tlocal\tdirect\n");
  add("g-object-unref", "a.c\t7\tf\t7\to\n");
  add("function-entries", "a.c\t8\tf\t0\n");
  add("coverage", "a.c\t9\tf\t9\treturn x;\n");
  add("data", "a.c\t10\tf\t10\tg\tread\n");
  add("atoms", "a.c\t11\tf\t11\tg\twrite\n");
  add("yields", "a.c\t12\tf\t12\tg = 1\n");
  add("fun-reentries", "a.c\t13\tf\t13\tf\n");
  add("bounds", "a.c\t14\tf\t14\tx\tlocal\tdirect\n");
  return text;
}

// The texts of runs, the first of which failed, joined with sites. Texts outlive it.
class Study {
 public:
  explicit Study(std::string_view sites) {
    const auto added =
        sites_.add(InputFile::from_memory("sites", as_bytes(sites)), evidence_.problems);
    EXPECT_TRUE(added && *added);
    predicates_ = std::make_unique<SamplerPredicates>(sites_);
  }
  SamplerEvidence& read(const std::vector<std::string>& texts, size_t workers = 1) {
    std::vector<RunReport> reports;
    for (size_t i = 0; i < texts.size(); ++i) reports.push_back({std::to_string(i), i == 0});
    evidence_ = read_sampler_evidence(
        reports, sites_, *predicates_,
        [&](const RunReport& report) -> Result<InputFile> {
          const std::string& text = texts[std::stoul(report.path)];
          if (text == "missing") return io_error(report.path, "is not there", ENOENT);
          return InputFile::from_memory(report.path, as_bytes(text));
        },
        workers);
    return evidence_;
  }
  // Texts of predicates that were true in the run.
  [[nodiscard]] std::vector<std::string> true_in(size_t run) const {
    std::vector<std::string> words;
    const std::vector<const isolation::LabelledRun*> one = {&evidence_.runs[run]};
    PredicateTally tally(predicates_->table());
    tally.add(one, 1);
    for (uint32_t i = 0; i < predicates_->table().predicate_count(); ++i) {
      if (tally.of(i).true_in.all() != 0) words.push_back(predicates_->describe(i).text);
    }
    return words;
  }
  [[nodiscard]] const SamplerPredicates& predicates() const { return *predicates_; }

 private:
  SamplerSites sites_;
  std::unique_ptr<SamplerPredicates> predicates_;
  SamplerEvidence evidence_;
};

std::string samples(std::string_view scheme, std::string_view rows, std::string_view unit = kUnit) {
  return std::string("<samples unit=\"") + std::string(unit) + "\" scheme=\"" +
         std::string(scheme) + "\">\n" + std::string(rows) + "</samples>\n";
}

std::string report(std::string_view body) {
  return "<report id=\"samples\">\n" + std::string(body) + "</report>\n";
}

using Words = std::vector<std::string>;

TEST(SamplerEvidence, PredicatesOfEachScheme) {
  const std::string sites = sites_text();
  Study study(sites);
  const auto told = [&](std::string_view scheme, std::string_view rows) {
    const std::vector<std::string> texts = {report(samples(scheme, rows))};
    study.read(texts);
    return study.true_in(0);
  };
  EXPECT_EQ(told("branches", "2\t0\n3\t1\n"), (Words{"x > y is FALSE", "p is FALSE", "p is TRUE"}));
  EXPECT_EQ(told("returns", "1\t0\t0\n"), (Words{"read < 0", "read != 0", "read <= 0"}));
  EXPECT_EQ(told("returns", "0\t7\t0\n"), (Words{"read >= 0", "read == 0", "read <= 0"}));
  EXPECT_EQ(told("scalar-pairs", "0\t0\t1\n1\t0\t0\n"),
            (Words{"x >= y", "x != y", "x > y", "new value of x < old value of x",
                   "new value of x != old value of x", "new value of x <= old value of x"}));
  const Words floats = told("float-kinds", "0\t0\t0\t0\t3\t0\t0\t0\t0\n");
  EXPECT_EQ(floats.size(), 9U);
  EXPECT_THAT(floats, ::testing::Contains("z is NaN"));
  EXPECT_THAT(floats, ::testing::Contains("z is not -Inf"));
  EXPECT_THAT(floats, ::testing::Not(::testing::Contains("z is not NaN")));
  EXPECT_EQ(told("g-object-unref", "0\t0\t0\t1\n"),
            (Words{"reference count of o not == 0", "reference count of o not == 1",
                   "reference count of o not > 1", "o is not a GObject"}));
  EXPECT_EQ(told("function-entries", "1\n"), (Words{"f entered"}));
  EXPECT_EQ(told("coverage", "5\n"), (Words{"return x; executed"}));
  EXPECT_EQ(told("data", "5\n"), (Words{"read of g"}));
  EXPECT_EQ(told("atoms", "0\t1\n"), (Words{"write of g: different thread"}));
  EXPECT_EQ(told("yields", "0\t1\n"), (Words{"yielded g = 1"}));
  EXPECT_EQ(told("fun-reentries", "0\t1\n"), (Words{"f re-entered"}));
  EXPECT_EQ(told("bounds", "0\t1\n"), Words());
  EXPECT_EQ(study.predicates().sites_without_predicates(), 1U);
  const PredicateWords words = study.predicates().describe(3);
  EXPECT_EQ(words.file, "a.c");
  EXPECT_EQ(words.line, 2U);
  EXPECT_EQ(words.function, "f");
  EXPECT_EQ(words.scheme, "branches");
}

// Ranks of comparisons: with a constant, of two variables for equality, and for order.
TEST(SamplerEvidence, AnOrderOfTwoVariablesTellsLeast) {
  const std::string sites = "<sites unit=\"" + std::string(kUnit) +
                            "\" scheme=\"scalar-pairs\">\n"
                            "a.c\t4\tf\t4\tp\tlocal\tdirect\tq\tlocal-init\n"
                            "a.c\t4\tf\t4\tp\tlocal\tdirect\t0\tconst\n</sites>\n";
  const Study study(sites);
  std::map<std::string, unsigned> ranks;
  for (uint32_t i = 0; i < study.predicates().table().predicate_count(); ++i)
    ranks[study.predicates().describe(i).text] = study.predicates().rank(i);
  EXPECT_EQ(ranks, (std::map<std::string, unsigned>{{"p < q", 2},
                                                    {"p >= q", 2},
                                                    {"p > q", 2},
                                                    {"p <= q", 2},
                                                    {"p == q", 1},
                                                    {"p != q", 1},
                                                    {"p < 0", 0},
                                                    {"p >= 0", 0},
                                                    {"p > 0", 0},
                                                    {"p <= 0", 0},
                                                    {"p == 0", 0},
                                                    {"p != 0", 0}}));
}

TEST(SamplerEvidence, RepeatedSectionsOfARunAreOneObservation) {
  const std::string sites = sites_text();
  Study study(sites);
  const std::vector<std::string> texts = {
      report(samples("branches", "1\t0\n0\t0\n") + samples("branches", "0\t1\n0\t0\n")) +
      report(samples("branches", "9\t0\n0\t2\n"))};
  const SamplerEvidence& evidence = study.read(texts);
  EXPECT_EQ(study.true_in(0), (Words{"x > y is FALSE", "x > y is TRUE", "p is TRUE"}));
  EXPECT_EQ(evidence.observations, 2U);
}

TEST(SamplerEvidence, RunsThatTellNothingAreCounted) {
  const std::string sites = sites_text();
  Study study(sites);
  const std::vector<std::string> texts = {
      "missing",
      "",
      report(samples("branches", "1\t0\n0\t0\n")),
      report(samples("branches", "1\t0\n", "ffffffffffffffffffffffffffffffff")),
      report(samples("returns", "0\t0\t0\n")),
      "\x7f random <bytes>\n\x01"};
  const SamplerEvidence& evidence = study.read(texts);
  EXPECT_EQ(evidence.without_report, 3U);
  EXPECT_EQ(evidence.unresolved, 1U);
  EXPECT_EQ(evidence.report_of_run, (std::vector<size_t>{2, 4}));
  EXPECT_FALSE(evidence.runs[0].failed);
  EXPECT_EQ(evidence.problems.damage_count(), 5U);
}

TEST(SamplerEvidence, SectionsWithoutAUnitAreNoEvidence) {
  Study study("<sites unit=\"\" scheme=\"data\">\na.c\t1\tf\t1\tx\tread\n</sites>\n");
  const SamplerEvidence& evidence =
      study.read({"<samples unit=\"\" scheme=\"data\">\n9\n</samples>\n"});
  EXPECT_EQ(evidence.runs.size(), 0U);
  EXPECT_EQ(evidence.unresolved, 1U);
}

TEST(SamplerEvidence, DamagedRowsAreLeftOutAndReported) {
  const std::string sites = sites_text();
  Study study(sites);
  const std::vector<std::string> texts = {
      report(samples("branches", "1\tx\n0\t1\n")), report(samples("branches", "0\t1\n")),
      report(samples("branches", "0\t1\n0\t0\n7\t7\n7\t7\n")),
      "<report id=\"samples\">\n<samples unit=\"" + std::string(kUnit) +
          "\" scheme=\"branches\">\n0\t1\n0\t"};
  const SamplerEvidence& evidence = study.read(texts);
  EXPECT_EQ(study.true_in(0), (Words{"p is TRUE"}));
  EXPECT_EQ(study.true_in(1), (Words{"x > y is TRUE"}));
  EXPECT_EQ(study.true_in(2), (Words{"x > y is TRUE"}));
  EXPECT_EQ(study.true_in(3), (Words{"x > y is TRUE"}));
  std::map<std::string, size_t> files;
  for (const Problem& problem : evidence.problems.kept()) ++files[problem.file];
  EXPECT_EQ(files.size(), 4U);
}

// A run that does not tell of a unit says nothing about its statements.
TEST(SamplerEvidence, OneCounterIsObservedByTheReport) {
  const std::string sites = sites_text();
  Study study(sites);
  const std::vector<std::string> texts = {report(samples("coverage", "1\n")),
                                          report(samples("coverage", "0\n")),
                                          report(samples("returns", "1\t0\t0\n"))};
  const SamplerEvidence& evidence = study.read(texts);
  PredicateTally tally(study.predicates().table());
  std::vector<const isolation::LabelledRun*> all;
  for (const isolation::LabelledRun& run : evidence.runs) all.push_back(&run);
  tally.add(all, 1);
  for (uint32_t i = 0; i < study.predicates().table().predicate_count(); ++i) {
    if (study.predicates().describe(i).scheme != "coverage") continue;
    EXPECT_EQ(tally.of(i), (isolation::PredicateCounts{{1, 0}, {1, 1}}));
  }
}

TEST(SamplerEvidence, APredicatesTimeIsKnownIfItWasAlwaysTrue) {
  const std::string sites = sites_text();
  Study study(sites);
  const auto times = [](std::string_view scheme, std::string_view rows) {
    return "<timestamps unit=\"" + std::string(kUnit) + "\" scheme=\"" + std::string(scheme) +
           "\" when=\"first\">\n" + std::string(rows) + "</timestamps>\n";
  };
  // Only the first run fails.
  const std::vector<std::string> texts = {
      report(samples("branches", "1\t0\n2\t1\n") + times("branches", "2\n3\n") +
             samples("returns", "4\t1\t0\n") + times("returns", "8\n")),
      report(samples("branches", "1\t0\n0\t1\n") + times("branches", "9\n1\n"))};
  const SamplerEvidence& evidence = study.read(texts);
  const isolation::SiteTable& table = study.predicates().table();
  ASSERT_EQ(evidence.first_true.size(), table.predicate_count());
  std::map<std::string, double> known;
  for (uint32_t i = 0; i < table.predicate_count(); ++i) {
    if (!std::isnan(evidence.first_true[i]))
      known[study.predicates().describe(i).text] = evidence.first_true[i];
  }
  // p has no entry, because it was both FALSE and TRUE.
  EXPECT_EQ(known, (std::map<std::string, double>{{"x > y is FALSE", 0.25}, {"read <= 0", 1}}));
  const std::vector<std::string> without = {report(samples("branches", "1\t0\n0\t1\n"))};
  EXPECT_TRUE(study.read(without).first_true.empty());
}

TEST(SamplerEvidence, TheNumberOfWorkersDoesNotMatter) {
  const std::string sites = testing::read_source_file("tests/golden/sampler/all_schemes.sites");
  const std::string whole = testing::read_source_file("tests/golden/sampler/all_schemes.report");
  std::vector<std::string> texts;
  for (size_t i = 0; i < 40; ++i) texts.push_back(whole.substr(0, whole.size() - i * 7));
  Study one(sites);
  Study three(sites);
  const SamplerEvidence& first = one.read(texts, 1);
  const SamplerEvidence& second = three.read(texts, 3);
  EXPECT_EQ(first.report_of_run, second.report_of_run);
  EXPECT_EQ(first.observations, second.observations);
  EXPECT_EQ(first.problems.count(), second.problems.count());
  for (size_t run = 0; run < first.runs.size(); ++run)
    EXPECT_EQ(one.true_in(run), three.true_in(run));
}

// Two builds; of the second, `g` is on another line and `new_one` has no other.
struct TwoBuilds {
  TwoBuilds(const char* first_name, const char* second_name) {
    const auto add = [&](const char* name, std::string_view text) {
      EXPECT_TRUE(sites.add(InputFile::from_memory(name, as_bytes(text)), problems).value());
    };
    add(first_name, kNewer);
    add(second_name, kOlder);
    predicates = std::make_unique<SamplerPredicates>(sites);
  }
  // The first report is of the newer build, and of a failed run; the second one of the older.
  SamplerEvidence read() {
    const std::vector<std::string> texts = {
        report(samples("branches", "1\t0\n0\t1\n1\t1\n") + samples("function-entries", "1\n1\n") +
               samples("bounds", "3\t9\n")),
        report(samples("branches", "0\t1\n1\t1\n", kOther) +
               samples("function-entries", "0\n", kOther) + samples("bounds", "1\t5\n", kOther))};
    const std::vector<RunReport> reports = {{"0", true, 1}, {"1", false, 2}};
    return read_sampler_evidence(
        reports, sites, *predicates,
        [&](const RunReport& of) -> Result<InputFile> {
          return InputFile::from_memory(of.path, as_bytes(texts[std::stoul(of.path)]));
        },
        1);
  }
  static constexpr std::string_view kOther = "ffffffffffffffffffffffffffffffff";
  static constexpr std::string_view kNewer =
      "<sites unit=\"0123456789abcdef0123456789abcdef\" scheme=\"branches\">\n"
      "a.c\t1\tf\t1\tp\na.c\t5\tf\t2\tnew_one\na.c\t9\tg\t1\tq\n</sites>\n"
      "<sites unit=\"0123456789abcdef0123456789abcdef\" scheme=\"function-entries\">\n"
      "a.c\t1\tf\t0\na.c\t8\tg\t0\n</sites>\n"
      "<sites unit=\"0123456789abcdef0123456789abcdef\" scheme=\"bounds\">\n"
      "a.c\t10\tg\t1\tx\tlocal\tdirect\n</sites>\n";
  static constexpr std::string_view kOlder =
      "<sites unit=\"ffffffffffffffffffffffffffffffff\" scheme=\"branches\">\n"
      "a.c\t7\tg\t1\tq\na.c\t1\tf\t1\tp\n</sites>\n"
      "<sites unit=\"ffffffffffffffffffffffffffffffff\" scheme=\"function-entries\">\n"
      "a.c\t6\tg\t0\n</sites>\n"
      "<sites unit=\"ffffffffffffffffffffffffffffffff\" scheme=\"bounds\">\n"
      "a.c\t8\tg\t1\tx\tlocal\tdirect\n</sites>\n";
  SamplerSites sites;
  ProblemLog problems;
  std::unique_ptr<SamplerPredicates> predicates;
};

TEST(SamplerEvidence, SitesOfSeveralBuildsAreOne) {
  TwoBuilds builds("new/prog", "old/prog");
  const SamplerEvidence evidence = builds.read();
  const isolation::SiteTable& table = builds.predicates->table();
  EXPECT_EQ(table.site_count(), 5);  // three branches, two entries
  EXPECT_EQ(builds.predicates->range_site_count(), 1);
  const BuildMatches matches = builds.predicates->builds();
  EXPECT_EQ(matches.builds, 2);
  EXPECT_EQ(matches.sites_matched, 4);
  EXPECT_EQ(matches.sites_moved, 3);
  EXPECT_EQ(matches.sites_unmatched, 2);
  EXPECT_EQ(matches.sites_ambiguous, 0);
  PredicateTally tally(table);
  const std::vector<const isolation::LabelledRun*> runs = {&evidence.runs[0], &evidence.runs[1]};
  tally.add(runs, 1);
  std::map<std::string, std::string> told;
  for (uint32_t i = 0; i < table.predicate_count(); ++i) {
    const auto counts = tally.of(i);
    const PredicateWords words = builds.predicates->describe(i);
    std::string text = std::to_string(words.line);
    for (const uint64_t line : words.other_lines) text += " and " + std::to_string(line);
    text += ": " + std::to_string(counts.true_in.failing) + "/" +
            std::to_string(counts.true_in.successful) + " of " +
            std::to_string(counts.observed_in.failing) + "/" +
            std::to_string(counts.observed_in.successful);
    told[words.text] = text;
  }
  EXPECT_EQ(told, (std::map<std::string, std::string>{{"p is FALSE", "1: 1/1 of 1/1"},
                                                      {"p is TRUE", "1: 0/1 of 1/1"},
                                                      {"new_one is FALSE", "5: 0/0 of 1/0"},
                                                      {"new_one is TRUE", "5: 1/0 of 1/0"},
                                                      {"q is FALSE", "9 and 7: 1/0 of 1/1"},
                                                      {"q is TRUE", "9 and 7: 1/1 of 1/1"},
                                                      {"f entered", "1: 1/0 of 1/0"},
                                                      {"g entered", "8 and 6: 1/0 of 1/1"}}));
  ASSERT_EQ(evidence.ranges[1].size(), 1);
  EXPECT_EQ(evidence.ranges[0][0].site, evidence.ranges[1][0].site);
  EXPECT_EQ(builds.predicates->describe_range(0).other_lines, std::vector<uint64_t>{8});
}

TEST(SamplerEvidence, ProgramsOfOtherNamesAreNoBuilds) {
  TwoBuilds parts("prog", "library");
  EXPECT_EQ(parts.predicates->table().site_count(), 8);
  EXPECT_EQ(parts.predicates->range_site_count(), 2);
  EXPECT_EQ(parts.predicates->builds().builds, 0);
}

}  // namespace
}  // namespace telltale
