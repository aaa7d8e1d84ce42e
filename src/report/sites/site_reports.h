#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/sites/site_sums.h"
#include "import/sampler/sampler_reports.h"
#include "model/call_filter.h"
#include "report/report.h"
#include "report/sites/site_filter.h"

namespace telltale {

struct SiteReportOptions {
  CountsOptions counts;
  size_t rows = 10;                   // of each table
  std::vector<std::string> programs;  // that resolve the backtrace
};

// A site as the reports show it.
struct DescribedSite {
  std::string scheme;
  std::string values;
  std::string words;
  std::string function;
  std::string place;
};

// Holds the sites with the largest ranks, in their order; ties in the order in which they came.
class LargestSites {
 public:
  explicit LargestSites(size_t rows) : rows_(rows) {}
  // Sites of rank 0 do not count.
  void offer(uint64_t rank, const CountedSite& site);
  [[nodiscard]] const std::multimap<uint64_t, DescribedSite, std::greater<>>& kept() const {
    return kept_;
  }

 private:
  size_t rows_;
  std::multimap<uint64_t, DescribedSite, std::greater<>> kept_;  // by rank
};

// What the reports on counts at sites are made from: all sites, read once.
class SiteReadings {
 public:
  // `reports` outlives this.
  SiteReadings(const SamplerReports& reports, const CallFilter& filter, SiteReportOptions options);

  const SamplerReports& source;
  SiteReportOptions options;
  SiteSums sums;
  LargestSites busiest;
  LargestSites one_way;  // branches that always went one way
  LargestSites last;
  std::string remark;  // what does not fit the programs that resolve the backtrace; empty: nothing
};

// docs/analysis/sampler.md defines the figures.
namespace reports {

extern const Report kSiteTotals;
extern const Report kSchemes;
extern const Report kBusySites;
extern const Report kSiteFunctions;
extern const Report kOneWay;
extern const Report kLastSites;
extern const Report kBacktrace;

}  // namespace reports
}  // namespace telltale
