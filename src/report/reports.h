#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "import/capability.h"
#include "output/table/field.h"
#include "report/report.h"

namespace telltale {

// The registry of reports: all that need the capability, in the order in which they are printed.
std::span<const Report* const> reports_on(Capability capability);

// Null if there is none.
const Report* find_report(Capability capability, std::string_view name);

// The reports to make, each once, in the order in which `list`, names separated by commas, has
// them; the default ones if it is empty. `with_tables`: REPORT.TABLE names a report, too.
// Errors: usage, for a name that is no report.
Result<std::vector<const Report*>> choose_reports(Capability capability, std::string_view list,
                                                  bool with_tables);

// The JSON document of the reports on a capability: a member for each on runtime events or counts
// at sites; the members of the one report on timed calls.
const DocumentSchema& report_document(Capability capability);

}  // namespace telltale
