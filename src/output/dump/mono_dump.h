#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/cursor.h"
#include "formats/mono/record_selector.h"
#include "output/dump/dump_line.h"

namespace telltale::mono {

// Prints every event of a Mono recording, one per line, in file order, after a line for its buffer,
// with skipped bytes and problems at their positions. Addresses are absolute; text from the file is
// escaped for the style. Adds damage to `problems`. Prints only events that `selector` selects;
// null: all. Errors: those of read_file_header, and the sink's.
Result<void> dump_recording(Bytes file, const std::string& file_name, DumpStyle style,
                            const ByteSink& sink, ProblemLog& problems,
                            RecordSelector* selector = nullptr);

// The kinds of records.
std::vector<RecordTable> recording_records();

}  // namespace telltale::mono
