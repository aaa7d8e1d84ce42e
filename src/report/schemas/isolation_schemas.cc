// Documents about many runs.
#include "report/schemas/isolation_schemas.h"

#include <array>

#include "report/schemas/schemas.h"

namespace telltale::schemas {
namespace {

using field::count;
using field::fraction;
using field::number;
using field::number_id;
using field::object;
using field::rows;
using field::text;

constexpr std::array kRuns = {
    count("failing", "Runs that failed."),
    count("successful", "Runs that passed."),
    count("skipped", "Runs that are labelled as neither."),
    count("without_report",
          "Runs whose report is missing, empty or unreadable, and that left no file of paths."),
    count("unresolved", "Reports of which no program has a unit."),
    count("other_clusters", "Failed runs that --cluster left out."),
    count("failing_left_out", "Of without_report and unresolved: runs that failed."),
};
constexpr std::array kBuilds = {
    count("builds", "Builds of one program; each has a site table."),
    count("sites_matched", "Sites that are the same code in several builds, each counted once."),
    count("sites_moved", "Of these, sites that are on different lines."),
    count("sites_unmatched", "Sites that only one build has."),
    count("sites_ambiguous",
          "Of these, sites whose statement other builds have a different number of times."),
};

constexpr Field kFile = text("file", "Source file.");
constexpr Field kLine = number_id("line", "Line in that file, in the newest build.");
constexpr Field kFunction = text("function", "Function around the site.");
constexpr Field kScheme = text("scheme", "Instrumentation scheme.");
constexpr Field kPredicate = text("predicate", "The predicate as text.");
constexpr Field kOtherLines =
    field::list_of("other_lines", ValueType::unsigned_integer,
                   "Other lines of the same code in older builds, the newest build first.");

constexpr std::array kPredicateColumns = {kFile,   kLine,      kFunction,
                                          kScheme, kPredicate, kOtherLines};
constexpr std::array kAffinityColumns = {
    kFile,
    kLine,
    kFunction,
    kScheme,
    kPredicate,
    kOtherLines,
    number("importance_before", Unit::none, "Importance over all runs."),
    number("importance_after", Unit::none, "Importance without the runs of the predictor."),
};
constexpr std::array kPredictorColumns = {
    number_id("rank", "From 1."),
    kFile,
    kLine,
    kFunction,
    kScheme,
    kPredicate,
    number("importance", Unit::none, "Harmonic mean of Increase and log(F) / log(failing runs)."),
    fraction("failure", "Failing runs of those in which it was true."),
    fraction("context", "Failing runs of those that observed its site."),
    fraction("increase", "failure - context."),
    fraction("increase_low", "Lower end of the confidence interval of increase."),
    fraction("increase_high", "Its upper end."),
    count("true_in_failing", "Failing runs in which it was true: F."),
    count("true_in_successful", "Successful runs in which it was true: S."),
    count("observed_in_failing", "Failing runs that observed its site."),
    count("observed_in_successful", "Successful runs that observed its site."),
    number("ochiai", Unit::none, "Ochiai's coefficient."),
    number("tarantula", Unit::none, "Tarantula's suspiciousness."),
    number("dstar", Unit::none, "D* with exponent 2; null: infinite.").or_null(),
    number("op2", Unit::none, "O^p, also called Op2."),
    fraction("balanced_accuracy",
             "Mean of the failing runs in which it was true and of the successful ones in which it "
             "was not, as fractions."),
    number("effective_score", Unit::none,
           "The score when it was chosen, after the runs of earlier predictors were discarded; "
           "null: infinite.")
        .or_null(),
    count("explained", "Failing runs in which it was true and no earlier predictor."),
    kOtherLines,
    rows("same", kPredicateColumns,
         "Other predicates that were true in the same runs; with --all they have rows of their "
         "own."),
    rows("affinity", kAffinityColumns,
         "With --affinity: predicates that lose importance without its runs, the largest loss "
         "first."),
};
constexpr std::array kCombinationColumns = {
    text("operation", "and, or."),
    number("importance", Unit::none, "Of the combination."),
    number("gain", Unit::none, "Above the importance of the better part."),
    count("true_in_failing", "Failing runs in which it was true."),
    count("true_in_successful", "Successful runs in which it was true."),
    count("observed_in_failing", "Failing runs that decided it."),
    count("observed_in_successful", "Successful runs that decided it."),
    rows("parts", kPredicateColumns, "The two predicates."),
};
constexpr std::array kCoefficientColumns = {
    number("coefficient", Unit::none, "Logarithm of odds; above 0 it predicts failure."),
    count("true_in_failing", "Failing runs in which it was true."),
    count("true_in_successful", "Successful runs in which it was true."),
    kFile,
    kLine,
    kFunction,
    kScheme,
    kPredicate,
    kOtherLines,
};
constexpr std::array kRegression = {
    number("lambda", Unit::none, "Weight of the penalty; 0: all runs have the same outcome."),
    count("folds", "Of the cross-validation that chose lambda; 0: too few runs of an outcome."),
    count("predicates", "That took part; of those that were true in the same runs, one."),
    number("intercept", Unit::none, "Logarithm of the odds if no predicate was true."),
    rows("coefficients", kCoefficientColumns, "Those that are not 0, the largest first."),
};
constexpr std::array kTruthColumns = {
    number_id("rank", "Of the predictor."),
    count("runs", "Runs of the cluster in which it was true."),
};
constexpr Field kCluster = text("cluster", "Its id; the same in all studies.");
constexpr Field kEnding =
    text("ending", "Signal, exit status, timeout, or the rule that labelled the runs.");
constexpr Field kStack =
    text("stack", "The innermost functions of the program, with < between two; empty: unknown.");
constexpr Field kFirstRun = number_id("first_run", "The smallest number of its runs.");
constexpr std::array kClusterColumns = {
    kCluster,
    kEnding,
    kStack,
    count("runs", "Failed runs."),
    kFirstRun,
    rows("predictors", kTruthColumns, "Predictors that were true in its runs, the most first."),
};
constexpr std::array kIsolateMembers = {
    object("runs", kRuns, "The runs that were given."),
    object("builds", kBuilds, "How sites of several builds were matched; null: there is one build.")
        .or_null(),
    count("predicates", "Predicates of all sites."),
    count("predicates_true", "Predicates that were true in a run."),
    count("candidates", "Predicates that the filters left."),
    text("score", "The score that orders the predicates."),
    text("discard", "What became of the runs of a chosen predicate; none with --all."),
    text("interval", "How the interval of increase was computed."),
    fraction("confidence", "Of that interval."),
    count("unexplained", "Failing runs in which no predictor was true."),
    rows("rows", kPredictorColumns, "Predictors of failure, the best first."),
    rows("combinations", kCombinationColumns,
         "With --combine: conjunctions and disjunctions that predict better than both parts."),
    object("regression", kRegression,
           "With --regression: a logistic regression of the outcome; null without.")
        .or_null(),
    rows("clusters", kClusterColumns,
         "Failed runs of studies by how they ended: the crash clusters, the largest first."),
};

constexpr std::array kStudyColumns = {
    text("build", "Build-id of the program, or what stands for it."),
    count("runs", "Its runs."),
    count("failed", "Runs that failed."),
    count("passed", "Runs that passed."),
    count("skipped", "Runs that are labelled as neither."),
    count("without_report",
          "Runs whose report is missing, empty or unreadable, and that left no file of paths."),
};
constexpr std::array kStudyClusterColumns = {
    kCluster, count("runs", "Failed runs."), kEnding, kStack, kFirstRun,
};
constexpr std::array kStudyMembers = {
    rows("rows", kStudyColumns, "A row for each build."),
    rows("clusters", kStudyClusterColumns,
         "Failed runs by how they ended: the crash clusters, the largest first."),
};

}  // namespace

std::span<const Field> predictor_columns() { return kPredictorColumns; }
std::span<const Field> study_columns() { return kStudyColumns; }
std::span<const Field> study_cluster_columns() { return kStudyClusterColumns; }

constinit const DocumentSchema kIsolate{"isolate", 1, "The predicates that predict failure.", false,
                                        kIsolateMembers};
constinit const DocumentSchema kStudy{"study", 1, "The runs of a study.", false, kStudyMembers};

}  // namespace telltale::schemas
