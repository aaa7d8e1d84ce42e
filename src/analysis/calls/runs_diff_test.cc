#include "analysis/calls/runs_diff.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/scripted_source.h"

namespace telltale {
namespace {

using Runs = std::vector<uint64_t>;

TEST(StudentQuantile, AgreesWithTables) {
  EXPECT_NEAR(student_quantile(1), 12.706, 0.001);
  EXPECT_NEAR(student_quantile(1.5), 6.017, 0.001);
  EXPECT_NEAR(student_quantile(2), 4.303, 0.001);
  EXPECT_NEAR(student_quantile(2.5), 3.575, 0.001);
  EXPECT_NEAR(student_quantile(4), 2.776, 0.001);
  EXPECT_NEAR(student_quantile(10), 2.228, 0.003);
  EXPECT_NEAR(student_quantile(20), 2.086, 0.001);
  EXPECT_NEAR(student_quantile(1000), 1.962, 0.001);
  EXPECT_GT(student_quantile(2.5), student_quantile(3));
}

TEST(CompareRuns, HasTheIntervalOfWelch) {
  // Logarithms 0, 1, 2 and 3, 4, 5: means 1 and 4, variance of each mean 1/3, freedom 4.
  const auto e = [](double power) {
    return static_cast<uint64_t>(std::llround(1e9 * std::exp(power)));
  };
  const RunsComparison compared = compare_runs(Runs{e(0), e(1), e(2)}, Runs{e(4), e(5), e(3)});
  EXPECT_NEAR(compared.ratio, std::exp(3), 1e-6);
  const double half = 2.7764 * std::sqrt(2.0 / 3);
  EXPECT_NEAR(compared.ratio_low, std::exp(3 - half), 1e-3);
  EXPECT_NEAR(compared.ratio_high, std::exp(3 + half), 0.2);
  EXPECT_EQ(compared.before.least, e(0));
  EXPECT_EQ(compared.before.median, e(1));
  EXPECT_EQ(compared.after.most, e(5));
}

TEST(CompareRuns, OneRunProvesNothingAndEqualOnesAreExact) {
  const RunsComparison single = compare_runs(Runs{10}, Runs{20, 20});
  EXPECT_NEAR(single.ratio, 2, 1e-9);
  EXPECT_EQ(single.ratio_low, 0);
  EXPECT_TRUE(std::isinf(single.ratio_high));
  const RunsComparison equal = compare_runs(Runs{10, 10}, Runs{20, 20});
  EXPECT_NEAR(equal.ratio_low, 2, 1e-9);
  EXPECT_NEAR(equal.ratio_high, 2, 1e-9);
  EXPECT_NEAR(compare_runs(Runs{0, 0}, Runs{1, 1}).ratio, 1, 1e-9) << "0 counts as 1";
}

TEST(RunsDiff, AlignsByNameAndCountsMissingFunctionsAsZero) {
  testing::ScriptedSource one;
  one.thread({1, 7}).enter(0, 1).enter(1, 2).leave(4, 2).leave(10, 1);
  testing::ScriptedSource two;
  two.name(5, {.name = "#1", .linkage_name = {}, .file = {}, .line = 0, .module = {}});
  two.thread({1, 7}).enter(0, 5).leave(8, 5);
  ProblemLog problems;
  const Profile p1 = compute_profile(one, {}, problems);
  const Profile p2 = compute_profile(two, {}, problems);
  const std::vector<RunProfile> before = {{p1, one.clock(), one.functions()},
                                          {p2, two.clock(), two.functions()}};
  const std::vector<RunProfile> after = {{p2, two.clock(), two.functions()}};
  const RunsDiff diff = make_runs_diff(before, after, NameStyle::full);
  ASSERT_EQ(diff.functions.size(), 2U);
  EXPECT_EQ(diff.functions[0].name, "#1");
  EXPECT_EQ(diff.functions[0].before.self_ns, (Runs{7, 8}));
  EXPECT_EQ(diff.functions[0].after.self_ns, (Runs{8}));
  EXPECT_EQ(diff.functions[1].name, "#2");
  EXPECT_EQ(diff.functions[1].before.calls, (Runs{1, 0}));
  EXPECT_EQ(diff.functions[1].after.calls, (Runs{0}));
  EXPECT_EQ(diff.whole.before.total_ns, (Runs{10, 8}));
}

}  // namespace
}  // namespace telltale
