#pragma once

#include <string>

#include "base/error.h"
#include "bytes/input_file.h"
#include "formats/stacktrack/format_description.h"
#include "formats/stacktrack/recognise.h"
#include "import/open_options.h"

namespace telltale {

// Reads a RAW_FORMAT description. Errors: io, and those of read_format_description.
Result<stacktrack::FormatDescription> open_format_description(const std::string& path);

// The layout of a file's records: from OpenOptions::format_description if given, otherwise by
// content. Errors: those of both.
Result<stacktrack::StreamFormat> stacktrack_format(const InputFile& file,
                                                   const OpenOptions& options);

}  // namespace telltale
