#pragma once

#include <string>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/cursor.h"
#include "formats/mono/record_selector.h"
#include "output/dump_line.h"

namespace telltale::mono {

// Every event of a Mono recording, one a line, in file order, behind a line for its buffer; with
// skipped bytes and problems where they stand. Addresses are whole (bases added); text from the
// file is escaped for the style. What was wrong with the input is added to `problems`. Only what
// `selector` chooses is told; null chooses all. Errors: those of read_file_header, and the sink's.
Result<void> dump_recording(Bytes file, const std::string& file_name, DumpStyle style,
                            const ByteSink& sink, ProblemLog& problems,
                            RecordSelector* selector = nullptr);

}  // namespace telltale::mono
