#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/block_writer.h"
#include "bytes/cursor.h"
#include "output/dump/dump_line.h"

namespace telltale::csi {

// Functions of path metadata with their blocks and edges, one a line, in file order. What was wrong
// is at the end and is added to `problems`. Errors: the sink's.
Result<void> dump_path_metadata(Bytes file, const std::string& name, DumpStyle style,
                                const ByteSink& sink, ProblemLog& problems);

// The kinds of records.
std::vector<RecordTable> path_records();

}  // namespace telltale::csi
