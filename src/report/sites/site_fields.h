#pragma once

#include "output/table/field.h"

// Columns that several tables of counts at sites have.
namespace telltale::reports {

inline constexpr Field kScheme = field::text("scheme", "Instrumentation scheme.");
inline constexpr Field kValues = field::text("values", "Its counts, in words.");
inline constexpr Field kSite = field::text("site", "What the scheme tells of the site.");
inline constexpr Field kSiteFunction = field::text("function", "Function around the site.");
inline constexpr Field kPlace =
    field::text("place", "FILE:LINE; the unit and the site's number without static information.");

}  // namespace telltale::reports
