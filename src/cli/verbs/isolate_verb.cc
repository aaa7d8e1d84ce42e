// `telltale isolate`: many labelled runs, the predicates that predict failure.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/isolation/isolate.h"
#include "analysis/isolation/regression.h"
#include "base/counted.h"
#include "base/parallel.h"
#include "base/repeated_files.h"
#include "cli/options/changed_sources.h"
#include "cli/options/message.h"
#include "cli/options/output_option.h"
#include "cli/options/reading_options.h"
#include "cli/study/isolation_exports.h"
#include "cli/study/isolation_gate.h"
#include "cli/study/isolation_input.h"
#include "cli/study/isolation_page.h"
#include "cli/study/isolation_rows.h"
#include "cli/study/labelled_evidence.h"
#include "cli/study/nearest_same.h"
#include "cli/study/sources_of_runs.h"
#include "cli/verbs/verbs.h"
#include "import/study.h"

namespace telltale::cli {
namespace {

constexpr size_t kDefaultLimit = 20;
constexpr std::array kScores = {
    isolation::Score::importance,       isolation::Score::lower_bound,  isolation::Score::increase,
    isolation::Score::failure,          isolation::Score::failing_runs, isolation::Score::ochiai,
    isolation::Score::tarantula,        isolation::Score::dstar,        isolation::Score::op2,
    isolation::Score::balanced_accuracy};
constexpr std::array kDiscards = {isolation::Discard::all_runs, isolation::Discard::failing_runs,
                                  isolation::Discard::relabel};
constexpr std::array kIntervals = {isolation::IntervalMethod::score,
                                   isolation::IntervalMethod::normal};

struct IsolateOptions {
  IsolationSources sources;
  isolation::IsolationOptions isolation;
  std::string score = std::string(name_of(isolation::Score::importance));
  std::string discard = std::string(name_of(isolation::Discard::all_runs));
  std::string interval = std::string(name_of(isolation::IntervalMethod::score));
  std::vector<std::string> filters;
  uint64_t least_runs = 0;
  uint64_t limit = kDefaultLimit;
  uint64_t affinity = 0;
  uint64_t combine = 0;  // combinations to list
  uint64_t jobs = 0;
  uint64_t max_decompressed_bytes = 0;
  bool all = false;
  bool same = false;
  bool json = false;
  bool csv = false;
  bool sarif = false;
  bool annotations = false;
  bool dot = false;
  bool html = false;
  bool regression = false;
  std::string slow;  // "p99"; empty: labels by outcome
  std::string names = "short";
  std::string source;  // folder of the source that the page shows; empty: none
  std::string gate;    // a study, or the beginning of a build-id; empty: no gate
  bool strict = false;
  OutputOption output;
};

template <typename Values>
std::vector<std::string> names_of(const Values& values) {
  std::vector<std::string> names;
  for (const auto value : values) names.emplace_back(name_of(value));
  return names;
}

template <typename Values>
auto value_of(const Values& values, std::string_view name) {
  return *std::ranges::find(values, name, [](auto value) { return name_of(value); });
}

isolation::Filters filters_of(const std::vector<std::string>& names) {
  isolation::Filters filters;
  if (names.empty()) return filters;
  const auto has = [&](std::string_view name) {
    return std::ranges::find(names, name) != names.end();
  };
  filters.lower_bound = has("lower-bound");
  filters.universal_falsehood = has("universal-falsehood");
  filters.failing_coverage = has("lack-of-failing-coverage");
  filters.failing_example = has("lack-of-failing-example");
  filters.successful_counterexample = has("successful-counterexample");
  return filters;
}

void settle(IsolateOptions& options) {
  isolation::IsolationOptions& settled = options.isolation;
  settled.score = value_of(kScores, options.score);
  settled.discard = value_of(kDiscards, options.discard);
  settled.interval = value_of(kIntervals, options.interval);
  settled.filters = filters_of(options.filters);
  settled.least_runs = static_cast<uint32_t>(std::min<uint64_t>(options.least_runs, UINT32_MAX));
  settled.eliminate = !options.all;
  constexpr size_t kShownAffinity = 5;
  constexpr size_t kPredictorsWithAffinity = 100;  // for all of a long ranking it takes minutes
  settled.affinity = static_cast<size_t>(options.affinity);
  if ((options.dot || options.html) && settled.affinity == 0) {
    settled.affinity = kShownAffinity;
    settled.affinity_of = kPredictorsWithAffinity;
  }
  settled.workers = static_cast<size_t>(options.jobs);
  if (options.max_decompressed_bytes != 0)
    options.sources.limits.max_decompressed_bytes = options.max_decompressed_bytes;
}

// What kept the answer from being one, if anything did.
void remark(const LabelledEvidence& evidence, const IsolationRuns& runs) {
  const auto say = [](std::string_view text) { print_message("telltale: {}\n", text); };
  const RunsLeftOut left_out = runs_left_out(evidence);
  if (evidence.runs.empty()) {
    say("no run has a report of these programs");
  } else if (!evidence.note.empty()) {
    say(evidence.note);
  } else if (runs.failing == 0 && left_out.failing == 0) {
    say("no run failed, so there is nothing to explain");
  } else if (runs.successful == 0) {
    say(left_out.successful == 0
            ? "every run failed: without a run that passed, no predicate predicts failure"
            : "no run that passed has a report of these programs, so no predicate predicts "
              "failure");
  } else if (evidence.passed_deny_nothing && evidence.passed_have_lines) {
    say("the runs that passed say of no line that it did not run, so no predicate predicts "
        "failure: predicates are of whole lines, and what only the failed runs did may share its "
        "line with what all did");
  } else if (evidence.passed_deny_nothing) {
    say("the runs that passed left no paths to compare with: their calls had returned, and paths "
        "are those of calls that have not (--trace=cc_pt.schema also keeps which lines ran)");
  }
  if (left_out.failing != 0 && !evidence.runs.empty()) {
    say(fmt::format("{} left no report of these programs, so no predicate explains {}",
                    counted(left_out.failing, "failed run"),
                    left_out.failing == 1 ? "it" : "them"));
  }
}

Result<void> write_answer(const IsolateOptions& options, const IsolationAnswer& answer,
                          const LabelledEvidence& evidence) {
  Result<OutputFile> file = open_output(options.output);
  if (!file) return std::unexpected(file.error());
  if (options.html) {
    const PageFolders folders{options.source,
                              std::filesystem::path(options.output.path).parent_path().string()};
    PageSourceChecks checks;
    ProblemLog oddities;  // which are not told here
    if (!options.source.empty())
      checks.built = sources_of_runs(options.sources, *evidence.input, oddities);
    if (auto written = write_isolation_page(answer, evidence, folders, checks, *file); !written)
      return written;
    tell_changed_sources(checks.changed);
    return file->finish();
  }
  const ByteSink sink = [&file](std::string_view block) { return file->write(block); };
  BlockWriter out(sink);
  if (options.json) {
    write_isolation_json(answer, evidence.problems, out);
  } else if (options.csv) {
    write_isolation_csv(answer, out);
  } else if (options.sarif) {
    write_isolation_sarif(answer, static_cast<size_t>(options.limit), out);
  } else if (options.annotations) {
    write_isolation_annotations(answer, static_cast<size_t>(options.limit), out);
  } else if (options.dot) {
    write_isolation_dot(answer, static_cast<size_t>(options.limit), out);
  } else {
    write_isolation_text(answer, static_cast<size_t>(options.limit), options.same, out);
  }
  if (auto written = out.finish(); !written) return written;
  return file->finish();
}

int report_losses(const ProblemLog& problems, bool strict) {
  ReadingOptions options;
  options.strict = strict;
  return report_problems(options, problems, "telltale isolate --json");
}

// "p99" or "99.5" as a quantile. Errors: usage.
Result<double> parse_percentile(std::string_view text) {
  const std::string_view number = text.starts_with('p') ? text.substr(1) : text;
  double percent = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), percent);
  if (error != std::errc() || end != number.data() + number.size() ||
      !(percent > 0 && percent < 100))
    return usage_error(fmt::format("--slow needs a percentile such as p99, but got {}", text));
  return percent / 100;
}

// The best predicates of all that the filters leave.
std::vector<uint32_t> find_best(const IsolateOptions& options, const PredicateSet& predicates,
                                const LabelledEvidence& evidence, size_t limit) {
  isolation::IsolationOptions all = options.isolation;
  all.eliminate = false;
  all.affinity = 0;
  all.limit = limit;
  std::vector<uint32_t> best;
  for (const isolation::Predictor& predictor :
       isolation::isolate(predicates.table(), evidence.runs, all).predictors)
    best.push_back(predictor.predicate);
  return best;
}

std::optional<isolation::Regression> regress(const IsolateOptions& options,
                                             const PredicateSet& predicates,
                                             const LabelledEvidence& evidence) {
  constexpr size_t kMostParts = 1000;
  if (!options.regression) return std::nullopt;
  return isolation::fit_regression(predicates.table(), evidence.runs,
                                   find_best(options, predicates, evidence, kMostParts),
                                   options.isolation.workers);
}

// Combinations of the best predicates; pairs of all would be too many.
std::vector<isolation::Compound> combine(const IsolateOptions& options,
                                         const PredicateSet& predicates,
                                         const LabelledEvidence& evidence) {
  constexpr size_t kMostParts = 200;
  if (options.combine == 0) return {};
  return isolation::find_compounds(predicates.table(), evidence.runs,
                                   find_best(options, predicates, evidence, kMostParts),
                                   isolation::standard_deviations(options.isolation.confidence),
                                   static_cast<size_t>(options.combine));
}

int run(IsolateOptions& options) {
  settle(options);
  for (const std::vector<std::string>* inputs :
       {&options.sources.inputs, &options.sources.programs, &options.sources.failed,
        &options.sources.passed}) {
    if (const auto free = check_output(options.output, *inputs); !free)
      return report_error(free.error());
    if (const Result<void> once = refuse_repeated(*inputs); !once)
      return report_error(once.error());
  }
  if (!options.slow.empty()) {
    const Result<double> quantile = parse_percentile(options.slow);
    if (!quantile) return report_error(quantile.error());
    options.sources.slow = *quantile;
  }
  if (!options.gate.empty() && !is_study(options.gate)) options.sources.other_than = options.gate;
  const Result<LabelledEvidence> evidence =
      read_labelled_evidence(options.sources, options.isolation.workers);
  if (!evidence) return report_error(evidence.error());
  const PredicateSet& predicates = *evidence->predicates;
  options.isolation.first_true = evidence->first_true;
  options.isolation.rank = [&](uint32_t predicate) { return predicates.rank(predicate); };
  isolation::Isolation found =
      isolation::isolate(predicates.table(), evidence->runs, options.isolation);
  put_nearest_first(predicates, found);
  const IsolationRuns runs{found.runs.failing,
                           found.runs.successful,
                           evidence->input->skipped,
                           evidence->without_report,
                           evidence->unresolved,
                           evidence->input->other_clusters,
                           runs_left_out(*evidence).failing};
  const Result<void> written = write_answer(
      options,
      {predicates, found, options.isolation, runs, combine(options, predicates, *evidence),
       summarise_clusters(*evidence, found), regress(options, predicates, *evidence),
       options.names == "full" ? NameStyle::full : NameStyle::short_names},
      *evidence);
  if (!written) return report_error(written.error());
  remark(*evidence, runs);
  const int status = report_losses(evidence->problems, options.strict);
  if (options.gate.empty()) return status;
  const Result<bool> passed =
      passes_gate(options.gate, options.sources, options.isolation, *evidence, found);
  if (!passed) return report_error(passed.error());
  return !*passed && status == kDone ? kFinding : status;
}

void add_source_options(Command verb, IsolateOptions& options) {
  IsolationSources& sources = options.sources;
  verb.add_option(
          "STUDY", sources.inputs,
          "a study made by `telltale run --study`; a store made by `telltale collect`; or a "
          "list of runs, one per line: label (failed, passed, skipped), tab, path of the "
          "report; - means standard input")
      .type_name("STUDY");
  verb.add_option("--program", sources.programs,
                  "program or library that wrote the reports, its debug file, or its .sites file; "
                  "a study contains its sites. For recordings: program that names their functions")
      .type_name("BIN")
      .one_value_each();
  verb.add_option("--application", sources.application,
                  "of a store: only reports of this application")
      .type_name("NAME");
  verb.add_option("--build", sources.build, "only runs of builds whose id begins with this")
      .type_name("ID");
  verb.add_option("--cluster", sources.cluster,
                  "of the failed runs of studies, only those of the crash cluster whose id begins "
                  "with this")
      .type_name("ID");
  verb.add_option("--slow", options.slow,
                  "of studies: runs of which the time is above this percentile fail, such as p99; "
                  "the others pass, and crashes are skipped")
      .type_name("P");
  verb.add_option("--failed", sources.failed,
                  "reports or recordings of failed runs: a file, or all files of a folder")
      .type_name("PATH")
      .one_value_each();
  verb.add_option("--passed", sources.passed, "reports or recordings of runs that passed")
      .type_name("PATH")
      .one_value_each();
}

void add_method_options(Command verb, IsolateOptions& options) {
  verb.add_option("--score", options.score, "score that orders the predicates")
      .one_of(names_of(kScores))
      .show_default();
  verb.add_option("--discard", options.discard,
                  "runs in which a chosen predicate was true, before the next one is chosen: "
                  "discard all; discard the failing ones; or relabel the failing ones as passed")
      .one_of(names_of(kDiscards))
      .show_default();
  verb.add_flag("--all", options.all, "rank all predicates; discard no runs");
  verb.add_option("--filter", options.filters, "drop these predicates; default: lower-bound")
      .one_of({"lower-bound", "universal-falsehood", "lack-of-failing-coverage",
               "lack-of-failing-example", "successful-counterexample", "none"})
      .one_value_each();
  verb.add_option("--min-runs", options.least_runs, "drop predicates that were true in fewer runs")
      .type_name("N");
  verb.add_option("--interval", options.interval,
                  "how the confidence interval of Increase is computed; normal: as published")
      .one_of(names_of(kIntervals))
      .show_default();
  verb.add_option("--confidence", options.isolation.confidence, "confidence level of the interval")
      .in_range(0.0, 0.999999)
      .type_name("P")
      .show_default();
}

}  // namespace

void add_isolate_verb(Command app, int& status) {
  Command verb = app.add_verb(
      "isolate",
      "compare many runs that failed or passed: rank the predicates that predict failure");
  const auto options = std::make_shared<IsolateOptions>();
  add_source_options(verb, *options);
  add_method_options(verb, *options);
  verb.add_flag("--same", options->same,
                "list below each predictor the predicates that were true in the same runs");
  verb.add_option("--affinity", options->affinity,
                  "list for each predictor the N predicates that lose most importance without its "
                  "runs (--json, --dot, --html)")
      .type_name("N");
  verb.add_option("--combine", options->combine,
                  "list the N best conjunctions and disjunctions of two predicates (table, --json)")
      .type_name("N");
  verb.add_flag("--regression", options->regression,
                "rank the predicates by a logistic regression, too (table, --json)");
  add_limit_option(verb, options->limit, "rows of the table; 0: all").show_default();
  verb.add_option("--names", options->names, "names of functions in the table and the page")
      .one_of({"short", "full"})
      .show_default();
  verb.add_option("--jobs", options->jobs, "threads to work with; 0: one per core")
      .type_name("N")
      .in_range(uint64_t{0}, kMostWorkers);
  verb.add_option("--max-decompressed-bytes", options->max_decompressed_bytes,
                  "read compressed reports up to this size")
      .type_name("N");
  verb.add_flag("--strict", options->strict, "exit status 4 if a report is damaged or missing");
  verb.add_flag("--json", options->json, "print JSON");
  verb.add_flag("--csv", options->csv, "print CSV").excludes("--json");
  verb.add_flag("--sarif", options->sarif, "print SARIF 2.1.0, for code review tools")
      .excludes("--json")
      .excludes("--csv");
  verb.add_flag(
          "--annotations", options->annotations,
          "print workflow commands of GitHub Actions, which show predictors beside the source")
      .excludes("--json")
      .excludes("--csv")
      .excludes("--sarif");
  verb.add_flag("--dot", options->dot,
                "print a graph of the predictors and their affinity lists for Graphviz")
      .excludes("--json")
      .excludes("--csv")
      .excludes("--sarif")
      .excludes("--annotations");
  verb.add_flag("--html", options->html,
                "write a page with the predictors, their source and their runs")
      .excludes("--json")
      .excludes("--csv")
      .excludes("--sarif")
      .excludes("--annotations")
      .excludes("--dot");
  verb.add_option("--source", options->source,
                  "folder of the source shown by --html; files outside it are not read")
      .type_name("DIR")
      .needs("--html");
  verb.add_option("--gate", options->gate,
                  "exit status 1 if a predictor is new compared with this study, or with the runs "
                  "of this build (then the answer covers the other builds); if a failed run left "
                  "no report; or if no run passed")
      .type_name("STUDY|BUILD");
  for (const char* const form : {"--json", "--csv", "--sarif", "--annotations", "--dot"})
    verb.option("--names").excludes(form);
  add_output_option(verb, options->output).show_default();
  choose_form_by_name(verb,
                      {{kPageExtensions, "--html"},
                       {".json", "--json"},
                       {".csv", "--csv"},
                       {".sarif", "--sarif"},
                       {kDotExtensions, "--dot"}},
                      {"--annotations"});
  verb.callback([options, &status] { status = run(*options); });
}

}  // namespace telltale::cli
