#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "collect/store_folder.h"

namespace telltale::collect {

struct FoldResult {
  uint64_t segments = 0;
  uint64_t reports = 0;     // stored
  uint64_t duplicates = 0;  // that the store has already
  uint64_t deleted = 0;     // that were deleted before they were folded
  uint64_t files = 0;
  ProblemLog problems;  // damage in segments and in reports
};

// Moves the reports of the log's ended segments into Parquet files, some segments at a time. If
// this is interrupted at any moment, the next fold completes it, and no report is lost or doubled.
// Waits for another process that folds. Errors: usage, without DuckDB; io.
Result<FoldResult> fold(const StoreFolder& store);

// Deletes reports by id: from all files, and from the log when it is folded. Their ids stay known,
// so that they are not stored again. Returns how many were in files. Errors: as fold().
Result<uint64_t> delete_reports(const StoreFolder& store, const std::string& application,
                                const std::vector<std::string>& ids);

// A hundred years. Longer times overflow in microseconds, and would remove all runs.
constexpr uint64_t kMostKeptDays = 36500;

// Removes the runs that were received before this day (UTC), and forgets their ids if no other runs
// were folded with them. Returns the number of files. Errors: io.
Result<uint64_t> remove_before(const StoreFolder& store, const std::string& day);

}  // namespace telltale::collect
