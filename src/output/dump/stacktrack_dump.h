#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/block_writer.h"
#include "bytes/cursor.h"
#include "formats/stacktrack/recognise.h"
#include "formats/stacktrack/records.h"
#include "output/dump/dump_line.h"

namespace telltale::stacktrack {

// Prints every record of a StackTrack stream, one per line, in file order, with all members of its
// description, and skipped bytes and problems at their positions. Streams; text from the file is
// escaped for the style. `chosen` selects records; empty: all. Adds damage to `problems`. Errors:
// the sink's.
Result<void> dump_stream(Bytes file, const std::string& file_name, const StreamFormat& format,
                         DumpStyle style, const ByteSink& sink, ProblemLog& problems,
                         const std::function<bool(const Record&)>& chosen = {});

// The kinds of records of the built-in layouts.
std::vector<RecordTable> stream_records();

}  // namespace telltale::stacktrack
