#pragma once

#include <string>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/cursor.h"
#include "formats/xray/record_selector.h"
#include "output/dump_line.h"

namespace telltale::xray {

// Every record of an XRay trace (FDR, basic or llvm-xray's YAML; byte order and version from the
// content), one a line, in file order, with skipped bytes and problems where they stand. Streams;
// text from the file is escaped for the style. What was wrong with the input is added to
// `problems`. Only what `selector` chooses is told; null chooses all. Errors: those of
// read_file_header (and of the YAML reader), and the sink's.
Result<void> dump_trace(Bytes file, const std::string& file_name, DumpStyle style,
                        const ByteSink& sink, ProblemLog& problems,
                        RecordSelector* selector = nullptr);

}  // namespace telltale::xray
