#pragma once

#include "base/error.h"
#include "cli/mono_report.h"
#include "import/runtime_events.h"
#include "output/section.h"

namespace telltale::cli {

// What happened to the objects of --track and --find, as a section. Errors: usage, for a wish that
// cannot be understood.
Result<Section> track_objects(const RuntimeEvents& source, const MonoReportOptions& options);

}  // namespace telltale::cli
