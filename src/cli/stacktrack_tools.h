#pragma once

#include "base/error.h"
#include "bytes/input_file.h"
#include "cli/format_tools.h"
#include "formats/stacktrack/recognise.h"

namespace telltale::cli {

// StackTrack streams of any platform.
extern const FormatTools kStacktrackTools;

// How a file's records are to be read: by --format-description if it is given, by content
// otherwise. Errors: those of both.
Result<stacktrack::StreamFormat> stacktrack_format(const InputFile& file,
                                                   const OpenOptions& options);

}  // namespace telltale::cli
