#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "collect/store/duckdb.h"
#include "collect/store_folder.h"

namespace telltale::collect {

// Whether a Parquet file has a column for path files: those of earlier versions have none. Errors:
// io.
Result<bool> has_paths_column(Connection& connection, const std::string& path);

// What a store keeps of a run, as it was sent.
enum class ReportPart : uint8_t { report, paths };

// The part of the report with this id; empty: it has none. None: the store's files have no such
// report. Errors: usage, without DuckDB; io.
Result<std::optional<std::string>> read_report_part(const StoreFolder& store,
                                                    const std::string& application,
                                                    const std::string& id, ReportPart part);

// A run of a Parquet file that left a path file. Views, valid until the next one is read.
struct StoredPaths {
  std::string_view id;
  std::string_view label;
  std::string_view file;  // compressed with gzip
};
// The path file itself. Errors: those of a damaged gzip file; limit.
Result<std::string> unpack_paths(std::string_view file);

// Calls use(run) for those of the file, in order. Errors: io.
Result<void> read_stored_paths(Connection& connection, const std::string& path,
                               const std::function<void(const StoredPaths&)>& use);

}  // namespace telltale::collect
