#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "bytes/block_writer.h"
#include "import/sampler/sampler_reports.h"
#include "model/call_filter.h"
#include "output/export_format.h"

namespace telltale {

// What verbs ask of feedback reports besides what they ask of any recording.
struct CountsOptions {
  uint64_t sparsity = 0;             // one in so many was counted; 0: the user did not say
  std::vector<std::string> schemes;  // empty: all
  bool observed = false;             // only sites with a count

  [[nodiscard]] bool any() const { return sparsity != 0 || !schemes.empty() || observed; }
};

// Which sites an answer is about. Not thread-safe.
class SiteFilter {
 public:
  // Both must outlive it.
  SiteFilter(const CallFilter& filter, const CountsOptions& options)
      : filter_(filter), options_(options) {}
  bool keeps(const CountedSite& site);

 private:
  const CallFilter& filter_;
  const CountsOptions& options_;
  std::string function_;  // asked last
  bool kept_ = false;
};

// The sites with the largest counts first.
struct TopSites {
  size_t limit = 0;  // 0: all
  bool json = false;
  bool csv = false;
  std::string_view format;  // of the recording, for --json
};
void write_top_sites(const SamplerReports& reports, const CallFilter& filter,
                     const CountsOptions& options, const TopSites& wanted, BlockWriter& out);

// A summary: by scheme, the busiest sites and functions, branches that went one way, the last sites
// before the end, the backtrace. Errors: usage, for --csv of a table that there is not.
struct SamplerReportOptions {
  size_t rows = 10;
  bool json = false;
  bool csv = false;
  std::string_view format;            // of the recording, for --json
  std::string table;                  // of --csv
  std::vector<std::string> programs;  // that resolve the backtrace
};
Result<void> summarise_reports(const SamplerReports& reports, const CallFilter& filter,
                               const CountsOptions& options, const SamplerReportOptions& wanted,
                               BlockWriter& out);

// Every site, one a row, as the document schemas::kResolve; `format`: of the recording. Errors: the
// sink's.
Result<void> write_sites_document(const SamplerReports& reports, const CallFilter& filter,
                                  const CountsOptions& options, std::string_view format,
                                  const ByteSink& sink);
// Every site, one a row, as JSON or CSV; or as LCOV. Errors: usage, for other formats, and for LCOV
// without places; the sink's.
Result<void> convert_reports(const SamplerReports& reports, const CallFilter& filter,
                             const CountsOptions& options, ExportFormat format,
                             const ByteSink& sink);

}  // namespace telltale
