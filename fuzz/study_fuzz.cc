// Studies and isolation: no crash; lists of runs are read as they are written; every figure is
// consistent with the others and with the counts that SamplerReports reads. An input is a runs.tsv,
// a stacks.tsv, or site information, a line "----", and reports with such lines between them, of
// which every second one is of a failed run.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/isolation/isolate.h"
#include "cli/study/isolation_exports.h"
#include "cli/study/isolation_rows.h"
#include "fuzz_checks.h"
#include "import/sampler/sampler_evidence.h"
#include "import/sampler/sampler_reports.h"
#include "import/study.h"
#include "import/study_stacks.h"

namespace {

using namespace telltale;
using isolation::Isolation;
using isolation::IsolationOptions;
using isolation::LabelledRun;
using isolation::PredicateCounts;

void check_runs(Bytes file) {
  ProblemLog problems;
  const auto runs = read_study_runs(file, "f", problems);
  fuzz::require_placed(problems, file);
  if (!runs) return;
  std::string again = study_runs_head();
  for (const StudyRun& run : *runs) again += to_line(run);
  ProblemLog none;
  const auto read = read_study_runs(as_bytes(again), "f", none);
  fuzz::require(read && none.count() == 0, "what is written is sound");
  fuzz::require(read->size() == runs->size(), "all runs are written");
}

void check_stacks(Bytes file) {
  ProblemLog problems;
  const auto stacks = read_study_stacks(file, "f", problems);
  fuzz::require_placed(problems, file);
  if (!stacks) return;
  std::string again = study_stacks_head();
  for (const auto& [run, stack] : *stacks) {
    again += to_lines(run, stack);
    fuzz::require(isolation::normalise_stack(stack).empty() == stack.empty(), "a stack has a name");
  }
  ProblemLog none;
  const auto read = read_study_stacks(as_bytes(again), "f", none);
  fuzz::require(read && none.count() == 0, "what is written is sound");
}

void check_counts(const PredicateCounts& counts, const isolation::RunCounts& all) {
  fuzz::require(counts.true_in.failing <= counts.observed_in.failing, "F <= Fo");
  fuzz::require(counts.true_in.successful <= counts.observed_in.successful, "S <= So");
  fuzz::require(counts.observed_in.failing <= all.failing, "Fo <= NumF");
  fuzz::require(counts.observed_in.successful <= all.successful, "So <= NumS");
  for (const auto method : {isolation::IntervalMethod::score, isolation::IntervalMethod::normal}) {
    const isolation::Interval interval = isolation::increase_interval(counts, 1.96, method);
    constexpr double kRounding = 1e-9;
    fuzz::require(interval.low <= isolation::increase(counts) + kRounding &&
                      isolation::increase(counts) <= interval.high + kRounding,
                  "the interval contains increase");
  }
}

void check_answer(const SamplerPredicates& predicates, const std::vector<LabelledRun>& runs,
                  const IsolationOptions& options) {
  const Isolation answer = isolation::isolate(predicates.table(), runs, options);
  uint64_t explained = 0;
  for (const isolation::Predictor& predictor : answer.predictors) {
    check_counts(predictor.counts, answer.runs);
    check_counts(predictor.effective_counts, predictor.effective_runs);
    explained += predictor.explained;
  }
  fuzz::require(explained + answer.unexplained == answer.runs.failing, "runs are explained once");
  const cli::IsolationAnswer told{predicates, answer, options, {}, {}};
  std::string out;
  const ByteSink sink = fuzz::into(out);
  BlockWriter writer(sink);
  cli::write_isolation_text(told, 0, true, writer);
  cli::write_isolation_csv(told, writer);
  cli::write_isolation_json(told, ProblemLog(), writer);
  cli::write_isolation_sarif(told, 0, writer);
  cli::write_isolation_dot(told, 0, writer);
  fuzz::require(writer.finish().has_value(), "writing");
}

// A run's predicates are true where SamplerReports has counts.
void check_run(const LabelledRun& run, const SamplerPredicates& predicates, std::string_view report,
               std::string_view sites) {
  std::vector<InputFile> inputs;
  inputs.push_back(InputFile::from_memory("report", as_bytes(report)));
  inputs.push_back(InputFile::from_memory("sites", as_bytes(sites)));
  const Result<SamplerReports> reports = SamplerReports::open(std::move(inputs), {});
  if (!reports) return;  // the text of a report does not look like one
  uint64_t observed = 0;
  reports->for_each_site(false, [&](const CountedSite& site) {
    if (!site.program.empty() && !site.scheme->bounds) observed += site.observed ? 1 : 0;
  });
  uint64_t seen = 0;
  run.evidence.for_each([&](uint32_t site, uint32_t) {
    fuzz::require(site < predicates.table().site_count(), "a site of the table");
    ++seen;
  });
  // Sites of schemes without predicates have counts, too.
  fuzz::require(seen <= observed, "what is observed has counts");
}

void check_study(std::string_view input) {
  constexpr std::string_view kCut = "\n----\n";
  std::vector<std::string_view> parts;
  while (true) {
    const size_t cut = input.find(kCut);
    parts.push_back(input.substr(0, cut == std::string_view::npos ? cut : cut + 1));
    if (cut == std::string_view::npos) break;
    input.remove_prefix(cut + kCut.size());
  }
  SamplerSites sites;
  ProblemLog problems;
  const auto added = sites.add(InputFile::from_memory("sites", as_bytes(parts[0])), problems);
  if (!added || !*added || parts.size() == 1) return;
  const SamplerPredicates predicates(sites);
  std::vector<RunReport> reports;
  for (size_t i = 1; i < parts.size(); ++i) reports.push_back({std::to_string(i), i % 2 == 0});
  const SamplerEvidence evidence = read_sampler_evidence(
      reports, sites, predicates,
      [&](const RunReport& report) -> Result<InputFile> {
        return InputFile::from_memory(report.path, as_bytes(parts[std::stoul(report.path)]));
      },
      1);
  fuzz::require(
      evidence.runs.size() + evidence.without_report + evidence.unresolved == reports.size(),
      "every report is counted");
  for (size_t i = 0; i < evidence.runs.size(); ++i)
    check_run(evidence.runs[i], predicates, parts[evidence.report_of_run[i] + 1], parts[0]);
  IsolationOptions options;
  options.affinity = 2;
  options.workers = 1;
  for (const auto discard : {isolation::Discard::all_runs, isolation::Discard::failing_runs,
                             isolation::Discard::relabel}) {
    options.discard = discard;
    check_answer(predicates, evidence.runs, options);
  }
  options.eliminate = false;
  options.filters.lower_bound = false;
  options.score = isolation::Score::dstar;
  check_answer(predicates, evidence.runs, options);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Bytes file = std::as_bytes(std::span(data, size));
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.starts_with("# telltale stacks")) {
    check_stacks(file);
  } else if (text.starts_with("# telltale")) {
    check_runs(file);
  } else {
    check_study(text);
  }
  return 0;
}
