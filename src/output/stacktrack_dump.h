#pragma once

#include <functional>
#include <string>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/block_writer.h"
#include "bytes/cursor.h"
#include "formats/stacktrack/recognise.h"
#include "formats/stacktrack/records.h"
#include "output/dump_line.h"

namespace telltale::stacktrack {

// Every record of a StackTrack stream, one a line, in file order, with all members that its
// description gives, and skipped bytes and problems where they stand. Streams; text from the file
// is escaped for the style. `chosen` says which records are told; empty: all. What was wrong is
// added to `problems`. Errors: the sink's.
Result<void> dump_stream(Bytes file, const std::string& file_name, const StreamFormat& format,
                         DumpStyle style, const ByteSink& sink, ProblemLog& problems,
                         const std::function<bool(const Record&)>& chosen = {});

}  // namespace telltale::stacktrack
