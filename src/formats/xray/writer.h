#pragma once

#include <string>

#include "base/error.h"
#include "bytes/block_writer.h"
#include "bytes/cursor.h"
#include "formats/xray/basic_runs.h"
#include "formats/xray/encode.h"
#include "formats/xray/records.h"

namespace telltale::xray {

// Encodes a record over the bytes that it was read from: fields that changed are changed, bytes
// that no field claims stay. An unchanged record gives its own bytes. `record.raw` may be empty (a
// new record: unused bytes are zero).
void rewrite_fdr_record(const FdrRecord& record, const FileHeader& header, std::string& out);
// The same for basic mode; `raw` is the record's 32 bytes in the file it came from, or empty.
void rewrite_basic_record(const BasicRecord& record, Bytes raw, const FileHeader& header,
                          std::string& out);

// Reads a whole binary trace, of either flavour, and writes it again record by record, gaps, filler
// and damaged parts as they are: the result is the input, byte for byte. Errors: those of
// read_file_header, and the sink's.
Result<void> rewrite_trace(Bytes file, const ByteSink& sink);

}  // namespace telltale::xray
