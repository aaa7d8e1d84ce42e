#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/cursor.h"
#include "formats/xray/record_selector.h"
#include "output/dump/dump_line.h"

namespace telltale::xray {

// Prints every record of an XRay trace (FDR, basic or llvm-xray's YAML; byte order and version from
// the content), one per line, in file order, with skipped bytes and problems at their positions.
// Streams; text from the file is escaped for the style. Adds damage to `problems`. Prints only
// records that `selector` selects; null: all. Errors: those of read_file_header (and of the YAML
// reader), and the sink's.
Result<void> dump_trace(Bytes file, const std::string& file_name, DumpStyle style,
                        const ByteSink& sink, ProblemLog& problems,
                        RecordSelector* selector = nullptr);

// The kinds of records of binary traces, and of llvm-xray's YAML.
std::vector<RecordTable> trace_records();
std::vector<RecordTable> yaml_records();

}  // namespace telltale::xray
