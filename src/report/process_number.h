#pragma once

#include "model/events.h"
#include "output/table/field.h"
#include "output/table/table.h"

// The column of tables with processes that tells those with one id apart.
namespace telltale::reports {

inline constexpr Field kProcessNumber =
    field::count("process_number", "Of several processes with this pid: which, from 1.")
        .titled("NUMBER")
        .or_null()
        .sometimes();

// The cell of kProcessNumber.
inline TableCell process_number_cell(const ThreadKey& thread) {
  return thread.process == 0 ? TableCell() : TableCell(uint64_t{thread.process});
}

}  // namespace telltale::reports
