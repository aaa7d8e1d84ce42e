#include "cli/study/isolation_gate.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "base/folder_access.h"
#include "base/joined.h"
#include "cli/options/message.h"
#include "import/predicate_set.h"
#include "import/study.h"
#include "output/escape.h"

namespace telltale::cli {
namespace {

// Where a predicate was that predicted failure before, and what it said.
struct KnownPredictor {
  std::set<uint64_t> lines;
  std::string text;
};

// The predicates that predicted failure before, by themselves or together with others.
using Baseline = std::map<PredicateStatement, KnownPredictor>;

Result<Baseline> find_baseline(const std::string& gate, IsolationSources sources,
                               const isolation::IsolationOptions& options) {
  if (auto allowed = check_folder_access(gate); !allowed) return std::unexpected(allowed.error());
  if (is_study(gate)) {
    sources.inputs = {gate};
    sources.failed = {};
    sources.passed = {};
    sources.build = {};
    sources.other_than = {};
    sources.cluster = {};
  } else {
    sources.build = gate;
    sources.other_than = {};
  }
  const Result<LabelledEvidence> evidence = read_labelled_evidence(sources, options.workers);
  if (!evidence) return std::unexpected(evidence.error());
  if (evidence->input->reports.empty())
    return usage_error("--gate needs a study, or a build of the studies, but got " + gate);
  isolation::IsolationOptions all = options;
  all.eliminate = false;
  all.affinity = 0;
  all.first_true = evidence->first_true;
  Baseline baseline;
  for (const isolation::Predictor& predictor :
       isolation::isolate(evidence->predicates->table(), evidence->runs, all).predictors) {
    const PredicateWords words = evidence->predicates->describe(predictor.predicate);
    KnownPredictor& known = baseline[statement_of(words)];
    known.lines.insert(words.line);
    known.lines.insert(words.other_lines.begin(), words.other_lines.end());
    known.text = words.text;
  }
  return baseline;
}

// Names predictors that the baseline has not on standard error, and those that it has on other
// lines or with another number; how many the former are.
size_t count_new(const Baseline& baseline, const PredicateSet& predicates,
                 const isolation::Isolation& found) {
  size_t count = 0;
  for (const isolation::Predictor& predictor : found.predictors) {
    const PredicateWords words = predicates.describe(predictor.predicate);
    const std::string named = visible(
        fmt::format("{} in {} ({}:{})", words.text, words.function, words.file, words.line));
    const auto known = baseline.find(statement_of(words));
    if (known == baseline.end()) {
      ++count;
      print_message("telltale: gate: new predictor: {}\n", named);
      continue;
    }
    if (!known->second.lines.contains(words.line)) {
      print_message("telltale: gate: known predictor moved: {}, before at line {}\n", named,
                    joined(known->second.lines, ", "));
    }
    if (known->second.text != words.text) {
      print_message("telltale: gate: known predictor has another number: {}, before: {}\n", named,
                    visible(known->second.text));
    }
  }
  return count;
}

// Predictors cannot tell whether runs fail for a new reason if runs that failed left nothing that
// could be compared, or if no run that passed did.
bool is_comparable(const LabelledEvidence& evidence, const isolation::Isolation& found) {
  if (evidence.runs.empty()) return false;
  const uint64_t left_out = runs_left_out(evidence).failing;
  if (found.runs.failing + left_out == 0) return true;
  return left_out == 0 && found.runs.successful != 0 && evidence.note.empty() &&
         !evidence.passed_deny_nothing;
}

}  // namespace

Result<bool> passes_gate(const std::string& gate, const IsolationSources& sources,
                         const isolation::IsolationOptions& options,
                         const LabelledEvidence& evidence, const isolation::Isolation& found) {
  const Result<Baseline> baseline = find_baseline(gate, sources, options);
  if (!baseline) return std::unexpected(baseline.error());
  const bool comparable = is_comparable(evidence, found);
  if (!comparable) {
    print_message("telltale: gate: not passed: {} can be compared\n",
                  evidence.runs.empty() ? "no run" : "not all failed runs");
  }
  return count_new(*baseline, *evidence.predicates, found) == 0 && comparable;
}

}  // namespace telltale::cli
