#pragma once

#include <cstdint>

#include "bytes/cursor.h"
#include "formats/xray/records.h"

namespace telltale::xray {

// The contents of the cells in files of telltale's own recorder (docs/formats/xray-recorder.md,
// "Cells"). Functions that take a file REQUIRE header.recorder.cells.

// The end of the cell that contains the byte at `at`, or of the file if it ends before.
uint64_t cell_end(Bytes file, const FileHeader& header, uint64_t at);

// True if `bytes`, which end with their cell, contain no event of the recorder: free words,
// possibly after the word that closed a buffer, or a buffer that the process was opening when it
// was killed. Other bytes are records or damage.
bool is_unused(Bytes bytes, uint16_t version);

// Version 1: true if `bytes`, from a buffer's EndOfBuffer to the end of its cell, are free.
bool is_unused_filler(Bytes bytes);

// Versions with extents: where a buffer's records end.
struct RecordsEnd {
  uint64_t offset = 0;         // one past the last record
  uint64_t events_behind = 0;  // events that end after `said`
};
// Reads the records of [begin, end), the rest of a cell after a BufferExtents record with the end
// `said`: up to a free word, the next buffer, or bytes that are not a record.
RecordsEnd find_records_end(Bytes file, const FileHeader& header, uint64_t begin, uint64_t end,
                            uint64_t said);

}  // namespace telltale::xray
