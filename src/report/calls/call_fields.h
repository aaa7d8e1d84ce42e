#pragma once

#include <string>

#include "output/table/field.h"
#include "output/table/table.h"

// Columns that several tables of timed calls have.
namespace telltale::reports {

inline constexpr Field kPid = field::signed_id("pid", "Process; 0 if the recording does not say.");
inline constexpr Field kTid = field::signed_id("tid", "Thread.");
inline constexpr Field kProcessName =
    field::text("process_name", "The process's program.").titled("PROCESS").or_null();
inline constexpr Field kThreadName =
    field::text("thread_name", "The thread's own name.").titled("THREAD").or_null();
inline constexpr Field kFunction =
    field::text("function", "Name of the function; #17 if only its id is known.");

// The cell of kProcessName or kThreadName.
inline TableCell name_cell(const std::string& name) {
  return name.empty() ? TableCell() : TableCell(name);
}

}  // namespace telltale::reports
