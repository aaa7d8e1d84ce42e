#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/error.h"
#include "bytes/input_file.h"
#include "collect/store/path_digest.h"
#include "collect/store/run_files.h"
#include "collect/store_folder.h"

namespace telltale::collect {

// Reads the path files of the runs in these files, in order, on `workers` threads (0: all cores).
// They are decoded with `programs` and those that the store keeps of the build; what was decoded
// before with the same programs is read from digests. A path file that cannot be read is one of
// which only `problems` are known; damaged Parquet files, of which read_store_evidence() tells, are
// left out. Errors: usage, without DuckDB; io.
Result<std::vector<RunPaths>> read_store_paths(const StoreFolder& store,
                                               const std::vector<RunFile>& files,
                                               const std::vector<std::string>& programs,
                                               const InputLimits& limits, size_t workers);

// The programs that a store keeps of a build, by name. Errors: io.
Result<std::vector<std::string>> stored_programs(const StoreFolder& store,
                                                 const std::string& application,
                                                 const std::string& build);
// Keeps a copy of a program for the path files of its build. Errors: io.
Result<void> store_program(const StoreFolder& store, const std::string& application,
                           const std::string& build, const std::string& program);

}  // namespace telltale::collect
