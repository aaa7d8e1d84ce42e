#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/isolation/crash_cluster.h"
#include "analysis/isolation/isolate.h"
#include "cli/study/labelled_evidence.h"
#include "output/table/table.h"

namespace telltale::cli {

// A crash cluster beside the predictors that were true in its runs.
struct ClusterSummary {
  // A predictor by its rank, from 1, and the runs of the cluster in which it was true.
  struct Truth {
    size_t rank = 0;
    uint64_t runs = 0;
  };
  const isolation::CrashCluster* cluster = nullptr;
  uint64_t first_run = 0;         // the smallest number of its runs
  std::vector<Truth> predictors;  // the one true in most runs first; without those true in none
};

// The clusters in their order. Views of `evidence`.
std::vector<ClusterSummary> summarise_clusters(const LabelledEvidence& evidence,
                                               const isolation::Isolation& found);

// The first `limit` clusters as people see them; 0: all.
Table cluster_table(std::span<const ClusterSummary> clusters, size_t limit);
// "#1 in 65, #2 in 3": the first three.
std::string show_predictors(const ClusterSummary& cluster);

}  // namespace telltale::cli
