#pragma once

#include "bytes/block_writer.h"
#include "import/sampler/sampler_reports.h"

namespace telltale {

// Writes all reports as one: sections in order, then the other subreports. Rows damaged in the
// input are written as never reached.
void write_as_one_report(const SamplerReports& reports, BlockWriter& out);

}  // namespace telltale
