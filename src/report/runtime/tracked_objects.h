#pragma once

#include "base/error.h"
#include "import/runtime_events.h"
#include "output/section.h"
#include "report/runtime/runtime_report_options.h"

namespace telltale {

// What happened to the objects of --track and --find, as a section. Errors: usage, for a wish that
// cannot be understood.
Result<Section> track_objects(const RuntimeEvents& source, const RuntimeReportOptions& options);

}  // namespace telltale
