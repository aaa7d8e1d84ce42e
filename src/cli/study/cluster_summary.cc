#include "cli/study/cluster_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>

#include "base/sort_rows.h"

namespace telltale::cli {
namespace {

using isolation::CrashCluster;
using isolation::Isolation;
using isolation::LabelledRun;
using isolation::SiteTable;

constexpr std::array kClusterColumns = {
    field::text("cluster", "Its id."),
    field::count("runs", "Failed runs."),
    field::text("ending", "Signal, exit status, timeout, or the rule that labelled the run."),
    field::text("stack", "The innermost functions of the program."),
    field::text("predictors", "By rank: the runs of the cluster in which they were true.")
        .titled("PREDICTORS"),
};

// The ranks, from 1, of the predictors at each site.
using RanksAtSite = std::multimap<uint32_t, size_t>;

// Adds the predictors that were true in the run to `counts`, by rank - 1.
void count_truths(const SiteTable& table, const Isolation& found, const RanksAtSite& ranks,
                  const LabelledRun& run, std::vector<uint64_t>& counts) {
  // One pass over what the run observed: there may be thousands of predictors.
  auto next = ranks.begin();
  run.evidence.for_each([&](uint32_t site, uint32_t counted) {
    while (next != ranks.end() && next->first < site) ++next;
    for (; next != ranks.end() && next->first == site; ++next) {
      const uint32_t predicate = found.predictors[next->second - 1].predicate;
      const uint32_t bit = predicate - table.first_predicate(site);
      counts[next->second - 1] += table.true_predicates(site, counted) >> bit & 1U;
    }
  });
}

}  // namespace

std::vector<ClusterSummary> summarise_clusters(const LabelledEvidence& evidence,
                                               const Isolation& found) {
  const SiteTable& table = evidence.predicates->table();
  RanksAtSite ranks;
  for (size_t i = 0; i < found.predictors.size(); ++i)
    ranks.emplace(table.site_of(found.predictors[i].predicate), i + 1);
  std::map<size_t, const LabelledRun*> run_of_report;
  for (size_t i = 0; i < evidence.runs.size(); ++i)
    run_of_report[evidence.report_of_run[i]] = &evidence.runs[i];
  std::vector<ClusterSummary> summaries;
  for (const CrashCluster& cluster : evidence.input->clusters) {
    ClusterSummary summary;
    summary.cluster = &cluster;
    summary.first_run = UINT64_MAX;
    std::vector<uint64_t> counts(found.predictors.size());
    for (const size_t report : cluster.members) {
      summary.first_run = std::min(summary.first_run, evidence.input->reports[report].number);
      const auto run = run_of_report.find(report);
      if (run != run_of_report.end()) count_truths(table, found, ranks, *run->second, counts);
    }
    for (size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] != 0) summary.predictors.push_back({i + 1, counts[i]});
    }
    sort_rows(summary.predictors, std::greater{}, &ClusterSummary::Truth::runs);
    summaries.push_back(std::move(summary));
  }
  return summaries;
}

std::string show_predictors(const ClusterSummary& cluster) {
  constexpr size_t kShown = 3;
  std::string text;
  for (size_t i = 0; i < std::min(kShown, cluster.predictors.size()); ++i) {
    const ClusterSummary::Truth& truth = cluster.predictors[i];
    text += fmt::format("{}#{} in {}", i == 0 ? "" : ", ", truth.rank, truth.runs);
  }
  return text;
}

Table cluster_table(std::span<const ClusterSummary> clusters, size_t limit) {
  Table table{TableSchema(kClusterColumns)};
  const size_t shown = limit == 0 ? clusters.size() : std::min(limit, clusters.size());
  for (const ClusterSummary& one : clusters.first(shown)) {
    table.add_row({one.cluster->id, uint64_t{one.cluster->members.size()}, one.cluster->ending,
                   one.cluster->stack, show_predictors(one)});
  }
  return table;
}

}  // namespace telltale::cli
