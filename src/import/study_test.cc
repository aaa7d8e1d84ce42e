#include "import/study.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "bytes/as_bytes.h"

namespace telltale {
namespace {

std::vector<StudyRun> runs_of(const std::string& text, ProblemLog& problems) {
  const auto runs = read_study_runs(as_bytes(text), "runs.tsv", problems);
  EXPECT_TRUE(runs) << to_string(runs.error());
  return runs ? *runs : std::vector<StudyRun>();
}

StudyRun sample(uint64_t number) {
  return {number,
          RunLabel::failed,
          "signal",
          {},
          "SIGSEGV",
          0.25,
          "2026-01-02T03:04:05Z",
          "0123ab",
          100,
          18446744073709551615U,
          "./a 'b c'",
          "1.4"};
}

TEST(StudyRuns, HaveVersions) {
  StudyRun run = sample(1);
  run.version = "1.4\t2";
  ProblemLog problems;
  const auto runs = runs_of(study_runs_head() + to_line(run) + to_line(sample(2)), problems);
  ASSERT_EQ(runs.size(), 2);
  EXPECT_EQ(runs[0].version, "1.4 2");
  EXPECT_EQ(runs[1].version, sample(2).version);
  EXPECT_EQ(problems.count(), 0);
}

TEST(StudyRuns, OfEarlierFilesHaveNone) {
  std::string head = study_runs_head();
  head.replace(head.find("\tversion\n"), std::string("\tversion").size(), "");
  std::string old = to_line(sample(1));
  old.erase(old.rfind('\t'));
  ProblemLog problems;
  // Later rows of such a file have one.
  StudyRun later = sample(2);
  later.version = "1.5";
  const auto runs = runs_of(head + old + "\n" + to_line(later), problems);
  ASSERT_EQ(runs.size(), 2);
  EXPECT_EQ(runs[0].command, sample(1).command);
  EXPECT_EQ(runs[0].version, "");
  EXPECT_EQ(runs[1].version, "1.5");
  EXPECT_EQ(problems.count(), 0);
  // Fields more or fewer are none of both.
  EXPECT_EQ(runs_of(head + "1" + old.substr(0, old.rfind('\t')) + "\n", problems).size(), 0);
  EXPECT_EQ(runs_of(head + old + "\ta\tb\n", problems).size(), 0);
  EXPECT_EQ(problems.count(), 2);
}

TEST(StudyRuns, AreReadAsTheyWereWritten) {
  StudyRun passed = sample(2);
  passed.label = RunLabel::passed;
  passed.status = 0;
  passed.signal = "";
  ProblemLog problems;
  const auto runs = runs_of(
      study_runs_head() + to_line(sample(1)) + to_line(passed) + to_line(sample(3)), problems);
  EXPECT_EQ(runs, (std::vector<StudyRun>{sample(1), passed, sample(3)}));
  EXPECT_EQ(problems.count(), 0U);
}

TEST(StudyRuns, AreOrderedByNumberAndTheLastOfOneNumberStays) {
  StudyRun later = sample(1);
  later.label = RunLabel::skipped;
  ProblemLog problems;
  const auto runs = runs_of(
      study_runs_head() + to_line(sample(2)) + to_line(sample(1)) + to_line(later), problems);
  EXPECT_EQ(runs, (std::vector<StudyRun>{later, sample(2)}));
  EXPECT_EQ(problems.count(), 1U);
  EXPECT_FALSE(problems.damaged());
}

TEST(StudyRuns, ATornRowCostsOnlyItself) {
  const std::string whole = study_runs_head() + to_line(sample(1)) + to_line(sample(2));
  const size_t second = whole.size() - to_line(sample(2)).size();
  for (size_t cut = second + 1; cut < whole.size(); ++cut) {
    ProblemLog problems;
    EXPECT_EQ(runs_of(whole.substr(0, cut), problems), (std::vector<StudyRun>{sample(1)}));
    ASSERT_EQ(problems.kept().size(), 1U);
    EXPECT_EQ(problems.kept()[0].kind, Problem::Kind::torn_tail);
    EXPECT_EQ(problems.kept()[0].offset, second);
  }
}

TEST(StudyRuns, RowsThatAreNoRunsAreReported) {
  ProblemLog problems;
  const std::string good = to_line(sample(1));
  std::string bad_label = good;
  bad_label.replace(bad_label.find("failed"), 6, "broken");
  const auto runs = runs_of(study_runs_head() + "\n" + bad_label + good + "1\t2\n" +
                                good.substr(0, good.size() - 1) + "\textra\n",
                            problems);
  EXPECT_EQ(runs, (std::vector<StudyRun>{sample(1)}));
  EXPECT_EQ(problems.damage_count(), 4U);
}

TEST(StudyRuns, FieldsCannotBreakRows) {
  StudyRun run = sample(1);
  run.command = "a\tb\nc\rd";
  ProblemLog problems;
  const auto runs = runs_of(study_runs_head() + to_line(run), problems);
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].command, "a b c d");
}

TEST(StudyRuns, OfAnotherFile) {
  ProblemLog problems;
  for (const std::string text : {"", "# telltale study 2\n", "run\tlabel\n"}) {
    const auto runs = read_study_runs(as_bytes(text), "runs.tsv", problems);
    ASSERT_FALSE(runs);
    EXPECT_EQ(runs.error().cause, Error::Cause::bad_magic);
  }
}

std::vector<StudyRun> timed(const std::vector<double>& times) {
  std::vector<StudyRun> runs;
  for (const double seconds : times) {
    runs.push_back(sample(runs.size() + 1));
    runs.back().signal = "";
    runs.back().status = 0;
    runs.back().seconds = seconds;
  }
  return runs;
}

std::vector<RunLabel> labels(const std::vector<StudyRun>& runs) {
  std::vector<RunLabel> all;
  for (const StudyRun& run : runs) all.push_back(run.label);
  return all;
}

TEST(SlowRuns, FailAboveTheQuantile) {
  using enum RunLabel;
  std::vector<StudyRun> runs = timed({1, 5, 2, 9, 3});
  label_slow(runs, 0.8);  // the fourth of five times is 5
  EXPECT_EQ(labels(runs), (std::vector{passed, passed, passed, failed, passed}));
  EXPECT_EQ(runs[3].rule, "slow");
  label_slow(runs, 0.99);
  EXPECT_EQ(labels(runs), (std::vector(5, passed)));
  label_slow(runs, 0.01);
  EXPECT_EQ(labels(runs), (std::vector{passed, failed, failed, failed, failed}));
}

TEST(SlowRuns, AreComparedWithRunsOfTheirBuild) {
  std::vector<StudyRun> runs = timed({1, 2, 30, 40});
  runs[2].build = runs[3].build = "other";
  label_slow(runs, 0.5);
  using enum RunLabel;
  EXPECT_EQ(labels(runs), (std::vector{passed, failed, passed, failed}));
}

TEST(SlowRuns, CrashesSayNothingButTimeoutsDo) {
  std::vector<StudyRun> runs = timed({1, 1, 9, 9});
  runs[2].signal = "SIGSEGV";
  runs[3].signal = "SIGTERM";
  runs[3].rule = "timeout";
  label_slow(runs, 0.5);
  using enum RunLabel;
  EXPECT_EQ(labels(runs), (std::vector{passed, passed, skipped, failed}));
}

TEST(SlowRuns, AreNotComparedWithCrashes) {
  std::vector<StudyRun> runs = timed({1, 2, 3, 4, 9, 9, 9, 9});
  for (size_t i = 4; i < runs.size(); ++i) runs[i].signal = "SIGSEGV";
  label_slow(runs, 0.5);
  using enum RunLabel;
  EXPECT_EQ(labels(runs),
            (std::vector{passed, passed, failed, failed, skipped, skipped, skipped, skipped}));
}

}  // namespace
}  // namespace telltale
