#include "cli/study/isolation_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/joined.h"
#include "cli/study/shown_words.h"
#include "output/json_writer.h"
#include "output/table/object_writer.h"
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
  double balanced_accuracy = 0;
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
          isolation::op2(counts, all),
          isolation::balanced_accuracy(counts, all)};
}

// With the lines of the same code in older builds.
std::string place_of(const PredicateWords& words) {
  if (words.file.empty()) return "";
  std::string place = fmt::format("{}:{}", words.file, words.line);
  if (!words.other_lines.empty())
    place += fmt::format(" (before: {})", joined(words.other_lines, ", "));
  return place;
}

// Of schemas::predictor_columns(), up to the lists.
std::vector<Table::Cell> row_cells(const IsolationAnswer& answer, size_t index) {
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
          scores.balanced_accuracy,
          predictor.effective_score,
          number(predictor.explained)};
}

void write_other_lines(ObjectWriter& object, const PredicateWords& words) {
  object.list("other_lines", [&](ListWriter& lines) {
    for (const uint64_t line : words.other_lines) lines.value(line);
  });
}

void write_predicate(ObjectWriter& object, const PredicateWords& words) {
  object.add("file", words.file).add("line", words.line);
  object.add("function", words.function).add("scheme", words.scheme);
  object.add("predicate", words.text);
  write_other_lines(object, words);
}

void write_row(ObjectWriter& row, const IsolationAnswer& answer, size_t index) {
  const Predictor& predictor = answer.isolation.predictors[index];
  row.cells(row_cells(answer, index));
  write_other_lines(row, answer.predicates.describe(predictor.predicate));
  row.list("same", [&](ListWriter& others) {
    for (const uint32_t other : predictor.same) {
      others.row([&](ObjectWriter& object) {
        write_predicate(object, answer.predicates.describe(other));
      });
    }
  });
  row.list("affinity", [&](ListWriter& others) {
    for (const Affinity& affinity : predictor.affinity) {
      others.row([&](ObjectWriter& object) {
        write_predicate(object, answer.predicates.describe(affinity.predicate));
        object.add("importance_before", affinity.before);
        object.add("importance_after", affinity.after);
      });
    }
  });
}

void write_cluster(ObjectWriter& row, const ClusterSummary& summary) {
  row.add("cluster", summary.cluster->id).add("ending", summary.cluster->ending);
  row.add("stack", summary.cluster->stack).add("runs", summary.cluster->members.size());
  row.add("first_run", summary.first_run);
  row.list("predictors", [&](ListWriter& predictors) {
    for (const ClusterSummary::Truth& truth : summary.predictors) {
      predictors.row(
          [&](ObjectWriter& object) { object.add("rank", truth.rank).add("runs", truth.runs); });
    }
  });
}

std::string plural(uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

void write_head(const IsolationAnswer& answer, BlockWriter& out) {
  const IsolationRuns& runs = answer.runs;
  std::string line =
      fmt::format("{} failed, {} passed", plural(runs.failing, "run"), runs.successful);
  if (runs.skipped != 0) line += fmt::format(", {} skipped", runs.skipped);
  if (runs.other_clusters != 0)
    line += fmt::format(", {} of other crash clusters", runs.other_clusters);
  if (runs.without_report != 0) line += fmt::format(", {} without a report", runs.without_report);
  if (runs.unresolved != 0) line += fmt::format(", {} of another program", runs.unresolved);
  if (runs.failing_left_out != 0)
    line += fmt::format("; {} of these failed", runs.failing_left_out);
  out.write(line + "\n");
  out.write(fmt::format("{}: true in a run {}, left by the filters {}\n",
                        plural(answer.predicates.table().predicate_count(), "predicate"),
                        answer.isolation.predicates_true, answer.isolation.candidates));
  const BuildMatches builds = answer.predicates.builds();
  if (builds.builds == 0) return;
  out.write(fmt::format("{} builds: {} in several, {} of them on other lines; {} in one only",
                        builds.builds, plural(builds.sites_matched, "site"), builds.sites_moved,
                        builds.sites_unmatched));
  if (builds.sites_ambiguous != 0)
    out.write(fmt::format(", {} because builds state them a different number of times",
                          builds.sites_ambiguous));
  out.write("\n");
}

void write_builds(ObjectWriter& object, const BuildMatches& builds) {
  object.add("builds", builds.builds).add("sites_matched", builds.sites_matched);
  object.add("sites_moved", builds.sites_moved).add("sites_unmatched", builds.sites_unmatched);
  object.add("sites_ambiguous", builds.sites_ambiguous);
}

void write_compound(ObjectWriter& row, const IsolationAnswer& answer,
                    const isolation::Compound& compound) {
  row.add("operation", std::string_view(compound.conjunction ? "and" : "or"));
  row.add("importance", compound.importance).add("gain", compound.gain);
  row.add("true_in_failing", compound.counts.true_in.failing);
  row.add("true_in_successful", compound.counts.true_in.successful);
  row.add("observed_in_failing", compound.counts.observed_in.failing);
  row.add("observed_in_successful", compound.counts.observed_in.successful);
  row.list("parts", [&](ListWriter& parts) {
    for (const uint32_t part : {compound.left, compound.right}) {
      parts.row([&](ObjectWriter& one) { write_predicate(one, answer.predicates.describe(part)); });
    }
  });
}

Table compound_table(const IsolationAnswer& answer) {
  static constexpr std::array kColumns = {
      field::fraction("importance", "Of the combination."),
      field::fraction("gain", "Above the importance of the better part."),
      field::count("true_in_failing", "Failing runs in which it was true.").titled("FAILED"),
      field::count("true_in_successful", "Successful runs in which it was true.").titled("PASSED"),
      field::text("combination", "Two predicates, each with function and place."),
  };
  const auto part = [&](uint32_t predicate) {
    const PredicateWords words = answer.predicates.describe(predicate);
    const ShownWords shown = shown_words(words, answer.names);
    return fmt::format("{} ({}, {})", shown.text, shown.function, place_of(words));
  };
  Table table{TableSchema(kColumns)};
  for (const isolation::Compound& compound : answer.compounds) {
    table.add_row({compound.importance, compound.gain, uint64_t{compound.counts.true_in.failing},
                   uint64_t{compound.counts.true_in.successful},
                   fmt::format("{} {} {}", part(compound.left), compound.conjunction ? "and" : "or",
                               part(compound.right))});
  }
  return table;
}

void write_regression(ObjectWriter& object, const IsolationAnswer& answer) {
  const isolation::Regression& regression = *answer.regression;
  object.add("lambda", regression.lambda).add("folds", regression.folds);
  object.add("predicates", regression.parts).add("intercept", regression.intercept);
  object.list("coefficients", [&](ListWriter& rows) {
    for (const isolation::Coefficient& one : regression.coefficients) {
      rows.row([&](ObjectWriter& row) {
        row.add("coefficient", one.weight);
        row.add("true_in_failing", one.true_in.failing);
        row.add("true_in_successful", one.true_in.successful);
        write_predicate(row, answer.predicates.describe(one.predicate));
      });
    }
  });
}

void write_regression_text(const IsolationAnswer& answer, size_t limit, BlockWriter& out) {
  static constexpr std::array kColumns = {
      field::number("coefficient", Unit::none, "Logarithm of odds."),
      field::count("true_in_failing", "Failing runs in which it was true.").titled("FAILED"),
      field::count("true_in_successful", "Successful runs in which it was true.").titled("PASSED"),
      field::text("predicate", "The predicate as text."),
      field::text("function", "Function around the site."),
      field::text("place", "FILE:LINE."),
  };
  const isolation::Regression& regression = *answer.regression;
  const size_t all = regression.coefficients.size();
  const size_t shown = limit == 0 ? all : std::min(limit, all);
  out.write(
      fmt::format("\nregression: {} took part, {} a coefficient other than 0, lambda {:.3g}\n",
                  plural(regression.parts, "predicate"),
                  all == 1 ? "1 has" : fmt::format("{} have", all), regression.lambda));
  Table table{TableSchema(kColumns)};
  for (size_t i = 0; i < shown; ++i) {
    const isolation::Coefficient& one = regression.coefficients[i];
    const PredicateWords words = answer.predicates.describe(one.predicate);
    const ShownWords said = shown_words(words, answer.names);
    table.add_row({one.weight, uint64_t{one.true_in.failing}, uint64_t{one.true_in.successful},
                   said.text, said.function, place_of(words)});
  }
  if (shown != 0) table.write_text(out);
  if (shown < all) out.write(fmt::format("{} of {} rows; --limit 0 shows all\n", shown, all));
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
  const ShownWords shown = shown_words(words, answer.names);
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
          shown.text,
          shown.function,
          place_of(words)};
}

// A predicate that was true in the runs of the predictor above it.
std::vector<Table::Cell> same_cells(const PredicateWords& words, NameStyle names) {
  std::vector<Table::Cell> cells(kShownColumns.size() - 3);
  const ShownWords shown = shown_words(words, names);
  cells.insert(cells.end(), {shown.text, shown.function, place_of(words)});
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
    case Score::balanced_accuracy:
      return "balanced-accuracy";
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
      table.add_row(same_cells(answer.predicates.describe(other), answer.names));
  }
  if (shown != 0) table.write_text(out);
  if (shown < predictors.size())
    out.write(fmt::format("{} of {} rows; --limit 0 shows all\n", shown, predictors.size()));
  if (answer.isolation.unexplained != 0) {
    out.write(fmt::format("no predictor explains {} of {}\n", answer.isolation.unexplained,
                          plural(answer.isolation.runs.failing, "failed run")));
  }
  if (!answer.compounds.empty()) {
    out.write("\n");
    compound_table(answer).write_text(out);
  }
  if (answer.regression) write_regression_text(answer, limit, out);
  if (answer.clusters.empty()) return;
  out.write("\n");
  cluster_table(answer.clusters, limit).write_text(out);
  if (limit != 0 && limit < answer.clusters.size())
    out.write(fmt::format("{} of {} crash clusters\n", limit, answer.clusters.size()));
}

void write_isolation_csv(const IsolationAnswer& answer, BlockWriter& out) {
  Table table(
      TableSchema(schemas::predictor_columns()).without({"other_lines", "same", "affinity"}));
  for (size_t i = 0; i < answer.isolation.predictors.size(); ++i) {
    std::vector<Table::Cell> cells = row_cells(answer, i);
    cells.resize(schemas::predictor_columns().size());
    table.add_row(cells);
  }
  table.write_csv(out);
}

void write_isolation_json(const IsolationAnswer& answer, const ProblemLog& problems,
                          BlockWriter& out) {
  JsonWriter json(out.block(), 2);
  DocumentWriter document(json, schemas::kIsolate, "", &out);
  document.object("runs", [&](ObjectWriter& object) {
    const IsolationRuns& runs = answer.runs;
    object.add("failing", runs.failing).add("successful", runs.successful);
    object.add("skipped", runs.skipped).add("without_report", runs.without_report);
    object.add("unresolved", runs.unresolved).add("other_clusters", runs.other_clusters);
    object.add("failing_left_out", runs.failing_left_out);
  });
  const BuildMatches builds = answer.predicates.builds();
  if (builds.builds == 0) {
    document.add("builds", nullptr);
  } else {
    document.object("builds", [&](ObjectWriter& object) { write_builds(object, builds); });
  }
  document.add("predicates", answer.predicates.table().predicate_count());
  document.add("predicates_true", answer.isolation.predicates_true);
  document.add("candidates", answer.isolation.candidates);
  document.add("score", name_of(answer.options.score));
  document.add("discard", answer.options.eliminate ? name_of(answer.options.discard)
                                                   : std::string_view("none"));
  document.add("interval", name_of(answer.options.interval));
  document.add("confidence", answer.options.confidence);
  document.add("unexplained", answer.isolation.unexplained);
  document.list("rows", [&](ListWriter& rows) {
    for (size_t i = 0; i < answer.isolation.predictors.size(); ++i)
      rows.row([&](ObjectWriter& row) { write_row(row, answer, i); });
  });
  document.list("combinations", [&](ListWriter& combinations) {
    for (const isolation::Compound& compound : answer.compounds)
      combinations.row([&](ObjectWriter& row) { write_compound(row, answer, compound); });
  });
  if (answer.regression) {
    document.object("regression", [&](ObjectWriter& object) { write_regression(object, answer); });
  } else {
    document.add("regression", nullptr);
  }
  document.list("clusters", [&](ListWriter& clusters) {
    for (const ClusterSummary& cluster : answer.clusters)
      clusters.row([&](ObjectWriter& row) { write_cluster(row, cluster); });
  });
  document.finish(problems);
}

}  // namespace telltale::cli
