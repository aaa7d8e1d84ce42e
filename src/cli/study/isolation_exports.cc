#include "cli/study/isolation_exports.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "cli/version.h"
#include "output/escape.h"
#include "output/json_writer.h"

namespace telltale::cli {
namespace {

using isolation::Affinity;
using isolation::Predictor;

constexpr uint32_t kFewRuns = 10;

// A path as a URI (RFC 3986): other characters than unreserved ones and / are escaped.
std::string uri_of(std::string_view path) {
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~/").contains(c);
    if (plain) {
      uri += c;
    } else {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return uri;
}

std::string rule_of(const PredicateWords& words) {
  return fmt::format("failure-predictor/{}", words.scheme);
}

// Names without a file, such as those of recorded calls, have no physical location: an empty URI
// would be the log itself.
void write_location(JsonWriter& json, const PredicateWords& words) {
  if (!words.file.empty()) {
    json.key("physicalLocation").begin_object();
    json.key("artifactLocation").begin_object().member("uri", uri_of(words.file)).end_object();
    if (words.line != 0)
      json.key("region").begin_object().member("startLine", words.line).end_object();
    json.end_object();
  }
  json.key("logicalLocations").begin_array().begin_object();
  json.member("name", words.function).member("kind", "function").end_object().end_array();
}

// Stays the same if lines move, and if other runs give another number.
std::string fingerprint_of(const PredicateWords& words) {
  return fmt::format("{}", fmt::join(statement_of(words), ":"));
}

void write_result(JsonWriter& json, const IsolationAnswer& answer, const Predictor& predictor,
                  size_t rule) {
  const PredicateWords words = answer.predicates.describe(predictor.predicate);
  const auto& truth = predictor.counts.true_in;
  const double importance = isolation::importance(predictor.counts, answer.isolation.runs);
  const bool weak = truth.all() < kFewRuns;
  json.begin_object();
  json.member("ruleId", rule_of(words)).member("ruleIndex", rule);
  json.member("kind", weak ? "review" : "fail").member("level", weak ? "none" : "warning");
  json.key("message").begin_object();
  json.member("text", fmt::format("{} predicts failure: true in {} failed and {} passed runs, "
                                  "importance {:.3f}",
                                  words.text, truth.failing, truth.successful, importance));
  json.end_object();
  json.member("rank", 100 * importance);
  json.key("locations").begin_array().begin_object();
  write_location(json, words);
  json.end_object().end_array();
  if (!predictor.same.empty()) {
    json.key("relatedLocations").begin_array();
    for (const uint32_t other : predictor.same) {
      const PredicateWords same = answer.predicates.describe(other);
      json.begin_object();
      write_location(json, same);
      json.key("message").begin_object();
      json.member("text", same.text + ", in the same runs").end_object();
      json.end_object();
    }
    json.end_array();
  }
  json.key("partialFingerprints").begin_object();
  json.member("telltalePredicate/v1", fingerprint_of(words)).end_object();
  json.key("properties").begin_object();
  json.member("true_in_failing", truth.failing).member("true_in_successful", truth.successful);
  json.member("observed_in_failing", predictor.counts.observed_in.failing);
  json.member("observed_in_successful", predictor.counts.observed_in.successful);
  json.member("explained", predictor.explained).end_object();
  json.end_object();
}

size_t count_shown(const IsolationAnswer& answer, size_t limit) {
  const size_t all = answer.isolation.predictors.size();
  return limit == 0 ? all : std::min(limit, all);
}

// Text in a workflow command of GitHub Actions; a property ends at commas and colons, too.
std::string workflow_text(std::string_view text, bool is_property) {
  std::string escaped;
  for (const char c : visible(text)) {
    if (c == '%' || c == '\r' || c == '\n' || (is_property && (c == ':' || c == ','))) {
      escaped += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string node_label(const PredicateWords& words) {
  if (words.file.empty()) return fmt::format("{} ({})", words.text, words.function);
  return fmt::format("{} ({}, {}:{})", words.text, words.function, words.file, words.line);
}

}  // namespace

void write_isolation_sarif(const IsolationAnswer& answer, size_t limit, BlockWriter& out) {
  const size_t shown = count_shown(answer, limit);
  std::map<std::string, size_t> rules;
  std::vector<std::string> names;
  for (size_t i = 0; i < shown; ++i) {
    const Predictor& predictor = answer.isolation.predictors[i];
    const std::string rule = rule_of(answer.predicates.describe(predictor.predicate));
    if (rules.try_emplace(rule, names.size()).second) names.push_back(rule);
  }
  JsonWriter json(out.block(), 6);
  json.begin_object();
  json.member("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
  json.member("version", "2.1.0");
  json.key("runs").begin_array().begin_object();
  json.key("tool").begin_object().key("driver").begin_object();
  json.member("name", "telltale").member("version", version_number());
  json.key("rules").begin_array();
  for (const std::string& rule : names) {
    json.begin_object().member("id", rule).key("shortDescription").begin_object();
    json.member("text", "A predicate that is true more often in runs that fail than in others.");
    json.end_object().end_object();
  }
  json.end_array().end_object().end_object();
  json.member("columnKind", "unicodeCodePoints");
  json.key("results").begin_array();
  for (size_t i = 0; i < shown; ++i) {
    const Predictor& predictor = answer.isolation.predictors[i];
    const std::string rule = rule_of(answer.predicates.describe(predictor.predicate));
    write_result(json, answer, predictor, rules.at(rule));
    out.flush_if_full();
  }
  json.end_array();
  json.end_object().end_array().end_object();
  out.write("\n");
}

void write_isolation_annotations(const IsolationAnswer& answer, size_t limit, BlockWriter& out) {
  for (size_t i = 0; i < count_shown(answer, limit); ++i) {
    const Predictor& predictor = answer.isolation.predictors[i];
    const PredicateWords words = answer.predicates.describe(predictor.predicate);
    const auto& truth = predictor.counts.true_in;
    const double importance = isolation::importance(predictor.counts, answer.isolation.runs);
    std::string line = truth.all() < kFewRuns ? "::notice " : "::warning ";
    if (!words.file.empty()) {
      line += fmt::format("file={},", workflow_text(words.file, true));
      if (words.line != 0) line += fmt::format("line={},", words.line);
    }
    line += fmt::format("title=Predictor {} of failure::", i + 1);
    line += workflow_text(
        fmt::format("{} in {}: true in {} failed and {} passed runs, importance "
                    "{:.1f} %",
                    words.text, words.function, truth.failing, truth.successful, 100 * importance),
        false);
    out.write(line + "\n");
  }
}

void write_isolation_dot(const IsolationAnswer& answer, size_t limit, BlockWriter& out) {
  const size_t shown = count_shown(answer, limit);
  out.write("digraph affinity {\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\"];\n");
  std::map<uint32_t, bool> nodes;  // by predicate: whether it is a predictor
  for (size_t i = 0; i < shown; ++i) {
    const Predictor& predictor = answer.isolation.predictors[i];
    nodes[predictor.predicate] = true;
    for (const Affinity& affinity : predictor.affinity)
      nodes.try_emplace(affinity.predicate, false);
  }
  for (const auto& [predicate, is_predictor] : nodes) {
    std::string line = fmt::format("  p{} [label=", predicate);
    append_dot(line, node_label(answer.predicates.describe(predicate)));
    out.write(line + (is_predictor ? ", style=bold];\n" : "];\n"));
  }
  for (size_t i = 0; i < shown; ++i) {
    const Predictor& predictor = answer.isolation.predictors[i];
    for (const Affinity& affinity : predictor.affinity) {
      const double loss = affinity.before - affinity.after;
      out.write(fmt::format("  p{} -> p{} [label=\"{:.3f}\", penwidth=\"{:.2f}\"];\n",
                            predictor.predicate, affinity.predicate, loss, 0.5 + 4 * loss));
    }
  }
  out.write("}\n");
}

}  // namespace telltale::cli
