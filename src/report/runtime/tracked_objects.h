#pragma once

#include "base/error.h"
#include "import/runtime_events.h"
#include "output/table/section.h"
#include "report/runtime/runtime_report_options.h"

namespace telltale {

// A section with the events of the objects that --track and --find select. Errors: usage, for a
// malformed option.
Result<Section> track_objects(const RuntimeEvents& source, const RuntimeReportOptions& options);

}  // namespace telltale
