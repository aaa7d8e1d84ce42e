#include "cli/study/isolation_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bytes/input_file.h"
#include "cli/study/shown_words.h"
#include "output/escape.h"
#include "output/flame/page.h"
#include "output/flame/page_text.h"
#include "output/json_writer.h"

namespace telltale::cli {
namespace {

namespace fs = std::filesystem;
using isolation::Affinity;
using isolation::Predictor;

constexpr size_t kPredictors = 2'000;
constexpr size_t kRunsShown = 1'000;       // of a predictor
constexpr size_t kAllRunsShown = 100'000;  // of all, after which each has the least number
constexpr size_t kLeastRunsShown = 10;
constexpr size_t kOthersShown = 200;  // of a predictor: true in the same runs, affinity
constexpr size_t kAllOthersShown = 50'000;
constexpr size_t kClusters = 10'000;
constexpr uint64_t kSourceBytes = uint64_t{4} << 20;  // of a file that is shown

// The file's path, if it is below the folder; otherwise empty.
fs::path find_source(std::string_view file, const std::string& folder) {
  std::error_code failure;
  const fs::path root = fs::canonical(folder, failure);
  if (failure || file.empty()) return {};
  const fs::path path = fs::canonical(root / file, failure);  // an absolute name stays as it is
  if (failure || !fs::is_regular_file(path, failure)) return {};
  const auto [end, at] = std::ranges::mismatch(root, path);
  return end == root.end() ? path : fs::path();
}

// The sites on a line of source.
struct LineOfSites {
  size_t sites = 0;
  uint32_t best = 0;  // of their predicates, that with the highest importance
  double importance = -1;
};

class PageWriter {
 public:
  PageWriter(const IsolationAnswer& answer, const LabelledEvidence& evidence,
             const PageFolders& folders, PageSourceChecks& checks, PageRoom& room)
      : answer_(answer),
        evidence_(evidence),
        folders_(folders),
        checks_(checks),
        room_(room),
        predictors_(
            std::span(answer.isolation.predictors)
                .first(room.rows(answer.isolation.predictors.size(), kPredictors, "predictor"))),
        json_(text_) {}

  std::string text() {
    json_.begin_object();
    json_.key("runs").begin_object();
    json_.member("failed", answer_.runs.failing).member("passed", answer_.runs.successful);
    json_.end_object();
    json_.key("rows").begin_array();
    for (size_t i = 0; i < predictors_.size(); ++i) write_row(i);
    json_.end_array();
    json_.key("sources").begin_array();
    write_sources();
    json_.end_array();
    json_.end_object();
    return json_for_script(text_);
  }

 private:
  void write_place(const PredicateWords& words) {
    const ShownWords shown = shown_words(words, answer_.names);
    json_.member("predicate", room_.text(shown.text))
        .member("function", room_.text(shown.function));
    json_.member("file", room_.text(words.file)).member("line", words.line);
  }

  void write_row(size_t index) {
    const Predictor& predictor = predictors_[index];
    const isolation::PredicateCounts& counts = predictor.counts;
    const PredicateWords words = answer_.predicates.describe(predictor.predicate);
    const isolation::Interval interval = isolation::increase_interval(
        counts, isolation::standard_deviations(answer_.options.confidence),
        answer_.options.interval);
    json_.begin_object();
    json_.member("rank", index + 1).member("scheme", visible(words.scheme));
    write_place(words);
    json_.member("importance", isolation::importance(counts, answer_.isolation.runs));
    json_.member("failure", isolation::failure(counts));
    json_.member("context", isolation::context(counts));
    json_.member("increase", isolation::increase(counts));
    json_.member("low", interval.low).member("high", interval.high);
    json_.member("failed", counts.true_in.failing).member("passed", counts.true_in.successful);
    json_.member("observed_failed", counts.observed_in.failing);
    json_.member("observed_passed", counts.observed_in.successful);
    json_.member("explained", predictor.explained);
    write_others(predictor);
    write_runs(predictor);
    json_.end_object();
  }

  void write_others(const Predictor& predictor) {
    json_.key("same").begin_array();
    const auto same =
        std::span(predictor.same)
            .first(room_.rows(predictor.same.size(), std::min(kOthersShown, others_left_),
                              "related predicate"));
    others_left_ -= same.size();
    for (const uint32_t other : same) {
      json_.begin_object();
      write_place(answer_.predicates.describe(other));
      json_.end_object();
    }
    json_.end_array();
    json_.key("affinity").begin_array();
    const auto affinities =
        std::span(predictor.affinity)
            .first(room_.rows(predictor.affinity.size(), std::min(kOthersShown, others_left_),
                              "related predicate"));
    others_left_ -= affinities.size();
    for (const Affinity& affinity : affinities) {
      json_.begin_object();
      write_place(answer_.predicates.describe(affinity.predicate));
      json_.member("before", affinity.before).member("after", affinity.after).end_object();
    }
    json_.end_array();
  }

  // The failing runs in which it was true.
  void write_runs(const Predictor& predictor) {
    const isolation::SiteTable& table = answer_.predicates.table();
    const uint32_t site = table.site_of(predictor.predicate);
    const uint32_t bit = predictor.predicate - table.first_predicate(site);
    std::vector<std::pair<uint64_t, std::string>> runs;  // number, path of the report
    const size_t most = std::clamp(runs_left_, kLeastRunsShown, kRunsShown);
    for (size_t i = 0; i < evidence_.runs.size() && runs.size() < most; ++i) {
      const isolation::LabelledRun& run = evidence_.runs[i];
      if (!run.failed) continue;
      if ((table.true_predicates(site, run.evidence.counted_at(site)) >> bit & 1U) == 0) continue;
      const RunReport& source = evidence_.input->reports[evidence_.report_of_run[i]];
      std::error_code failure;
      const bool has_report = source.paths.empty() || fs::exists(source.path, failure);
      runs.emplace_back(source.number, link_to(has_report ? source.path : source.paths));
    }
    runs_left_ -= std::min(runs_left_, runs.size());
    std::ranges::sort(runs);
    json_.key("failed_runs").begin_array();
    for (const auto& [number, path] : runs) json_.value(number);
    json_.end_array();
    json_.key("reports").begin_array();
    for (const auto& [number, path] : runs) json_.value(room_.text(path));
    json_.end_array();
  }

  // A file's path as seen from the page, if there is such a file; otherwise empty.
  [[nodiscard]] std::string link_to(const std::string& file) const {
    std::error_code failure;
    if (file.empty() || !fs::is_regular_file(file, failure)) return {};
    const fs::path link = fs::proximate(file, folders_.page.empty() ? "." : folders_.page, failure);
    return failure ? std::string() : link.string();
  }

  void write_sources() {
    if (folders_.source.empty()) return;
    std::set<std::string_view> files;
    for (const Predictor& predictor : predictors_)
      files.insert(answer_.predicates.describe(predictor.predicate).file);
    find_sites(files);
    for (const std::string_view file : files) {
      const fs::path path = find_source(file, folders_.source);
      if (path.empty()) continue;
      const Result<InputFile> input = InputFile::open(path.string());
      if (!input || input->bytes().size() > kSourceBytes) continue;
      if (!room_.source_file(input->bytes().size())) continue;
      // Absolute names are as the program has them.
      const std::string_view complaint = checks_.built.complaint(
          file.starts_with('/') ? std::string(file) : path.string(), input->bytes());
      if (!complaint.empty()) checks_.changed.emplace(path.string(), complaint);
      write_source(file,
                   {reinterpret_cast<const char*>(input->bytes().data()), input->bytes().size()},
                   complaint);
    }
  }

  void write_source(std::string_view file, std::string_view text, std::string_view complaint) {
    json_.begin_object().member("file", room_.text(file)).member("first", 1);
    json_.key("lines").begin_array();
    while (!text.empty()) {
      const std::string_view line = text.substr(0, text.find('\n'));
      json_.value(room_.source_line(line));
      text.remove_prefix(std::min(line.size() + 1, text.size()));
    }
    json_.end_array();
    if (!complaint.empty()) json_.member("changed", complaint);
    json_.key("sites").begin_array();
    for (const auto& [line, sites] : sites_[file]) {
      const PredicateWords words = answer_.predicates.describe(sites.best);
      const isolation::RunCounts& truth = tally_->of(sites.best).true_in;
      json_.begin_object().member("line", line).member("sites", sites.sites);
      json_.member("predicate", room_.text(shown_words(words, answer_.names).text))
          .member("importance", sites.importance);
      json_.member("failed", truth.failing).member("passed", truth.successful).end_object();
    }
    json_.end_array();
    json_.end_object();
  }

  // The sites of these files, by line, with what their best predicate was in all runs.
  void find_sites(const std::set<std::string_view>& files) {
    const isolation::SiteTable& table = answer_.predicates.table();
    std::vector<const isolation::LabelledRun*> runs;
    for (const isolation::LabelledRun& run : evidence_.runs) runs.push_back(&run);
    tally_.emplace(table);
    tally_->add(runs, answer_.options.workers);
    for (uint32_t site = 0; site < table.site_count(); ++site) {
      const uint32_t first = table.first_predicate(site);
      const PredicateWords words = answer_.predicates.describe(first);
      if (words.line == 0 || !files.contains(words.file)) continue;
      LineOfSites& line = sites_[words.file][words.line];
      ++line.sites;
      const uint32_t end =
          site + 1 < table.site_count() ? table.first_predicate(site + 1) : table.predicate_count();
      for (uint32_t predicate = first; predicate < end; ++predicate) {
        const double importance = isolation::importance(tally_->of(predicate), tally_->runs());
        if (importance > line.importance) {
          line.importance = importance;
          line.best = predicate;
        }
      }
    }
  }

  const IsolationAnswer& answer_;
  const LabelledEvidence& evidence_;
  const PageFolders& folders_;
  PageSourceChecks& checks_;
  PageRoom& room_;
  std::span<const Predictor> predictors_;  // that are shown
  size_t runs_left_ = kAllRunsShown;
  size_t others_left_ = kAllOthersShown;
  std::optional<isolation::PredicateTally> tally_;                     // of all runs
  std::map<std::string_view, std::map<uint64_t, LineOfSites>> sites_;  // by file and line
  std::string text_;
  JsonWriter json_;
};

PageHead head_of(const IsolationAnswer& answer) {
  const auto number = [](uint64_t n) { return fmt::format("{}", n); };
  PageHead head;
  head.title = "What predicts failure";
  head.facts = {
      {"failed", number(answer.runs.failing)},
      {"passed", number(answer.runs.successful)},
      {"skipped", number(answer.runs.skipped)},
      {"without a report", number(answer.runs.without_report)},
      {"of another program", number(answer.runs.unresolved)},
      {"failed runs of these", number(answer.runs.failing_left_out)},
      {"predicates", number(answer.predicates.table().predicate_count())},
      {"true in a run", number(answer.isolation.predicates_true)},
      {"left by the filters", number(answer.isolation.candidates)},
      {"failed runs that no predictor explains", number(answer.isolation.unexplained)},
      {"ordered by", std::string(name_of(answer.options.score))},
      {"discarded",
       answer.options.eliminate ? std::string(name_of(answer.options.discard)) : "nothing"},
      {"confidence of intervals", fmt::format("{}", answer.options.confidence)}};
  head.summary = {"failed", "passed"};
  return head;
}

}  // namespace

std::string predictors_payload(const IsolationAnswer& answer, const LabelledEvidence& evidence,
                               const PageFolders& folders, PageSourceChecks& checks,
                               PageRoom& room) {
  return PageWriter(answer, evidence, folders, checks, room).text();
}

std::string clusters_payload(const IsolationAnswer& answer, PageRoom& room) {
  struct Column {
    std::string_view key, title, type, about;
    bool minor = false;  // left out where the screen is narrow
  };
  constexpr std::array<Column, 6> kColumns = {
      {{"cluster", "Cluster", "text", "Id, for isolate --cluster", true},
       {"runs", "Runs", "unsigned", "Failed runs"},
       {"ending", "Ending", "text", "Signal, exit status, timeout, or the rule of the label"},
       {"stack", "Stack", "text", "The innermost functions of the program"},
       {"predictors", "Predictors", "text", "By rank: the runs in which they were true", true},
       {"first", "First run", "unsigned", "The smallest number of its runs", true}}};
  std::string text;
  JsonWriter json(text);
  json.begin_object().key("columns").begin_array();
  for (const Column& column : kColumns) {
    json.begin_object().member("key", column.key).member("title", column.title);
    json.member("type", column.type).member("about", column.about);
    if (column.minor) json.member("minor", true);
    json.end_object();
  }
  json.end_array().key("rows").begin_array();
  const size_t shown = room.rows(answer.clusters.size(), kClusters, "crash cluster");
  for (const ClusterSummary& one : std::span(answer.clusters).first(shown)) {
    json.begin_array().value(one.cluster->id).value(one.cluster->members.size());
    json.value(room.text(one.cluster->ending)).value(room.text(one.cluster->stack));
    json.value(show_predictors(one)).value(one.first_run).end_array();
  }
  json.end_array().end_object();
  return json_for_script(text);
}

Result<void> write_isolation_page(const IsolationAnswer& answer, const LabelledEvidence& evidence,
                                  const PageFolders& folders, PageSourceChecks& checks,
                                  OutputFile& out) {
  PageRoom room;
  const std::array<PageData, 2> data = {
      {{"predictors",
        [&](OutputFile& file) {
          return file.write(predictors_payload(answer, evidence, folders, checks, room));
        }},
       {"clusters", [&](OutputFile& file) { return file.write(clusters_payload(answer, room)); }}}};
  const std::array<PageTab, 2> tabs = {{{"predictors", "predictors", "Predictors", "predictors"},
                                        {"clusters", "table", "Crash clusters", "clusters"}}};
  const size_t shown = answer.clusters.empty() ? 1 : 2;
  return write_page(head_of(answer), std::span(data).first(shown), std::span(tabs).first(shown),
                    room, out);
}

}  // namespace telltale::cli
