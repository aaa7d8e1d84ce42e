#pragma once

#include <string>

#include "base/error.h"
#include "bytes/block_writer.h"
#include "bytes/cursor.h"
#include "formats/xray/basic_runs.h"
#include "formats/xray/encode.h"
#include "formats/xray/records.h"

namespace telltale::xray {

// Encodes a record over its original bytes: changed fields are replaced, bytes that no field uses
// stay. An unchanged record gives its original bytes. `record.raw` may be empty (a new record:
// unused bytes are zero).
void rewrite_fdr_record(const FdrRecord& record, const FileHeader& header, std::string& out);
// The same for basic mode; `raw` is the record's original 32 bytes, or empty.
void rewrite_basic_record(const BasicRecord& record, Bytes raw, const FileHeader& header,
                          std::string& out);

// Reads a whole binary trace, of either flavour, and writes it again record by record, with gaps,
// filler and damaged parts unchanged: the result is the input, byte for byte. Errors: those of
// read_file_header, and the sink's.
Result<void> rewrite_trace(Bytes file, const ByteSink& sink);

}  // namespace telltale::xray
