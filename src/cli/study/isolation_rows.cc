#include "cli/study/isolation_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "output/json_writer.h"
#include "output/table/json_document.h"
#include "output/table/table.h"
#include "report/schemas/isolation_schemas.h"
#include "report/schemas/schemas.h"

namespace telltale::cli {
namespace {

using isolation::Affinity;
using isolation::Interval;
using isolation::PredicateCounts;
using isolation::Predictor;
using isolation::RunCounts;

// The scores of a predictor over all runs.
struct Scores {
  double importance = 0;
  double failure = 0;
  double context = 0;
  double increase = 0;
  Interval interval;
  double ochiai = 0;
  double tarantula = 0;
  double dstar = 0;
  double op2 = 0;
};

Scores scores_of(const IsolationAnswer& answer, const Predictor& predictor) {
  const PredicateCounts& counts = predictor.counts;
  const RunCounts& all = answer.isolation.runs;
  const double z = isolation::standard_deviations(answer.options.confidence);
  return {isolation::importance(counts, all),
          isolation::failure(counts),
          isolation::context(counts),
          isolation::increase(counts),
          isolation::increase_interval(counts, z, answer.options.interval),
          isolation::ochiai(counts, all),
          isolation::tarantula(counts, all),
          isolation::dstar(counts, all),
          isolation::op2(counts, all)};
}

std::string place_of(const PredicateWords& words) {
  return words.file.empty() ? "" : fmt::format("{}:{}", words.file, words.line);
}

void write_predicate(JsonWriter& json, const PredicateWords& words) {
  json.member("file", words.file).member("line", words.line);
  json.member("function", words.function).member("scheme", words.scheme);
  json.member("predicate", words.text);
}

void write_others(JsonWriter& json, const IsolationAnswer& answer, const Predictor& predictor) {
  json.key("same").begin_array();
  for (const uint32_t other : predictor.same) {
    json.begin_object();
    write_predicate(json, answer.predicates.describe(other));
    json.end_object();
  }
  json.end_array();
  json.key("affinity").begin_array();
  for (const Affinity& affinity : predictor.affinity) {
    json.begin_object();
    write_predicate(json, answer.predicates.describe(affinity.predicate));
    json.member("importance_before", affinity.before).member("importance_after", affinity.after);
    json.end_object();
  }
  json.end_array();
}

void write_row(JsonWriter& json, const IsolationAnswer& answer, size_t index) {
  const Predictor& predictor = answer.isolation.predictors[index];
  const Scores scores = scores_of(answer, predictor);
  json.begin_object();
  json.member("rank", index + 1);
  write_predicate(json, answer.predicates.describe(predictor.predicate));
  json.member("importance", scores.importance).member("failure", scores.failure);
  json.member("context", scores.context).member("increase", scores.increase);
  json.member("increase_low", scores.interval.low).member("increase_high", scores.interval.high);
  json.member("true_in_failing", predictor.counts.true_in.failing);
  json.member("true_in_successful", predictor.counts.true_in.successful);
  json.member("observed_in_failing", predictor.counts.observed_in.failing);
  json.member("observed_in_successful", predictor.counts.observed_in.successful);
  json.member("ochiai", scores.ochiai).member("tarantula", scores.tarantula);
  json.member("dstar", scores.dstar).member("op2", scores.op2);
  json.member("effective_score", predictor.effective_score);
  json.member("explained", predictor.explained);
  write_others(json, answer, predictor);
  json.end_object();
}

std::vector<Table::Cell> csv_cells(const IsolationAnswer& answer, size_t index) {
  const Predictor& predictor = answer.isolation.predictors[index];
  const PredicateWords words = answer.predicates.describe(predictor.predicate);
  const Scores scores = scores_of(answer, predictor);
  const auto number = [](uint64_t n) { return Table::Cell(n); };
  return {number(index + 1),
          std::string(words.file),
          number(words.line),
          std::string(words.function),
          std::string(words.scheme),
          words.text,
          scores.importance,
          scores.failure,
          scores.context,
          scores.increase,
          scores.interval.low,
          scores.interval.high,
          number(predictor.counts.true_in.failing),
          number(predictor.counts.true_in.successful),
          number(predictor.counts.observed_in.failing),
          number(predictor.counts.observed_in.successful),
          scores.ochiai,
          scores.tarantula,
          scores.dstar,
          scores.op2,
          predictor.effective_score,
          number(predictor.explained),
          {},   // same
          {}};  // affinity
}

std::string plural(uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

void write_head(const IsolationAnswer& answer, BlockWriter& out) {
  const IsolationRuns& runs = answer.runs;
  std::string line =
      fmt::format("{} failed, {} passed", plural(runs.failing, "run"), runs.successful);
  if (runs.skipped != 0) line += fmt::format(", {} skipped", runs.skipped);
  if (runs.without_report != 0) line += fmt::format(", {} without a report", runs.without_report);
  if (runs.unresolved != 0) line += fmt::format(", {} of another program", runs.unresolved);
  out.write(line + "\n");
  out.write(fmt::format("{}: true in a run {}, left by the filters {}\n",
                        plural(answer.predicates.table().predicate_count(), "predicate"),
                        answer.isolation.predicates_true, answer.isolation.candidates));
}

// Text output.
constexpr std::array kShownColumns = {
    field::number_id("rank", "From 1."),
    field::number("score", Unit::none, "The score that orders the predicates."),
    field::fraction("importance", "Harmonic mean of Increase and log(F) / log(failing runs)."),
    field::fraction("increase", "failure - context."),
    field::fraction("increase_low", "Lower end of its confidence interval.").titled("AT LEAST"),
    field::fraction("context", "Failing runs of those that observed its site."),
    field::count("true_in_failing", "Failing runs in which it was true.").titled("FAILED"),
    field::count("true_in_successful", "Successful runs in which it was true.").titled("PASSED"),
    field::count("explained", "Failing runs in which it was true and no earlier predictor.")
        .titled("EXPLAINS"),
    field::count("same", "Other predicates that were true in the same runs."),
    field::text("predicate", "The predicate as text."),
    field::text("function", "Function around the site."),
    field::text("place", "FILE:LINE."),
};

std::vector<Table::Cell> text_cells(const IsolationAnswer& answer, size_t index) {
  const Predictor& predictor = answer.isolation.predictors[index];
  const PredicateWords words = answer.predicates.describe(predictor.predicate);
  const Scores scores = scores_of(answer, predictor);
  return {uint64_t{index + 1},
          predictor.score,
          scores.importance,
          scores.increase,
          scores.interval.low,
          scores.context,
          uint64_t{predictor.counts.true_in.failing},
          uint64_t{predictor.counts.true_in.successful},
          uint64_t{predictor.explained},
          uint64_t{predictor.same.size()},
          words.text,
          std::string(words.function),
          place_of(words)};
}

// A predicate that was true in the runs of the predictor above it.
std::vector<Table::Cell> same_cells(const PredicateWords& words) {
  std::vector<Table::Cell> cells(kShownColumns.size() - 3);
  cells.insert(cells.end(), {words.text, std::string(words.function), place_of(words)});
  return cells;
}

}  // namespace

std::string_view name_of(isolation::Score score) {
  using isolation::Score;
  switch (score) {
    case Score::importance:
      return "importance";
    case Score::lower_bound:
      return "lower-bound";
    case Score::increase:
      return "increase";
    case Score::failure:
      return "failure";
    case Score::failing_runs:
      return "failing-runs";
    case Score::ochiai:
      return "ochiai";
    case Score::tarantula:
      return "tarantula";
    case Score::dstar:
      return "dstar";
    case Score::op2:
      return "op2";
  }
  return "";
}

std::string_view name_of(isolation::Discard discard) {
  using isolation::Discard;
  switch (discard) {
    case Discard::all_runs:
      return "all-runs";
    case Discard::failing_runs:
      return "failing-runs";
    case Discard::relabel:
      return "relabel";
  }
  return "";
}

std::string_view name_of(isolation::IntervalMethod method) {
  return method == isolation::IntervalMethod::score ? "score" : "normal";
}

void write_isolation_text(const IsolationAnswer& answer, size_t limit, bool same,
                          BlockWriter& out) {
  write_head(answer, out);
  const std::vector<Predictor>& predictors = answer.isolation.predictors;
  const size_t shown = limit == 0 ? predictors.size() : std::min(limit, predictors.size());
  TableSchema schema(kShownColumns);
  if (answer.options.score == isolation::Score::importance) schema.leave_out({"score"});
  Table table(schema);
  for (size_t i = 0; i < shown; ++i) {
    table.add_row(text_cells(answer, i));
    if (!same) continue;
    for (const uint32_t other : predictors[i].same)
      table.add_row(same_cells(answer.predicates.describe(other)));
  }
  if (shown != 0) table.write_text(out);
  if (shown < predictors.size())
    out.write(fmt::format("{} of {} rows; --limit 0 shows all\n", shown, predictors.size()));
  if (answer.isolation.unexplained != 0) {
    out.write(fmt::format("no predictor explains {} of {}\n", answer.isolation.unexplained,
                          plural(answer.isolation.runs.failing, "failed run")));
  }
}

void write_isolation_csv(const IsolationAnswer& answer, BlockWriter& out) {
  Table table(TableSchema(schemas::predictor_columns()).without({"same", "affinity"}));
  for (size_t i = 0; i < answer.isolation.predictors.size(); ++i)
    table.add_row(csv_cells(answer, i));
  table.write_csv(out);
}

void write_isolation_json(const IsolationAnswer& answer, const ProblemLog& problems,
                          BlockWriter& out) {
  JsonWriter json(out.block(), 2);
  begin_document(json, schemas::kIsolate, "");
  const IsolationRuns& runs = answer.runs;
  json.key("runs").begin_object();
  json.member("failing", runs.failing).member("successful", runs.successful);
  json.member("skipped", runs.skipped).member("without_report", runs.without_report);
  json.member("unresolved", runs.unresolved).end_object();
  json.member("predicates", answer.predicates.table().predicate_count());
  json.member("predicates_true", answer.isolation.predicates_true);
  json.member("candidates", answer.isolation.candidates);
  json.member("score", name_of(answer.options.score));
  json.member("discard", answer.options.eliminate ? name_of(answer.options.discard)
                                                  : std::string_view("none"));
  json.member("interval", name_of(answer.options.interval));
  json.member("confidence", answer.options.confidence);
  json.member("unexplained", answer.isolation.unexplained);
  json.key("rows").begin_array();
  for (size_t i = 0; i < answer.isolation.predictors.size(); ++i) {
    write_row(json, answer, i);
    out.flush_if_full();
  }
  json.end_array();
  end_document(json, problems);
}

}  // namespace telltale::cli
