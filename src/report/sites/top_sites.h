#pragma once

#include <cstddef>
#include <string_view>

#include "bytes/block_writer.h"
#include "import/sampler/sampler_reports.h"
#include "model/call_filter.h"
#include "report/sites/site_filter.h"

namespace telltale {

// The sites with the largest counts first.
struct TopSites {
  size_t limit = 0;  // 0: all
  bool json = false;
  bool csv = false;
  std::string_view format;  // of the recording, for --json
};
void write_top_sites(const SamplerReports& reports, const CallFilter& filter,
                     const CountsOptions& options, const TopSites& wanted, BlockWriter& out);

}  // namespace telltale
