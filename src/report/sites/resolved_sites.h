#pragma once

#include <string_view>

#include "base/error.h"
#include "bytes/block_writer.h"
#include "import/sampler/sampler_reports.h"
#include "model/call_filter.h"
#include "output/export_format.h"
#include "report/sites/site_filter.h"

namespace telltale {

// Every site that the filter keeps, one a row. Errors: the sink's.

// Writes the document schemas::kResolve; `format` is the recording's.
Result<void> write_sites_document(const SamplerReports& reports, const CallFilter& filter,
                                  const CountsOptions& options, std::string_view format,
                                  const ByteSink& sink);
// For people: reported sites only.
Result<void> write_sites_text(const SamplerReports& reports, const CallFilter& filter,
                              const CountsOptions& options, const ByteSink& sink);
// Writes the sites as JSON, CSV or LCOV. Errors: usage, for other formats, and for LCOV without
// places.
Result<void> convert_reports(const SamplerReports& reports, const CallFilter& filter,
                             const CountsOptions& options, ExportFormat format,
                             const ByteSink& sink);

}  // namespace telltale
