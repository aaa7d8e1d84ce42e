#pragma once

#include <string>

#include "base/error.h"
#include "bytes/block_writer.h"
#include "bytes/cursor.h"
#include "formats/stacktrack/recognise.h"
#include "formats/stacktrack/records.h"

namespace telltale::stacktrack {

// Encodes a record field by field over its original bytes: reproduces those bytes.
void rewrite_record(const Record& record, std::string& out);

// Reads a whole stream and writes it again record by record, with unused and damaged parts
// unchanged: the result is the input, byte for byte. Errors: the sink's.
Result<void> rewrite_stream(Bytes file, const StreamFormat& format, const ByteSink& sink);

}  // namespace telltale::stacktrack
