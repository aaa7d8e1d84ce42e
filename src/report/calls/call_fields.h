#pragma once

#include "output/table/field.h"

// Columns that several tables of timed calls have.
namespace telltale::reports {

inline constexpr Field kPid = field::signed_id("pid", "Process; 0 if the recording does not say.");
inline constexpr Field kTid = field::signed_id("tid", "Thread.");
inline constexpr Field kFunction =
    field::text("function", "Name of the function; #17 if only its id is known.");

}  // namespace telltale::reports
