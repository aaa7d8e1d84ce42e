#include "import/study_stacks.h"

#include <gtest/gtest.h>

#include <string>

#include "bytes/as_bytes.h"

namespace telltale {
namespace {

using isolation::StackFrame;

const std::vector<StackFrame> kStack = {{"", "", 0, "/lib/libc.so.6"},
                                        {"merge(int, char)", "a b.c", 17, "/opt/prog"}};

StudyStacks read(const std::string& text, ProblemLog& problems) {
  const auto stacks = read_study_stacks(as_bytes(text), "stacks.tsv", problems);
  EXPECT_TRUE(stacks) << to_string(stacks.error());
  return stacks ? *stacks : StudyStacks();
}

TEST(StudyStacks, AreReadAsTheyWereWritten) {
  ProblemLog problems;
  const StudyStacks stacks =
      read(study_stacks_head() + to_lines(3, kStack) + to_lines(2, {kStack[1]}), problems);
  EXPECT_EQ(stacks, (StudyStacks{{2, {kStack[1]}}, {3, kStack}}));
  EXPECT_EQ(problems.count(), 0U);
}

TEST(StudyStacks, TheLastStackOfARunStays) {
  ProblemLog problems;
  EXPECT_EQ(read(study_stacks_head() + to_lines(3, kStack) + to_lines(3, {kStack[1]}), problems),
            (StudyStacks{{3, {kStack[1]}}}));
}

TEST(StudyStacks, TabsAndLineEndsInNamesAreBlanks) {
  ProblemLog problems;
  const StudyStacks stacks =
      read(study_stacks_head() + to_lines(1, {{"a\tb\nc", "d\re", 1, "m"}}), problems);
  EXPECT_EQ(stacks, (StudyStacks{{1, {{"a b c", "d e", 1, "m"}}}}));
}

TEST(StudyStacks, DamagedRowsAreProblems) {
  for (const char* row :
       {"1\t1\tf\t\t0\tm\n", "1\t0\tf\t\t0\n", "x\t0\tf\t\t0\tm\n", "1\t0\tf\t\tx\tm\n"}) {
    ProblemLog problems;
    read(study_stacks_head() + row + to_lines(2, kStack), problems);
    EXPECT_EQ(problems.damage_count(), 1U) << row;
  }
  ProblemLog problems;
  const StudyStacks stacks = read(study_stacks_head() + to_lines(2, kStack) + "3\t0", problems);
  EXPECT_EQ(stacks, (StudyStacks{{2, kStack}}));
  EXPECT_EQ(problems.kept().front().kind, Problem::Kind::torn_tail);
  EXPECT_FALSE(read_study_stacks(as_bytes(std::string_view("run\n")), "x", problems));
}

StudyRun run_of(std::string rule, std::optional<int> status, std::string signal) {
  StudyRun run;
  run.number = 3;
  run.rule = std::move(rule);
  run.status = status;
  run.signal = std::move(signal);
  return run;
}

TEST(Crashes, EndBySignalStatusOrRule) {
  const StudyStacks stacks = {{3, kStack}};
  EXPECT_EQ(crash_of(run_of("signal", {}, "SIGSEGV"), stacks).ending, "SIGSEGV");
  EXPECT_EQ(crash_of(run_of("signal", {}, "SIGSEGV"), stacks).stack, kStack);
  EXPECT_EQ(crash_of(run_of("command", {}, "SIGSEGV"), stacks).ending, "SIGSEGV");
  EXPECT_EQ(crash_of(run_of("status", 3, ""), {}).ending, "status 3");
  EXPECT_EQ(crash_of(run_of("output", 0, ""), {}).ending, "output");
  EXPECT_TRUE(crash_of(run_of("signal", {}, "SIGSEGV"), {}).by_signal);
  EXPECT_TRUE(crash_of(run_of("status", 134, ""), {}).by_signal);
  EXPECT_FALSE(crash_of(run_of("status", 3, ""), {}).by_signal);
  EXPECT_FALSE(crash_of(run_of("output", 0, ""), {}).by_signal);
}

TEST(Crashes, OfATimeoutHaveItsStack) {
  const isolation::Crash crash = crash_of(run_of("timeout", {}, "SIGTERM"), {{3, kStack}});
  EXPECT_EQ(crash.ending, "timeout");
  EXPECT_EQ(crash.stack, kStack);
}

}  // namespace
}  // namespace telltale
