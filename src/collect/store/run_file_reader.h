#pragma once

#include <functional>
#include <string>

#include "base/error.h"
#include "collect/store/duckdb.h"
#include "collect/store/stored_run.h"

namespace telltale::collect {

// Calls use(run) for each run of a store's Parquet file, in order. `with_bounds`: also reads the
// reports, for their sections of bounds. Errors: io.
Result<void> read_run_file(Connection& connection, const std::string& path, bool with_bounds,
                           const std::function<void(const StoredRun&)>& use);

}  // namespace telltale::collect
