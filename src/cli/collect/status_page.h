#pragma once

#include "base/error.h"
#include "collect/store_folder.h"

namespace telltale::cli {

// Writes the store's status page (docs/collect-guide.md): reports by build and day with their
// failure rate, and for each application crash clusters and the top predictors of the latest build
// with failures. Errors: usage, without DuckDB; io.
Result<void> write_status_page(const collect::StoreFolder& store);

}  // namespace telltale::cli
