#pragma once

#include "base/error.h"
#include "cli/options/command.h"
#include "import/sampler/sampler_reports.h"
#include "report/sites/site_filter.h"

namespace telltale::cli {

// --sparsity, --scheme, --observed.
void add_counts_options(Command verb, CountsOptions& options);

// That these options need a recording with counts at sites.
std::unexpected<Error> counts_only();

// Explains on standard error why a report may contain no observation.
void remark_nothing_observed(const SamplerReports& reports);

}  // namespace telltale::cli
