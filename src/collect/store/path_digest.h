#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bytes/cursor.h"
#include "collect/store/run_digest.h"
#include "import/path_evidence.h"

namespace telltale::collect {

// What the path files of a Parquet file say, decoded (docs/formats/store.md, "digests"). Decoding
// one takes 0.1 to 0.3 s of processor time (lua), so it is done once.

// A run that left a path file.
struct RunPaths {
  std::string id;
  std::string label;
  PathRun read;  // read.error becomes a problem when it is written
};

// `programs`: a hash that identifies the program files with which the runs were decoded.
std::string to_path_digest(std::span<const RunPaths> runs, const FileIdentity& file,
                           uint64_t programs);
// Whether these bytes are the whole and undamaged digest of the file by these programs.
bool is_path_digest_of(Bytes digest, const FileIdentity& file, uint64_t programs);
// REQUIRES: is_path_digest_of(). Errors: bad_field, truncated; what to_path_digest() made has none.
Result<std::vector<RunPaths>> read_path_digest(Bytes digest);

}  // namespace telltale::collect
