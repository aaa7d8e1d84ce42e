#include "cli/collect/status_page.h"

#include <fmt/format.h>

#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/keep_first.h"
#include "base/sort_rows.h"
#include "cli/study/isolation_page.h"
#include "cli/study/nearest_same.h"
#include "cli/study/stored_evidence.h"
#include "collect/store/store_summary.h"
#include "output/escape.h"
#include "output/flame/page.h"
#include "output/flame/page_text.h"
#include "output/json_writer.h"

namespace telltale::cli {
namespace {

using collect::BuildSummary;
using collect::StoreFolder;
using collect::StoreSummary;

constexpr size_t kPredictors = 20;   // of an application
constexpr size_t kApplications = 8;  // with tabs of their own
constexpr size_t kRows = 10'000;     // of a table

struct Column {
  std::string_view key;
  std::string_view title;
  std::string_view type;
  std::string_view about;
  std::string_view unit = {};
  bool minor = false;  // left out where the screen is narrow
};

// Data of a tab of kind `table`.
class TableText {
 public:
  explicit TableText(std::initializer_list<Column> columns) : json_(text_) {
    json_.begin_object().key("columns").begin_array();
    for (const Column& column : columns) {
      json_.begin_object().member("key", column.key).member("title", column.title);
      json_.member("type", column.type).member("about", column.about);
      if (!column.unit.empty()) json_.member("unit", column.unit);
      if (column.minor) json_.member("minor", true);
      json_.end_object();
    }
    json_.end_array().key("rows").begin_array();
  }
  template <typename... Cells>
  void row(const Cells&... cells) {
    json_.begin_array();
    (cell(cells), ...);
    json_.end_array();
  }
  std::string finish() {
    json_.end_array().end_object();
    return json_for_script(text_);
  }

 private:
  void cell(const std::string& text) { json_.value(visible(text)); }
  template <typename Number>
  void cell(Number number) {
    json_.value(number);
  }
  std::string text_;
  JsonWriter json_;
};

double rate(uint64_t failed, uint64_t runs) {
  return runs == 0 ? 0 : static_cast<double>(failed) / static_cast<double>(runs);
}

std::string builds_text(const StoreSummary& summary, PageRoom& room) {
  TableText table(
      {{"application", "Application", "text", "Name of the program"},
       {"version", "Version", "text", "As clients named it last"},
       {"runs", "Runs", "unsigned", "Reports that were received", "count", true},
       {"failed", "Failed", "unsigned", "Runs that failed", "count"},
       {"rate", "Failing", "double", "Failed runs of all that have a label", "fraction"},
       {"without", "No report", "unsigned", "Runs whose report is empty", "count", true},
       {"first", "First day", "text", "When its first report was received (UTC)", {}, true},
       {"last", "Last day", "text", "When its last report was received (UTC)", {}, true},
       {"sites", "Sites", "text", "Whether the store has its site information", {}, true},
       {"build", "Build", "text", "Build-id of the program", {}, true}});
  for (const BuildSummary& build :
       std::span(summary.builds).first(room.rows(summary.builds.size(), kRows, "build"))) {
    table.row(build.application, build.version, build.runs, build.failed,
              rate(build.failed, build.failed + build.passed), build.without_report,
              build.first_day, build.last_day, std::string(build.has_sites ? "yes" : "missing"),
              build.build);
  }
  return table.finish();
}

std::string days_text(const StoreSummary& summary, PageRoom& room) {
  TableText table({{"application", "Application", "text", "Name of the program"},
                   {"day", "Day", "text", "When reports were received (UTC)"},
                   {"runs", "Runs", "unsigned", "Reports that were received", "count", true},
                   {"failed", "Failed", "unsigned", "Runs that failed", "count"},
                   {"rate", "Failing", "double", "Failed runs of all", "fraction"}});
  std::vector<collect::DaySummary> days = summary.days;
  if (const size_t shown = room.rows(days.size(), kRows, "day"); shown < days.size()) {
    keep_first(days, shown, [](const auto& a, const auto& b) { return a.day > b.day; });
    sort_rows(days, {}, [](const auto& day) { return std::tie(day.application, day.day); });
  }
  for (const collect::DaySummary& day : days)
    table.row(day.application, day.day, day.runs, day.failed, rate(day.failed, day.runs));
  return table.finish();
}

std::string ends_text(const StoreSummary& summary, PageRoom& room) {
  TableText table({{"application", "Application", "text", "Name of the program"},
                   {"end", "Failed by", "text", "Signal, exit status, or the rule of the label"},
                   {"runs", "Runs", "unsigned", "Runs that failed so", "count"},
                   {"build", "Build", "text", "Build-id of the program", {}, true},
                   {"example", "Example", "text", "Id of one of these reports", {}, true}});
  for (const collect::EndSummary& end :
       std::span(summary.ends).first(room.rows(summary.ends.size(), kRows, "failure")))
    table.row(end.application, end.end, end.runs, end.build, end.example);
  return table.finish();
}

// The predictors of one application's latest build with failures.
struct ApplicationParts {
  std::string predictors;
  std::string clusters;  // empty: there are none
  std::string build;
};

std::optional<ApplicationParts> isolate_build(const StoreFolder& store, const BuildSummary& build,
                                              PageRoom& room) {
  IsolationSources sources;
  sources.inputs = {store.path()};
  sources.application = build.application;
  sources.build = build.build;
  const auto evidence = read_stored_evidence(store.path(), sources, 1);
  if (!evidence) return std::nullopt;
  isolation::IsolationOptions options;
  options.limit = kPredictors;
  options.workers = 1;
  options.first_true = evidence->first_true;
  const PredicateSet& predicates = *evidence->predicates;
  options.rank = [&](uint32_t predicate) { return predicates.rank(predicate); };
  isolation::Isolation found = isolation::isolate(predicates.table(), evidence->runs, options);
  put_nearest_first(predicates, found);
  const IsolationRuns runs{found.runs.failing, found.runs.successful, evidence->input->skipped,
                           evidence->without_report, evidence->unresolved};
  const IsolationAnswer answer{.predicates = predicates,
                               .isolation = found,
                               .options = options,
                               .runs = runs,
                               .compounds = {},
                               .clusters = summarise_clusters(*evidence, found)};
  ApplicationParts parts;
  parts.build = build.build;
  PageSourceChecks none;  // no source is shown
  parts.predictors = predictors_payload(answer, *evidence, {}, none, room);
  if (!answer.clusters.empty()) parts.clusters = clusters_payload(answer, room);
  return parts;
}

// A page's parts and tabs, with the texts that they refer to.
class PageParts {
 public:
  void add(std::string_view kind, std::string title, std::string data) {
    const std::string& id = texts_.emplace_back(fmt::format("part{}", data_.size()));
    const std::string& shown = texts_.emplace_back(std::move(title));
    const std::string& text = texts_.emplace_back(std::move(data));
    data_.push_back({id, [&text](OutputFile& file) { return file.write(text); }});
    tabs_.push_back({id, kind, shown, id});
  }
  Result<void> write(const PageHead& head, const PageRoom& room, OutputFile& out) const {
    return write_page(head, data_, tabs_, room, out);
  }

 private:
  std::deque<std::string> texts_;
  std::vector<PageData> data_;
  std::vector<PageTab> tabs_;
};

void add_applications(const StoreFolder& store, const StoreSummary& summary, PageParts& parts,
                      PageRoom& room) {
  std::set<std::string> shown;
  for (const BuildSummary& build : summary.builds) {
    if (!build.has_sites || build.failed == 0 || shown.size() == kApplications) continue;
    if (!shown.insert(build.application).second) continue;
    const auto told = isolate_build(store, build, room);
    if (!told) continue;
    const std::string name = visible(build.application);
    parts.add("predictors", fmt::format("{}: predictors", name), told->predictors);
    if (!told->clusters.empty())
      parts.add("table", fmt::format("{}: crash clusters", name), told->clusters);
  }
}

PageHead head_of(const StoreSummary& summary) {
  uint64_t runs = 0;
  uint64_t failed = 0;
  std::set<std::string> applications;
  for (const BuildSummary& build : summary.builds) {
    runs += build.runs;
    failed += build.failed;
    applications.insert(build.application);
  }
  PageHead head;
  head.title = "Collected reports";
  head.facts = {{"runs", fmt::format("{}", runs)},
                {"failed", fmt::format("{}", failed)},
                {"applications", fmt::format("{}", applications.size())},
                {"builds", fmt::format("{}", summary.builds.size())}};
  head.summary = {"runs", "failed", "applications"};
  if (const uint64_t damaged = summary.problems.damage_count(); damaged != 0) {
    head.facts.emplace_back("damaged files", fmt::format("{}", damaged));
    head.summary.emplace_back("damaged files");
  }
  return head;
}

}  // namespace

Result<void> write_status_page(const StoreFolder& store) {
  const auto summary = collect::summarize(store);
  if (!summary) return std::unexpected(summary.error());
  PageParts parts;
  PageRoom room;
  parts.add("table", "Builds", builds_text(*summary, room));
  parts.add("table", "Days", days_text(*summary, room));
  parts.add("table", "Failures", ends_text(*summary, room));
  add_applications(store, *summary, parts, room);
  Result<OutputFile> out = OutputFile::open(store.page());
  if (!out) return std::unexpected(out.error());
  out->keep_private();
  if (auto written = parts.write(head_of(*summary), room, *out); !written) return written;
  return out->finish();
}

}  // namespace telltale::cli
