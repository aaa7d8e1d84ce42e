#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "collect/store_folder.h"

namespace telltale::collect {

// A Parquet file of a store.
struct RunFile {
  std::string path;
  std::string application;
  std::string build;
  std::string day;
  std::string digest;       // its place; empty: the store, of an older version, has none
  std::string path_digest;  // likewise, of its path files
};

// The Parquet files of a store, in the order of their paths. Errors: io, also if one of their
// folders cannot be read, so that no answer is of a part of the runs.
Result<std::vector<RunFile>> run_files(const StoreFolder& store);

// DuckDB failed to read `file`. The problem, if the file is at fault: answers are of the rest then,
// if there is one. None: it cannot be opened, or there is too little memory.
std::optional<Problem> damage_of(const RunFile& file, const Error& failure);

}  // namespace telltale::collect
